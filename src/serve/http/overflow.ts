import { TARGET_CHARS_MAX } from '../../protocol/parameters.ts'

const REQUEST_LINE = /^[A-Z]+ (\S+)/

/**
 * Whether a request that was too long for the parser was so by its target. `packet` is the last of it that came,
 * `parsed` how many bytes of that the parser had taken.
 */
export function isTargetTooLong(packet: Uint8Array | undefined, parsed: number): boolean {
  if (packet === undefined) return false
  const text = Buffer.from(packet).toString('latin1')
  const lines = text.slice(0, parsed).split('\n')
  const line = lines.findLast((each) => REQUEST_LINE.test(each))
  if (line !== undefined) return (REQUEST_LINE.exec(line)?.[1] ?? '').length > TARGET_CHARS_MAX
  // The request began in an earlier packet. A target holds no blank and no end of line; what follows it is the version.
  const rest = text.slice(parsed)
  return (
    lines.length === 1 && !text.slice(0, parsed).includes(' ') && (rest === '' || rest.startsWith(' HTTP/'))
  )
}
