import { formatUtf8, parseUtf8 } from './text.ts'

/** Bytes of the longest entry: its length is a uint16 (C2SP tlog-tiles). */
export const ENTRY_BYTES_MAX = 65_535

const LENGTH_BYTES = 2

/**
 * The bytes of an event's leaf: its line and, when it has details, a line feed and the details' line. Lines are JSON
 * without control characters, so the line feed parts them. Longer than `ENTRY_BYTES_MAX` is a `RangeError`.
 */
export function formatEntry(line: string, details: string | null): Uint8Array {
  const bytes = formatUtf8(details === null ? line : `${line}\n${details}`)
  if (bytes.length > ENTRY_BYTES_MAX) throw new RangeError(`an entry has at most ${ENTRY_BYTES_MAX} bytes`)
  return bytes
}

/** The lines in an entry's bytes; undefined when they are no UTF-8 or there are more than two. */
export function parseEntry(
  bytes: Uint8Array,
): Readonly<{ line: string; details: string | null }> | undefined {
  if (bytes.length > ENTRY_BYTES_MAX) return undefined
  const text = parseUtf8(bytes)
  const [line = '', details = null, ...more] = text?.split('\n') ?? []
  return text === undefined || more.length > 0 ? undefined : { line, details }
}

/** A bundle of entries (C2SP tlog-tiles): before each its length, as a big-endian uint16. */
export function formatEntries(entries: readonly Uint8Array[]): Uint8Array {
  const length = entries.reduce((sum, entry) => sum + LENGTH_BYTES + entry.length, 0)
  const bytes = new Uint8Array(length)
  let at = 0
  for (const entry of entries) {
    if (entry.length > ENTRY_BYTES_MAX) throw new RangeError(`an entry has at most ${ENTRY_BYTES_MAX} bytes`)
    bytes[at] = entry.length >> 8
    bytes[at + 1] = entry.length & 0xff
    bytes.set(entry, at + LENGTH_BYTES)
    at += LENGTH_BYTES + entry.length
  }
  return bytes
}

/** The entries of a bundle of this width; undefined when it holds fewer or more, or any byte besides. */
export function parseEntries(bytes: Uint8Array, width: number): readonly Uint8Array[] | undefined {
  const entries: Uint8Array[] = []
  let at = 0
  while (entries.length < width) {
    const [high, low] = [bytes[at], bytes[at + 1]]
    if (high === undefined || low === undefined) return undefined
    const end = at + LENGTH_BYTES + high * 256 + low
    if (end > bytes.length) return undefined
    entries.push(bytes.subarray(at + LENGTH_BYTES, end))
    at = end
  }
  return at === bytes.length ? entries : undefined
}
