import type { EventWire } from '../protocol/event.ts'
import type { Ask } from './ask.ts'
import { BACKOFF_MS, backoffMs, mayPass } from './ask.ts'
import { DaybookError, isOfType, unexpected } from './daybook-error.ts'
import type { EventFilter } from './filter.ts'
import { isWanted } from './filter.ts'
import type { StreamFrame, StreamPosition } from './frames.ts'
import { openFrames } from './frames.ts'
import { streamLines } from './lines.ts'
import type { SameLog } from './event-pages.ts'
import { noGap, openSameLog, PAGE_EVENTS, pagesOf } from './event-pages.ts'
import { endpointPath } from './endpoint-query.ts'
import type { StreamSignal, StreamState } from './stream-state.ts'
import { STREAM_STATES } from './stream-state.ts'
import type { Surroundings } from './surroundings.ts'

/** What a stream says of itself: when its state changes, and at every heartbeat. */
export type StreamStatus = Readonly<{
  state: StreamState
  /** Everything up to here has been given, and the next was asked for: where to resume. */
  seq: number
  /** The newest event that is known to exist. */
  head: number
  /** Why there is no connection; undefined while there is one, and before the first attempt has failed. */
  cause: unknown
  /** How long until the next attempt, in `reconnecting` and `offline`. */
  inMs: number | undefined
}>

export type StreamAsked = EventFilter &
  Readonly<{
    /** The exclusive cursor; `head`, the default, is turned into a number once, before the first connection. */
    after?: number | 'head' | undefined
    /**
     * Lets the service leave out what is not wanted. Cheaper; but that nothing is lost is then the service's word,
     * since seqs that are missing show no gap. Otherwise everything comes and is chosen from here.
     */
    serverFilter?: boolean | undefined
    onStatus?: ((status: StreamStatus) => void) | undefined
    signal?: AbortSignal | undefined
  }>

export type Batches = AsyncGenerator<readonly EventWire[], void, undefined>

/** How long a connection may be silent: two and a half of the service's heartbeats (spec, section 7). */
export const STREAM_SILENCE_MS = 37_500
/** Attempts at a gap or at a cursor ahead of the head: a node that lags may catch up. */
export const STUCK_ATTEMPTS_MAX = 6
/** The longest `Retry-After` that a stream keeps to; after it, it tries. */
export const STREAM_RETRY_AFTER_MS_MAX = 3_600_000

/** A stream as it runs. */
type Run = {
  readonly ask: Pick<Ask, 'get' | 'open'>
  readonly random: () => number
  readonly asked: StreamAsked
  readonly sameLog: SameLog
  state: StreamState
  cursor: number
  /** The cursor when the reader last asked for more. */
  given: number
  /** Whether the cursor is to be the head, which is not known as a number yet. */
  isToBeHead: boolean
  head: number
  lines: AsyncGenerator<readonly string[], void, undefined> | undefined
  parse: (line: string) => StreamFrame | undefined
  /** Frames that have come and are not taken in. */
  waiting: StreamFrame[]
  /** Up to where a gap reaches. */
  gapTo: number
  /** Failures since a frame came, and those of the cursor since it moved. */
  failures: number
  stuck: number
  isKnown: boolean
  retryMs: number
  waitMs: number | undefined
  error: unknown
}

/**
 * The events after a cursor as they are published, those together that came together, without end. Nothing is lost
 * and nothing comes twice, whatever becomes of connections: each seq is the one after the last, what is missing is
 * read from `/events`, and a connection is made again after the cursor. It throws what will not pass: a parameter that
 * is refused, a `gap` that nobody can fill, `another-log`. An abort is thrown as the signal's reason.
 */
export async function* streamOf(
  ask: Pick<Ask, 'get' | 'open'>,
  { sleep, random }: Pick<Surroundings, 'sleep' | 'random'>,
  asked: StreamAsked,
  sameLog: SameLog = openSameLog(),
): Batches {
  const { signal, after = 'head' } = asked
  const run = begin(ask, random, asked, sameLog, after)
  try {
    for (;;) {
      signal?.throwIfAborted()
      run.given = run.cursor
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
            tell(run, 'due')
            break
          case 'ended':
          case 'failed':
            throw run.error
        }
      } catch (error) {
        signal?.throwIfAborted()
        await meet(run, error)
      }
    }
  } finally {
    tell(run, 'stopped')
    await close(run)
  }
}

function begin(
  ask: Run['ask'],
  random: Run['random'],
  asked: StreamAsked,
  sameLog: SameLog,
  after: number | 'head',
): Run {
  return {
    ask,
    random,
    asked,
    sameLog,
    state: 'connecting',
    cursor: after === 'head' ? 0 : after,
    given: 0,
    isToBeHead: after === 'head',
    head: 0,
    lines: undefined,
    parse: openFrames(),
    waiting: [],
    gapTo: 0,
    failures: 0,
    stuck: 0,
    isKnown: false,
    retryMs: 0,
    waitMs: undefined,
    error: undefined,
  }
}

