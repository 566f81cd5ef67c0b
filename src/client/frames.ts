import type { EventWire } from '../protocol/event.ts'
import { unexpected } from './daybook-error.ts'
import { LINE_CHARS_MAX } from './lines.ts'

/** What the stream reports about itself: the last seq scanned, the head, and whether it has reached it. */
export type StreamPosition = Readonly<{ seq: number; head: number; live: boolean; at: string; atMs: number }>

/** One message of the stream (spec, section 7): one of these. */
export type StreamFrame = Readonly<{
  event?: EventWire
  position?: StreamPosition
  /** How long to wait before connecting again. */
  retryMs?: number
}>

const RETRY_MS_MAX = 60_000

/**
 * Reads Server-Sent Events (WHATWG HTML, section 9.2.6) line by line. A message that is neither an event of the log
 * nor a position is left out, as are comments and fields that are not known. Throws on one that has no seq.
 */
export function openFrames(): (line: string) => StreamFrame | undefined {
  let type = ''
  let text = ''

  function dispatch(): StreamFrame | undefined {
    const [kind, json] = [type, text]
    type = text = ''
    if (json.trim() === '') return undefined
    const isPosition = kind === 'position'
    if (!isPosition && kind !== '' && kind !== 'message') return undefined
    const said = parse(json)
    return isPosition ? { position: said } : { event: said }
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
    const said = JSON.parse(json)
    if (Number.isSafeInteger(said.seq)) return said
  } catch {
    // Told below, whatever is wrong with it.
  }
  throw unexpected('a frame is neither event nor position')
}
