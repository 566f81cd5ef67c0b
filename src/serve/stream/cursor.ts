import type { Seq } from '../../protocol/seq.ts'
import type { Packet } from './stream-frame.ts'
import type { StreamLimits } from './limits.ts'
import type { Feed } from './feed-pages.ts'

/** Where one subscriber stands. This is all that is kept of it beside its socket and its times. */
export type Cursor = {
  /** The last seq scanned: all of its matches up to here are written. */
  seq: Seq
  /** Whether it has reached the head and follows it. */
  live: boolean
  /** Events scanned since the last match or the last position. */
  silence: number
  /** Whether a position is the next thing to write. */
  owesPosition: boolean
}

/** What to write next. `nothing` with more of the log ahead means: scanned without a match, ask again. */
export type CursorStep =
  | Readonly<{ is: 'page'; packet: Packet; count: number }>
  | Readonly<{ is: 'position' }>
  | Readonly<{ is: 'nothing' }>

/** A cursor after `after`. Its first position is part of the opening, with the same `live`. */
export function cursorAt(after: Seq, head: Seq): Cursor {
  return { seq: after, live: after >= head, silence: 0, owesPosition: false }
}

/** Whether the cursor has something to do at this head. */
export function isBehind(cursor: Cursor, head: Seq): boolean {
  return cursor.owesPosition || cursor.seq < head
}

/**
 * Moves the cursor by one step: the position it owes, or else one page. A page moves `seq` before it is
 * written, so whoever takes the step must write it or give the subscriber up.
 */
export function advanceCursor(cursor: Cursor, feed: Feed, head: () => Seq, limits: StreamLimits): CursorStep {
  if (cursor.owesPosition) {
    cursor.owesPosition = false
    cursor.silence = 0
    return { is: 'position' }
  }
  if (cursor.seq >= head()) return { is: 'nothing' }
  const page = feed.page(cursor.seq, limits.scanEventsMax - cursor.silence)
  cursor.silence = page.packet === null ? cursor.silence + page.silence : page.silence
  cursor.seq = page.scannedTo
  // Read again: the page was read from a snapshot that may have moved the head.
  const behind = head() - cursor.seq
  const switched = behind <= 0 && !cursor.live
  if (switched) cursor.live = true
  else if (behind > limits.liveLagEventsMax) cursor.live = false
  cursor.owesPosition = switched || cursor.silence >= limits.scanEventsMax
  const { packet, count } = page
  return packet === null ? { is: 'nothing' } : { is: 'page', packet, count }
}
