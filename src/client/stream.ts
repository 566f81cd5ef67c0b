import type { EventWire } from '../protocol/event.ts'
import { type Ask, BACKOFF_MS, backoffMs, mayPass } from './ask.ts'
import { DaybookError, isOfType, unexpected } from './daybook-error.ts'
import { type EventFilter, isWanted } from './filter.ts'
import { openFrames, type StreamFrame, type StreamPosition } from './frames.ts'
import { type BodyLines, openBodyLines } from './lines.ts'
import { noGap, openSameLog, PAGE_EVENTS, pagesOf, type SameLog } from './event-pages.ts'
import { endpointPath } from './endpoint-query.ts'
import type { Time } from '../protocol/parameters.ts'
import type { WithDetails } from './event-details.ts'
import { startCursor } from './start-cursor.ts'
import { STREAM_STATES, type StreamSignal, type StreamState } from './stream-state.ts'
import type { Surroundings } from './surroundings.ts'

/** Status of a stream, reported at each change of state and each heartbeat. */
export type StreamStatus = Readonly<{
  state: StreamState
  /** Cursor from which to resume. The reader has all events up to here. */
  seq: number
  /** Newest event known to exist. */
  head: number
  /** Error that ended the last connection; undefined while connected and before the first failure. */
  cause: unknown
  /** Wait before the next attempt, in `reconnecting` and `offline`. */
  inMs: number | undefined
}>

export type StreamAsked = EventFilter &
  Readonly<{
    /** Exclusive cursor. The default, `head`, is resolved to a seq once, before the first connection. */
    after?: number | 'head' | undefined
    /** First moment, or first month (`yyyy-mm`), resolved once. With `after` too, the later of the two applies. */
    from?: Time | undefined
    /**
     * Filters events at the service. This saves traffic, but hides missing events. By default the client receives all
     * events and filters them itself.
     */
    serverFilter?: boolean | undefined
    onStatus?: ((status: StreamStatus) => void) | undefined
    signal?: AbortSignal | undefined
  }>

export type Batches<One = EventWire> = AsyncGenerator<readonly One[], void, undefined>

/** Timeout of a silent connection: two and a half heartbeats (PROTOCOL.md, section 9). */
export const STREAM_SILENCE_MS = 37_500
/** Most attempts at a gap, or at a cursor ahead of the head. A node that lags may catch up. */
const STUCK_ATTEMPTS_MAX = 6
/** Longest wait for a `Retry-After`. After it the stream tries again anyway. */
export const STREAM_RETRY_AFTER_MS_MAX = 3_600_000

/** State of a running stream; changed in place. */
type StreamRun = {
  readonly ask: Pick<Ask, 'get' | 'open'>
  readonly random: () => number
  readonly asked: StreamAsked & WithDetails
  readonly sameLog: SameLog
  state: StreamState
  cursor: number
  /** Cursor at the reader's last request for more events. */
  taken: number
  /** Moment or `head` from which to start, until its seq is known. */
  start: Time | undefined
  head: number
  body: BodyLines | undefined
  parse: (line: string) => StreamFrame | undefined
  /** Received frames that are not yet applied. */
  pending: StreamFrame[]
  /** Details that were received before their event. */
  details: StreamFrame['details']
  /** Last seq of the gap. */
  gapTo: number
  /** Failures since the last frame, and failures at the current cursor. */
  failures: number
  stuck: number
  /** Whether the service has ever accepted the connection. */
  isKnown: boolean
  retryMs: number
  waitMs: number | undefined
  error: unknown
}

/**
 * Yields new events after a cursor in batches, without end. Each event comes once and in order: the stream reads
 * skipped events from `/events`, and reconnects after its cursor. Throws permanent errors: a refused parameter, a `gap`
 * that `/events` cannot fill, `another-log`. Throws the signal's reason on abort.
 */
export async function* streamOf(
  ask: Pick<Ask, 'get' | 'open'>,
  { sleep, random }: Pick<Surroundings, 'sleep' | 'random'>,
  asked: StreamAsked & WithDetails,
  sameLog: SameLog = openSameLog(),
): Batches {
  const { signal } = asked
  const run = newRun(ask, random, asked, sameLog)
  try {
    for (;;) {
      signal?.throwIfAborted()
      run.taken = run.cursor
      try {
        switch (run.state) {
          case 'connecting':
            await connect(run)
            break
          case 'catching-up':
          case 'live': {
            const events = await read(run)
            if (events.length > 0) yield events
            break
          }
          case 'repairing':
            yield* repair(run)
            break
          case 'reconnecting':
          case 'offline':
            await sleep(run.waitMs ?? 0, signal)
            run.waitMs = undefined
            signalState(run, 'due')
            break
          case 'ended':
          case 'failed':
            throw run.error
        }
      } catch (error) {
        signal?.throwIfAborted()
        await recover(run, error)
      }
    }
  } finally {
    signalState(run, 'stopped')
    await close(run)
  }
}

function newRun(
  ask: StreamRun['ask'],
  random: StreamRun['random'],
  asked: StreamRun['asked'],
  sameLog: SameLog,
): StreamRun {
  const { from, after = from === undefined ? 'head' : 0 } = asked
  return {
    ask,
    random,
    asked,
    sameLog,
    state: 'connecting',
    cursor: after === 'head' ? 0 : after,
    taken: 0,
    start: after === 'head' ? after : from,
    head: 0,
    body: undefined,
    parse: openFrames(),
    pending: [],
    details: undefined,
    gapTo: 0,
    failures: 0,
    stuck: 0,
    isKnown: false,
    retryMs: 0,
    waitMs: undefined,
    error: undefined,
  }
}

