import { TARGET_CHARS_MAX } from '../protocol/parameters.ts'

const REQUEST_LINE = /^[A-Z]+ (\S+)/

/**
 * Whether the target made a request too long for the parser. `packet` is the last packet, and `parsed` the number of
 * its bytes that the parser took. `pastTarget` says whether the target of the request ended in an earlier packet.
 */
export function isTargetTooLong(
  packet: Uint8Array | undefined,
  parsed: number,
  pastTarget: boolean,
): boolean {
  if (packet === undefined) return false
  const text = Buffer.from(packet).toString('latin1')
  const lines = text.slice(0, parsed).split('\n')
  const line = lines.findLast((each) => REQUEST_LINE.test(each))
  if (line !== undefined) return (REQUEST_LINE.exec(line)?.[1] ?? '').length > TARGET_CHARS_MAX
  if (pastTarget) return false
  // The request began in an earlier packet. A target has no blank and no line end, and the HTTP version follows it.
  const rest = text.slice(parsed)
  return (
    lines.length === 1 && !text.slice(0, parsed).includes(' ') && (rest === '' || rest.startsWith(' HTTP/'))
  )
}
