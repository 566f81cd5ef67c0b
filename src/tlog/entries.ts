import { formatUtf8 } from './note.ts'

/** Bytes of the longest entry: a bundle writes lengths as uint16 (C2SP tlog-tiles). */
export const ENTRY_BYTES_MAX = 65_535

const LENGTH_BYTES = 2

/**
 * Bytes of an event's leaf: its line and, when it has details, a line feed and the details' line. The lines are JSON
 * without control characters, so the line feed is unambiguous. Throws a `RangeError` beyond `ENTRY_BYTES_MAX`.
 */
export function formatEntry(line: string, details: string | null): Uint8Array {
  const bytes = formatUtf8(details === null ? line : `${line}\n${details}`)
  if (bytes.length > ENTRY_BYTES_MAX) throw new RangeError(`an entry has at most ${ENTRY_BYTES_MAX} bytes`)
  return bytes
}

/** Formats a bundle of entries (C2SP tlog-tiles): each follows its length as a big-endian uint16. */
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
