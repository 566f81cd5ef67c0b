const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/
/** Characters of version 00. Every later version begins with the same parts. */
const CHARS = 55
const CHARS_MAX = 256
const ZEROS = /^0+$/

/** The W3C `traceparent` of a request (Trace Context, section 3.2). Undefined when it is absent or malformed. */
export function parseTraceparent(header: string | readonly string[] | undefined): string | undefined {
  if (typeof header !== 'string' || header.length > CHARS_MAX) return undefined
  const [, version = '', trace = '', parent = '', more] = FORM.exec(header) ?? []
  if (version === '' || version === 'ff' || ZEROS.test(trace) || ZEROS.test(parent)) return undefined
  // A later version may have more parts.
  return version === '00' && more !== undefined ? undefined : header.slice(0, CHARS)
}
