/** Requested bytes of a file, `from` inclusive, `to` exclusive; or a range outside the file. */
export type ByteRange = Readonly<{ from: number; to: number }> | 'unsatisfiable'

// Positions have any number of digits, because some clients send 2^63 − 1 for the end. The comparisons below stay
// correct.
const RANGE = /^bytes[ \t]*=[ \t]*(\d*)-(\d*)[ \t]*$/i

/**
 * Parses a `Range` header for a file of `size` bytes (RFC 9110, section 14). Undefined means the whole file: no
 * header, another unit, several ranges, or bad syntax.
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

/**
 * Whether `If-Range` allows a range: it is absent or the same strong ETag. Dates never match, because answers have
 * none.
 */
export function allowsRange(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || ifRange.trim() === etag
}
