import type { Seq } from '../../protocol/seq.ts'

/** Media type of a signed note. */
export const NOTE_TYPE = 'text/plain; charset=utf-8'

/** Caching of an answer that may change with the head: its ETag, and the last event that it counts as `Daybook-Seq`. */
export function revalidated(
  seq: Seq,
  etag: string,
  headers: Readonly<Record<string, string>> = {},
): Readonly<{ keep: 'revalidate'; etag: string; headers: Readonly<Record<string, string>> }> {
  return { keep: 'revalidate', etag, headers: { 'Daybook-Seq': String(seq), ...headers } }
}
