import { MINUTE_MS, SECOND_MS } from '../../protocol/moment.ts'
import { assert } from '../../protocol/brand.ts'

/** What bounds the streams of one node: bytes, events and milliseconds, as the names end. */
export type StreamLimits = Readonly<{
  /** Bytes of one write, chunk framing included; the next follows when the socket has drained. */
  writeBytesMax: number
  /** Bytes of one event's frame: the longest line that the grammar of an event allows, and its `id`. */
  frameBytesMax: number
  /** Events of one page. */
  pageEventsMax: number
  /** Events scanned without a match after which a position is sent. */
  scanEventsMax: number
  /** Events behind the head from which a stream is history again. */
  liveLagEventsMax: number
  /** Events behind the head up to which pages are kept for other subscribers. */
  recentEvents: number
  /** Bytes of all pages kept. */
  keptBytesMax: number
  silenceMs: number
  stallMs: number
  lifetimeMs: number
  /** The part of the lifetime by which it varies to either side. */
  lifetimeSpread: number
  retryMsMin: number
  retryMsMax: number
  /** How long a cursor ahead of the head of a follower waits for it. */
  lagWaitMs: number
  drainMs: number
  /** How long a stream that has ended may take to deliver its last frame. */
  lastFrameMs: number
  /** The tick of the one timer that all subscribers share. */
  beatMs: number
  /** What is committed within this time of a fan-out's end, or during it, is fanned out in one go. */
  coalesceMs: number
  /** How long live subscribers hold the event loop in one turn of it, and after them those in history. */
  liveSliceMs: number
  historySliceMs: number
  /** Bytes that a client may send behind its request; none of it is run. */
  trailingBytesMax: number
  capacityRetrySeconds: number
}>

/** The limits of the specification, section 7, and of the machine that keeps them. */
export const STREAM_LIMITS: StreamLimits = {
  writeBytesMax: 64 * 1024,
  frameBytesMax: 400,
  pageEventsMax: 160,
  scanEventsMax: 1_000,
  liveLagEventsMax: 1_000,
  recentEvents: 20_000,
  keptBytesMax: 4 * 1024 * 1024,
  silenceMs: 15 * SECOND_MS,
  stallMs: 30 * SECOND_MS,
  lifetimeMs: 30 * MINUTE_MS,
  lifetimeSpread: 0.2,
  retryMsMin: 3 * SECOND_MS,
  retryMsMax: 8 * SECOND_MS,
  lagWaitMs: 5 * SECOND_MS,
  drainMs: 30 * SECOND_MS,
  lastFrameMs: SECOND_MS,
  beatMs: 250,
  coalesceMs: 5,
  liveSliceMs: 8,
  historySliceMs: 4,
  trailingBytesMax: 4 * 1024,
  capacityRetrySeconds: 30,
}

/** Bytes that the chunked coding adds to a page at most: its length in hexadecimal and two line ends. */
const CHUNK_BYTES_MAX = 12
/** The longest that subscribers may hold the event loop at a stretch. */
const HOLD_MS_MAX = 20

/** The limits with some replaced; throws when they do not fit one another. */
export function streamLimits(changes: Partial<StreamLimits> = {}): StreamLimits {
  const limits = { ...STREAM_LIMITS, ...changes }
  const pageBytes = limits.pageEventsMax * limits.frameBytesMax + CHUNK_BYTES_MAX
  assert(pageBytes <= limits.writeBytesMax, `a page of ${pageBytes} bytes is more than one write`)
  assert(limits.scanEventsMax >= limits.pageEventsMax, 'a page is scanned whole before a position')
  assert(limits.liveSliceMs + limits.historySliceMs < HOLD_MS_MAX, 'both slices fit the event loop')
  assert(limits.retryMsMin <= limits.retryMsMax, 'the least wait before a retry is not above the greatest')
  assert(limits.lifetimeSpread >= 0 && limits.lifetimeSpread < 1, 'a lifetime is positive')
  assert(limits.beatMs <= limits.silenceMs && limits.beatMs <= limits.stallMs, 'the beat is the finest time')
  assert(limits.coalesceMs <= limits.beatMs, 'no event waits for longer than the beat')
  return limits
}
