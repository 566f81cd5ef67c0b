import type { EventWire } from '../protocol/event.ts'
import { unexpected } from './daybook-error.ts'
import type { DetailsWire } from './event-details.ts'
import { LINE_CHARS_MAX } from './lines.ts'

/** Position of the stream: the last scanned seq, the head, and whether it has reached the head. */
export type StreamPosition = Readonly<{ seq: number; head: number; live: boolean; at: string; atMs: number }>

/** One message of the stream (PROTOCOL.md, section 9), with exactly one of these fields. */
export type StreamFrame = Readonly<{
  event?: EventWire
  position?: StreamPosition
  /** Details of the next event. */
  details?: Readonly<{ seq: number; details: DetailsWire }>
  /** Wait before the next reconnection. */
  retryMs?: number
}>

const RETRY_MS_MAX = 60_000

/**
 * Parses Server-Sent Events (WHATWG HTML, section 9.2.6) line by line. Ignores comments, unknown fields and messages of
 * other types. Throws `unexpected-answer` on a message without a seq, or a
 * position without a head.
 */
export function openFrames(): (line: string) => StreamFrame | undefined {
  let type = ''
  let text = ''

  function dispatch(): StreamFrame | undefined {
    const [kind, json] = [type, text]
    type = text = ''
    if (json.trim() === '') return undefined
    if (!/^(?:|message|position|details)$/.test(kind)) return undefined
    const content = parse(json)
    if (kind === 'position' && !Number.isSafeInteger(content.head)) throw unexpected('a position has no head')
    return kind === 'position' || kind === 'details' ? { [kind]: content } : { event: content }
  }

  return (line) => {
    if (line === '') return dispatch()
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'event') type = value
    else if (field === 'data') {
      text += `${value}\n`
      if (text.length > LINE_CHARS_MAX) throw unexpected('a frame is too long')
    } else if (field === 'retry' && /^\d{1,9}$/.test(value)) {
      return { retryMs: Math.min(Number(value), RETRY_MS_MAX) }
    }
    return undefined
  }
}

function parse(json: string): ReturnType<typeof JSON.parse> {
  try {
    const content = JSON.parse(json)
    if (Number.isSafeInteger(content.seq)) return content
  } catch {
    // Malformed JSON is reported below.
  }
  throw unexpected('a frame has no seq')
}
