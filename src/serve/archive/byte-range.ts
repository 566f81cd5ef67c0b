/** The bytes of a file that a request asks for: `from` inclusive, `to` exclusive; or a range that has none. */
export type ByteRange = Readonly<{ from: number; to: number }> | 'unsatisfiable'

// A position may have any number of digits: clients ask "to the end" as 2^63 − 1, and the comparisons stay right.
const RANGE = /^bytes[ \t]*=[ \t]*(\d*)-(\d*)[ \t]*$/i

/**
 * The one range of a `Range` header over a file of `size` bytes (RFC 9110, section 14). Undefined means the whole
 * file: no header, another unit, several ranges, or one that is not well formed.
 */
export function parseByteRange(header: string | undefined, size: number): ByteRange | undefined {
  const match = header === undefined ? null : RANGE.exec(header)
  if (match === null) return undefined
  const [, first = '', last = ''] = match
  if (first === '') {
    if (last === '') return undefined
    return Number(last) === 0 || size === 0
      ? 'unsatisfiable'
      : { from: Math.max(0, size - Number(last)), to: size }
  }
  if (last !== '' && Number(last) < Number(first)) return undefined
  if (Number(first) >= size) return 'unsatisfiable'
  return { from: Number(first), to: last === '' ? size : Math.min(size, Number(last) + 1) }
}

/** Whether `If-Range` lets a range stand: only the very same strong ETag does. We send no date it could name. */
export function stillWhole(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || ifRange.trim() === etag
}
