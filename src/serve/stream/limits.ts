import { MINUTE_MS, SECOND_MS } from '../../protocol/moment.ts'
import { assert } from '../../protocol/brand.ts'
import { DETAILS_LINE_BYTES_MAX } from '../../protocol/draft.ts'

/** Limits of the streams of one node. Each name ends with its unit: bytes, events, milliseconds, seconds. */
export type StreamLimits = Readonly<{
  /** Size of one write, with chunk framing. The next write starts when the socket has drained. */
  writeBytesMax: number
  /** Size of an event's frame: the longest line that the grammar allows, and its `id`. */
  frameBytesMax: number
  pageEventsMax: number
  /** Number of scanned events without a match after which a position is sent. */
  scanEventsMax: number
  /** Lag above which a live stream returns to history. */
  liveLagEventsMax: number
  /** Lag up to which pages are cached for other subscribers. */
  cachedLagEventsMax: number
  /** Size of all cached pages. */
  cachedBytesMax: number
  /** Time without a frame after which a position is sent. */
  heartbeatMs: number
  /** Time after which a client that reads nothing is disconnected. */
  stallMs: number
  lifetimeMs: number
  /** Fraction of the lifetime by which it varies to either side. */
  lifetimeSpread: number
  retryMsMin: number
  retryMsMax: number
  drainMs: number
  /** Time that an ended stream has to deliver its last frame. */
  lastFrameMs: number
  /** Period of the timer that all subscribers share. */
  tickMs: number
  /** Pause after a fan-out. Commits during a fan-out and its pause share the next one. */
  coalesceMs: number
  /** Time of live subscribers in one turn of the event loop. Subscribers in history come next. */
  liveSliceMs: number
  historySliceMs: number
  /** Most bytes that a client may send after its request. They are never parsed as a request. */
  trailingBytesMax: number
  capacityRetrySeconds: number
  /** Longest wait of a stream whose cursor is ahead of a following node's head. */
  aheadMs: number
  /** Longest wait before the headers for the answer whether such a cursor exists. */
  verdictMs: number
}>

/** The limits of PROTOCOL.md, section 9, and those of one thread. */
export const STREAM_LIMITS: StreamLimits = {
  writeBytesMax: 64 * 1024,
  frameBytesMax: 400,
  pageEventsMax: 160,
  scanEventsMax: 1_000,
  liveLagEventsMax: 1_000,
  cachedLagEventsMax: 20_000,
  cachedBytesMax: 4 * 1024 * 1024,
  heartbeatMs: 15 * SECOND_MS,
  stallMs: 30 * SECOND_MS,
  lifetimeMs: 30 * MINUTE_MS,
  lifetimeSpread: 0.2,
  retryMsMin: 3 * SECOND_MS,
  retryMsMax: 8 * SECOND_MS,
  drainMs: 30 * SECOND_MS,
  lastFrameMs: SECOND_MS,
  tickMs: 250,
  coalesceMs: 5,
  liveSliceMs: 8,
  historySliceMs: 4,
  trailingBytesMax: 4 * 1024,
  capacityRetrySeconds: 30,
  aheadMs: MINUTE_MS,
  verdictMs: 5 * SECOND_MS,
}

/** Most bytes that chunked coding adds to a page: its length in hexadecimal and two line ends. */
const CHUNK_BYTES_MAX = 12
/** Bytes of a details message besides its line. */
const DETAILS_FRAME_BYTES = 32
/** Longest time that subscribers may hold the event loop. */
const HOLD_MS_MAX = 20

/** Bytes of the frames of one page. */
export function pageBytesMax({ writeBytesMax }: StreamLimits): number {
  return writeBytesMax - CHUNK_BYTES_MAX
}

/** The limits with some replaced. Throws when they contradict each other. */
export function streamLimits(changes: Partial<StreamLimits> = {}): StreamLimits {
  const limits = { ...STREAM_LIMITS, ...changes }
  const pageBytes = limits.pageEventsMax * limits.frameBytesMax + CHUNK_BYTES_MAX
  assert(pageBytes <= limits.writeBytesMax, `a page of ${pageBytes} bytes is more than one write`)
  const pair = DETAILS_LINE_BYTES_MAX + DETAILS_FRAME_BYTES + limits.frameBytesMax
  assert(pair <= pageBytesMax(limits), `an event and its details of ${pair} bytes are more than one write`)
  assert(limits.scanEventsMax >= limits.pageEventsMax, 'a scan covers a whole page')
  assert(limits.liveSliceMs + limits.historySliceMs < HOLD_MS_MAX, 'both slices are short')
  assert(limits.retryMsMin <= limits.retryMsMax, 'the retry range is not reversed')
  assert(limits.lifetimeSpread >= 0 && limits.lifetimeSpread < 1, 'a lifetime is positive')
  assert(
    limits.tickMs <= limits.heartbeatMs && limits.tickMs <= limits.stallMs,
    'the tick is the shortest time',
  )
  assert(limits.coalesceMs <= limits.tickMs, 'an event waits for at most one tick')
  return limits
}