/** Moves the state machine, and reports a change of state. */
function signalState(run: StreamRun, signal: StreamSignal): void {
  const next = STREAM_STATES[run.state][signal]
  if (next === run.state) return
  run.state = next
  report(run)
}

function report({ asked, state, taken, cursor, head, error, waitMs }: StreamRun): void {
  asked.onStatus?.({ state, seq: taken, head: Math.max(head, cursor), cause: error, inMs: waitMs })
}

async function connect(run: StreamRun): Promise<void> {
  const { ask, asked, sameLog } = run
  const { signal, serverFilter = false, type, kind, contestId, nonzero } = asked
  const once = { signal, attemptsMax: 1 }
  if (run.start !== undefined) {
    run.cursor = run.taken = await startCursor(ask, { after: run.cursor, from: run.start, ...once }, sameLog)
  }
  run.start = undefined
  const details = asked.details !== undefined
  const filter = serverFilter ? { type, kind, contestId, nonzero } : {}
  const { stream, headers } = await ask.open(
    endpointPath('stream', '', { after: run.cursor, ...filter, details }),
    { accept: 'text/event-stream', silenceMs: STREAM_SILENCE_MS, ...once },
  )
  run.body = openBodyLines(stream)
  run.parse = openFrames()
  sameLog(headers)
  if (!isOfType(headers, 'text/event-stream')) throw unexpected('the answer is no event stream')
  run.isKnown = true
  run.error = undefined
  signalState(run, 'opened')
}

/** Waits for the next frames and applies them. Stops at a gap. */
async function read(run: StreamRun): Promise<readonly EventWire[]> {
  if (run.pending.length === 0) {
    const { value: lines } = (await run.body?.lines.next()) ?? {}
    if (lines === undefined) throw new DaybookError('unreachable', 'the connection ended')
    run.pending = lines.flatMap((line) => run.parse(line) ?? [])
  }
  const events: EventWire[] = []
  for (let frame = run.pending[0]; frame !== undefined; frame = run.pending[0]) {
    const { event, position, details, retryMs } = frame
    // An event implies all events before it; a position implies all events up to it.
    run.gapTo = event === undefined ? (position?.seq ?? 0) : event.seq - 1
    if (run.asked.serverFilter !== true && run.gapTo > run.cursor) {
      signalState(run, 'gap')
      break
    }
    run.pending.shift()
    if (retryMs === undefined) run.failures = 0
    else run.retryMs = retryMs
    if (position !== undefined) applyPosition(run, position)
    run.details = details ?? run.details
    if (event === undefined) continue
    if (run.details?.seq === event.seq) run.asked.details?.set(event, run.details.details)
    if (move(run, event.seq) && isWanted(run.asked, event)) events.push(event)
    if (run.cursor >= run.head) signalState(run, 'level')
  }
  return events
}

/** Applies a position. Reports a heartbeat when it does not change the state. */
function applyPosition(run: StreamRun, { seq, head, live }: StreamPosition): void {
  move(run, seq)
  // The known head is not kept, so that a wrong head does not stay.
  run.head = Math.max(run.cursor, head)
  const before = run.state
  signalState(run, live ? 'level' : 'behind')
  if (run.state === before) report(run)
}

/** Moves the cursor forward; false for a repeated seq. */
function move(run: StreamRun, seq: number): boolean {
  if (seq <= run.cursor) return false
  run.cursor = seq
  run.head = Math.max(run.head, seq)
  run.stuck = 0
  return true
}

/** Reads the events that the connection skipped from `/events`. */
async function* repair(run: StreamRun): Batches {
  const { ask, asked, sameLog, gapTo, cursor: after } = run
  const { signal, details } = asked
  const limit = Math.min(PAGE_EVENTS, gapTo - after)
  for await (const events of pagesOf(ask, { after, limit, signal, details }, sameLog)) {
    const wanted = events.filter((event) => move(run, event.seq) && isWanted(asked, event))
    if (wanted.length > 0) yield wanted
    if (run.cursor >= gapTo) break
  }
  if (run.cursor < gapTo) noGap(run.cursor, gapTo + 1)
  signalState(run, 'repaired')
}

/** Plans the wait before the next attempt, or throws a permanent error. */
async function recover(run: StreamRun, error: unknown): Promise<void> {
  await close(run)
  run.error = error
  run.failures += 1
  if (!(error instanceof DaybookError) || isFinal(run, error)) {
    signalState(run, 'refused')
    throw error
  }
  const { status, retryAfterMs } = error
  run.waitMs =
    retryAfterMs === undefined
      ? Math.max(run.retryMs, backoffMs(run.failures, run.random))
      : Math.min(retryAfterMs, STREAM_RETRY_AFTER_MS_MAX) + run.random() * BACKOFF_MS
  signalState(run, status > 0 ? 'busy' : 'broke')
}

/** Whether an error is permanent. */
function isFinal(run: StreamRun, error: DaybookError): boolean {
  const { code, status } = error
  if (code === 'gap' || code === 'cursor-ahead') return (run.stuck += 1) >= STUCK_ATTEMPTS_MAX
  // A proxy may answer for a known service for a while. Before the first connection it means a wrong address.
  if (code === 'unexpected-answer') return !run.isKnown && !mayPass(error)
  return code === 'another-log' || (status >= 400 && !mayPass(error))
}

async function close(run: StreamRun): Promise<void> {
  const { body } = run
  run.body = undefined
  run.pending = []
  await body?.close()
}
