import { type Seq, seqOf } from '../../protocol/seq.ts'
import type { Packet } from './stream-frame.ts'
import type { StreamLimits } from './limits.ts'
import type { Feed, FeedPage } from './feed-pages.ts'

/** Position of one subscriber in the log. */
export type Cursor = {
  /** The last seq scanned. All matches up to it are written. */
  seq: Seq
  /** Whether it has reached the head. */
  live: boolean
  /** Seq up to which no event matches, from `seq` on. These events are passed without being read. */
  clearTo: Seq
  /** Events scanned since the last match or position. */
  unmatched: number
  /** Whether a position is the next frame. */
  positionDue: boolean
}

/** Next write of a stream. `nothing` before the head means that no scanned event matched; advance again. */
type CursorStep =
  | Readonly<{ is: 'page'; packet: Packet; count: number }>
  | Readonly<{ is: 'position' }>
  | Readonly<{ is: 'nothing' }>

/**
 * Cursor that starts after `after`. Opening a stream writes its first position. A cursor ahead of the head is not live:
 * it waits for the head.
 */
export function cursorAt(after: Seq, head: Seq): Cursor {
  return { seq: after, live: after === head, clearTo: after, unmatched: 0, positionDue: false }
}

/**
 * Whether the cursor has something to write or scan. A cursor that has waited for the head must still write its switch
 * to live.
 */
export function isBehind(cursor: Cursor, head: Seq): boolean {
  return cursor.positionDue || cursor.seq < head || (cursor.seq === head && !cursor.live)
}

/** Whether the cursor is ahead of the node and waits for it. */
export function isAhead({ live, seq }: Cursor, head: Seq): boolean {
  return !live && seq > head
}

/**
 * Moves the cursor by one step: a position when one is due, otherwise one page. The step moves `seq` before the page is
 * written, so the caller must write the page or end the stream.
 */
export function advanceCursor(cursor: Cursor, feed: Feed, head: () => Seq, limits: StreamLimits): CursorStep {
  if (cursor.positionDue) {
    cursor.positionDue = false
    cursor.unmatched = 0
    return { is: 'position' }
  }
  if (cursor.seq === head() && !cursor.live) {
    cursor.live = true
    return { is: 'position' }
  }
  if (cursor.seq >= head()) return { is: 'nothing' }
  const scanMax = limits.scanEventsMax - cursor.unmatched
  const page = cursor.clearTo > cursor.seq ? clearPage(cursor, scanMax) : feed.page(cursor.seq, scanMax)
  cursor.unmatched = page.packet === null ? cursor.unmatched + page.unmatched : page.unmatched
  cursor.seq = page.scannedTo
  cursor.clearTo = page.clearTo
  // Read again, because the snapshot of the page may have moved the head.
  const behind = head() - cursor.seq
  const switched = behind <= 0 && !cursor.live
  if (switched) cursor.live = true
  else if (behind > limits.liveLagEventsMax) cursor.live = false
  cursor.positionDue = switched || cursor.unmatched >= limits.scanEventsMax
  const { packet, count } = page
  return packet === null ? { is: 'nothing' } : { is: 'page', packet, count }
}

/** Next stretch of events that are known not to match. */
function clearPage({ seq, clearTo }: Cursor, scanMax: number): FeedPage {
  const scannedTo = seqOf(Math.min(clearTo, seq + scanMax))
  return { packet: null, count: 0, scannedTo, unmatched: scannedTo - seq, clearTo }
}