function tell(run: Run, signal: StreamSignal): void {
  const next = STREAM_STATES[run.state][signal]
  if (next === run.state) return
  run.state = next
  report(run)
}

function report({ asked, state, given, cursor, head, error, waitMs }: Run): void {
  asked.onStatus?.({ state, seq: given, head: Math.max(head, cursor), cause: error, inMs: waitMs })
}

async function connect(run: Run): Promise<void> {
  const { ask, asked, sameLog } = run
  const { signal, serverFilter = false, type, kind, contestId, nonzero } = asked
  if (run.isToBeHead) {
    const { headers, json } = await ask.get(endpointPath('status', ''), { signal, attemptsMax: 1 })
    sameLog(headers)
    run.cursor = run.given = json().asOf.seq
    run.isToBeHead = false
  }
  const filter = serverFilter ? { type, kind, contestId, nonzero } : {}
  const { stream, headers } = await ask.open(endpointPath('stream', '', { after: run.cursor, ...filter }), {
    accept: 'text/event-stream',
    silenceMs: STREAM_SILENCE_MS,
    attemptsMax: 1,
    signal,
  })
  run.lines = streamLines(stream)
  run.parse = openFrames()
  sameLog(headers)
  if (!isOfType(headers, 'text/event-stream')) throw unexpected('this is no stream')
  run.isKnown = true
  run.error = undefined
  tell(run, 'opened')
}

/** Waits for what comes next and takes it in. */
async function read(run: Run): Promise<readonly EventWire[]> {
  if (run.waiting.length === 0) {
    const { value: lines } = (await run.lines?.next()) ?? {}
    if (lines === undefined) throw new DaybookError('unreachable', 'the connection ended')
    run.waiting = lines.flatMap((line) => run.parse(line) ?? [])
  }
  const events: EventWire[] = []
  for (let frame = run.waiting[0]; frame !== undefined; frame = run.waiting[0]) {
    const { event, position, retryMs } = frame
    // An event says that those before it are there; a position, that all up to it has been sent.
    run.gapTo = event === undefined ? (position?.seq ?? 0) : event.seq - 1
    if (run.asked.serverFilter !== true && run.gapTo > run.cursor) {
      tell(run, 'gap')
      break
    }
    run.waiting.shift()
    if (retryMs === undefined) run.failures = 0
    else run.retryMs = retryMs
    if (position !== undefined) arrive(run, position)
    if (event === undefined) continue
    if (move(run, event.seq) && isWanted(run.asked, event)) events.push(event)
    if (run.cursor >= run.head) tell(run, 'level')
  }
  return events
}

/** Takes in a position, which is told as a heartbeat where it changes nothing. */
function arrive(run: Run, { seq, head, live }: StreamPosition): void {
  move(run, seq)
  run.head = Math.max(run.head, head)
  const before = run.state
  tell(run, live ? 'level' : 'behind')
  if (run.state === before) report(run)
}

/** Moves the cursor on; false for what has been there before. */
function move(run: Run, seq: number): boolean {
  if (seq <= run.cursor) return false
  run.cursor = seq
  run.head = Math.max(run.head, seq)
  run.stuck = 0
  return true
}

/** Reads from the pages of the log what the connection left out. */
async function* repair(run: Run): Batches {
  const { ask, asked, sameLog, gapTo, cursor: after } = run
  const limit = Math.min(PAGE_EVENTS, gapTo - after)
  for await (const events of pagesOf(ask, { after, limit, signal: asked.signal }, sameLog)) {
    const wanted = events.filter((event) => move(run, event.seq) && isWanted(asked, event))
    if (wanted.length > 0) yield wanted
    if (run.cursor >= gapTo) break
  }
  if (run.cursor < gapTo) noGap(run.cursor, gapTo + 1)
  tell(run, 'repaired')
}

/** Meets what was thrown: waits for as long as is asked, or gives up. */
async function meet(run: Run, error: unknown): Promise<void> {
  await close(run)
  run.error = error
  run.failures += 1
  if (!(error instanceof DaybookError) || isFinal(run, error)) {
    tell(run, 'refused')
    throw error
  }
  const { status, retryAfterMs } = error
  run.waitMs =
    retryAfterMs === undefined
      ? Math.max(run.retryMs, backoffMs(run.failures, run.random))
      : Math.min(retryAfterMs, STREAM_RETRY_AFTER_MS_MAX) + run.random() * BACKOFF_MS
  tell(run, status > 0 ? 'busy' : 'broke')
}

/** Whether an error will not pass. */
function isFinal(run: Run, error: DaybookError): boolean {
  const { code, status } = error
  if (code === 'gap' || code === 'cursor-ahead') return (run.stuck += 1) >= STUCK_ATTEMPTS_MAX
  // What stands between may answer in the service's place for a while; before anything came it is a wrong address.
  if (code === 'unexpected-answer') return !run.isKnown && !mayPass(error)
  return code === 'another-log' || (status >= 400 && !mayPass(error))
}

async function close(run: Run): Promise<void> {
  const { lines } = run
  run.lines = undefined
  run.waiting = []
  await lines?.return()
}
