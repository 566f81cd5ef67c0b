import type { Seq } from '../../protocol/seq.ts'
import { type AnswerRoute, problemReply, type Reply, type Route, type StreamAsk } from '../http/route.ts'
import { openStallWatch, waitedMs, type WatchedWriter } from '../request/stall-watch.ts'
import { openTurns } from '../fairness/stream-turns.ts'
import { PRECONDITION_FAILED, type Problem } from '../../protocol/problem.ts'
import { SECOND_MS } from '../../protocol/moment.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import type { LogReader, Snapshot } from '../../log/store/reader.ts'
import type { ExportPlace, ExportPlaces } from '../allowance/export-places.ts'
import { CSV_TYPE } from '../http/csv.ts'
import { type EventsRange, resolveEventsRange } from '../api/events-range.ts'
import { csvHeader, csvHeaders, eventsChangedBy } from '../api/events-route.ts'
import { allows, etagOfForm, type PresentEtag, weak } from '../http/etag.ts'
import { CACHE_CONTROL, headerList } from '../http/headers.ts'
import type { ServerResponse } from 'node:http'
import { assert } from '../../protocol/brand.ts'
import { DETAILS_LINE_BYTES_MAX } from '../../protocol/draft.ts'

type ExportSettings = WholeSettings &
  Readonly<{
    /** Receives an error thrown by a read of the store. The export that read is broken off. */
    report: (error: unknown) => void
    /** Called when an export is cut because its reader takes nothing; `seq` is the last one read for it. */
    onStalled: (seq: Seq) => void
    limits?: Partial<ExportLimits>
  }>

/** Counts of one thread's exports since it started. */
type ExportCounts = { open: number; ended: Record<ExportEnd, number> }

/** The whole CSV answers of one thread. */
export type Exports = Disposable &
  Readonly<{
    /** The routes, of which those of the log's events also answer whole CSV files. */
    over(routes: readonly Route[]): readonly Route[]
    counts(): Readonly<ExportCounts>
  }>

/** Opens the exports of one thread: all share one queue of turns and one timer. */
export function openExports(settings: ExportSettings): Exports {
  const { monotonicMs, report } = settings
  const limits = exportLimits(settings.limits)
  const sending = openSending(settings, limits)
  const watch = openStallWatch<ExportRun>(limits.lookMs, ({ response }) => response.req.socket)

  function look(): void {
    const now = monotonicMs()
    for (const run of sending.runs) {
      if (waitedMs(run, now) >= limits.stallMs) {
        sending.breakOff(run, 'stalled')
        settings.onStalled(run.scannedTo)
      } else run.place.expectEnd(expectedEnd(run, now, limits))
    }
    watch(sending.runs, now).catch(report)
  }

  const beat = setInterval(look, limits.tickMs).unref()
  const handle = (ask: StreamAsk): Reply => answerWhole(settings, limits, ask, sending.begin)
  return {
    over: (routes) => routes.map((route) => withWhole(route, handle)),
    counts: () => ({ open: sending.runs.size, ended: { ...sending.ended } }),
    [Symbol.dispose]() {
      clearInterval(beat)
      sending.close()
    },
  }
}

type Sending = Readonly<{
  runs: ReadonlySet<ExportRun>
  ended: ExportCounts['ended']
  begin(began: Began): void
  /** Closes the connection without the last chunk, so that the download fails visibly. */
  breakOff(run: ExportRun, why: ExportEnd): void
  close(): void
}>

/** Opens the sending of exports: each has one write in flight at most, and takes a turn when the kernel has accepted it. */
function openSending({ reader, monotonicMs, report }: ExportSettings, limits: ExportLimits): Sending {
  const runs = new Set<ExportRun>()
  const ended: ExportCounts['ended'] = { whole: 0, client: 0, stalled: 0, error: 0 }
  const turns = openTurns<ExportRun>({
    monotonicMs,
    sliceMs: { live: limits.sliceMs, history: limits.sliceMs },
    take(run, now) {
      if (run.ended) return
      try {
        writeRows(reader, run, limits, now)
      } catch (error) {
        report(error)
        breakOff(run, 'error')
      }
    },
  })

  function goOn(run: ExportRun): void {
    if (run.ended) return
    if (!run.done) turns.add(run, 'history')
    else {
      release(run, 'whole')
      run.response.end()
    }
  }

  function release(run: ExportRun, why: ExportEnd): void {
    if (run.ended) return
    run.ended = true
    ended[why] += 1
    runs.delete(run)
    run.place.release()
  }

  function breakOff(run: ExportRun, why: ExportEnd): void {
    release(run, why)
    run.response.destroy()
  }

  return {
    runs,
    ended,
    begin(began) {
      const run = openRun(began, monotonicMs(), goOn)
      runs.add(run)
      // A response that is closed already emits no more events.
      if (run.response.destroyed) {
        release(run, 'client')
        return
      }
      run.response.once('close', () => release(run, 'client'))
      writeBytes(run, Buffer.concat([csvHeader(run.details), began.rows.bytes]), run.startedAt)
    },
    breakOff,
    close() {
      turns.close()
      for (const run of runs) breakOff(run, 'error')
    },
  }
}

/** Parts of a thread that whole answers use. */
type WholeSettings = Readonly<{
  reader: LogReader
  etag: PresentEtag
  places: ExportPlaces
  /** A monotonic clock in milliseconds, the same in all threads. */
  monotonicMs: () => number
}>

/** The page's CSV of the log; its bytes are those of the API. */
const PAGE_CSV_PATH = '/events.csv'

/** The route with its whole answers, if it is one of the log's events. */
function withWhole(route: Route, handle: (ask: StreamAsk) => Reply): Route {
  if (route.streaming === true) return route
  const takes: NonNullable<AnswerRoute['whole']>['takes'] | undefined =
    route.path === ENDPOINT_PATHS.events
      ? (query) => query.word('format') === 'csv' && !query.has('limit')
      : route.path === PAGE_CSV_PATH
        ? (query) => !query.has('limit')
        : undefined
  return takes === undefined ? route : { ...route, whole: { takes, handle } }
}

/** Makes every check before the first byte, then begins the export. */
function answerWhole(
  { reader, etag: presentEtag, places, monotonicMs }: WholeSettings,
  limits: ExportLimits,
  ask: StreamAsk,
  begin: (began: Began) => void,
): Reply {
  return reader.snapshot((snapshot): Reply => {
    const resolved = resolveEventsRange(ask.query, snapshot, ask.latest)
    if (!resolved.ok) return problemReply(resolved.problem)
    const range = resolved.value
    const etag = wholeEtag(presentEtag(eventsChangedBy(snapshot, ask.query, range)))
    const headers = { 'Daybook-Seq': String(snapshot.head.seq) }
    if (!allows(ask.header('if-match'), etag)) return problemReply(PRECONDITION_FAILED)
    if (ask.holds(etag)) return { is: 'unchanged', keep: 'revalidate', etag, headers }

    const end = Math.max(range.after, range.before - 1)
    const all = headerList(ask.headers, {
      'Content-Type': CSV_TYPE,
      'Cache-Control': CACHE_CONTROL.revalidate,
      ETag: etag,
      ...headers,
      ...csvHeaders(ask.query, range, { scannedTo: end, hasMore: false }, 'whole'),
    })
    if (ask.method === 'HEAD') {
      ask.response.writeHead(200, all).end()
      return { is: 'streamed' }
    }
    const now = monotonicMs()
    const taken = places.take(ask.caller, now + limits.firstGuessMs)
    if (!taken.ok) return problemReply(refusalOf(taken, places, now, limits))
    try {
      // Read before the status is sent, so that a damaged store gives a 500 and no truncated file.
      const start = range.order === 'asc' ? range.after : range.before
      const details = ask.query.flag('details')
      const rows = readRows(snapshot, { range, details }, start, limits)
      ask.response.writeHead(200, all)
      begin({ response: ask.response, range, details, rows, place: taken.place })
    } catch (error) {
      taken.place.release()
      throw error
    }
    return { is: 'streamed' }
  })
}

/** A page at the same address, for HTTP/1.0, is no form of the same answer. */
function wholeEtag(etag: string): string {
  return weak(etagOfForm(etag, 'whole'))
}

function refusalOf(
  { full, freeAtMs }: Readonly<{ full: 'caller' | 'node'; freeAtMs: number }>,
  { limits: { perCaller } }: ExportPlaces,
  now: number,
  { retrySecondsMax }: ExportLimits,
): Problem {
  const retryAfterSeconds = Math.min(retrySecondsMax, Math.max(1, Math.ceil((freeAtMs - now) / SECOND_MS)))
  if (full === 'node') {
    const detail =
      'This node has reached its limit of whole CSV files. Try again later, or read pages with `limit`.'
    return { code: 'export-capacity', detail, retryAfterSeconds }
  }
  const detail =
    `This address receives ${perCaller} whole CSV files, its limit. ` +
    'Wait until one has ended, or read pages with `limit`.'
  return { code: 'too-many-exports', detail, retryAfterSeconds }
}

/** Cause of an export's end: it is whole, its caller left or took nothing, or the node failed. */
type ExportEnd = 'whole' | 'client' | 'stalled' | 'error'

/** An export whose headers are written, with its first rows. */
type Began = Readonly<{
  response: ServerResponse
  range: EventsRange
  /** Whether the last column has the details. */
  details: boolean
  rows: ExportRows
  place: ExportPlace
}>

/** An export in progress; times in milliseconds of the monotonic clock. */
type ExportRun = WatchedWriter & {
  readonly response: ServerResponse
  readonly range: EventsRange
  readonly details: boolean
  readonly place: ExportPlace
  readonly startedAt: number
  /** The last seq scanned. */
  scannedTo: Seq
  /** Whether the last rows are read. */
  done: boolean
  /** Callback of a write: the kernel has accepted it, or the error. */
  readonly flushed: (error?: Error | null) => void
  ended: boolean
}

/** Rows that follow the last scanned seq, and where they end. */
type ExportRows = Readonly<{ bytes: Uint8Array; scannedTo: Seq; done: boolean }>

/** Reads the rows of one write after `scannedTo` (before it, in descending order). */
function readRows(
  snapshot: Snapshot,
  { range, details }: Pick<ExportRun, 'range' | 'details'>,
  scannedTo: Seq,
  limits: ExportLimits,
): ExportRows {
  const { order, after, before } = range
  const rest = order === 'asc' ? { after: scannedTo, before } : { after, before: scannedTo }
  if (rest.before - rest.after <= 1) return { bytes: NOTHING, scannedTo, done: true }
  const walk = { ...range, ...rest, limit: rowsOfWrite(limits), examineMax: limits.scanEventsMax }
  const {
    bytes,
    scannedTo: reached,
    hasMore,
  } = details ? snapshot.detailedWalk(walk, 'csv', limits.writeBytesMax) : snapshot.walk(walk, 'csv')
  return { bytes, scannedTo: reached, done: !hasMore }
}

const NOTHING = new Uint8Array(0)

/** Opens the run of an export. `goOn` is called when the kernel has accepted a write. */
function openRun(began: Began, now: number, goOn: (run: ExportRun) => void): ExportRun {
  const { response, range, details, place, rows } = began
  const { scannedTo, done } = rows
  const run: ExportRun = {
    response,
    range,
    details,
    place,
    startedAt: now,
    scannedTo,
    done,
    blockedSince: null,
    unacknowledged: null,
    flushed(error) {
      // A failed write is followed by the `close` of its response.
      if (error !== undefined && error !== null) return
      run.blockedSince = null
      goOn(run)
    },
    ended: false,
  }
  return run
}

/** Reads and writes the next rows. */
function writeRows(reader: LogReader, run: ExportRun, limits: ExportLimits, now: number): void {
  const rows = reader.snapshot((snapshot) => readRows(snapshot, run, run.scannedTo, limits))
  run.scannedTo = rows.scannedTo
  run.done = rows.done
  if (rows.bytes.byteLength > 0) writeBytes(run, rows.bytes, now)
  else run.flushed()
}

/** Writes bytes, which are in flight until `flushed` is called. */
function writeBytes(run: ExportRun, bytes: Uint8Array, now: number): void {
  run.blockedSince = now
  run.unacknowledged = null
  run.response.write(bytes, run.flushed)
}

/** Moment at which an export is expected to end, if it goes on as fast as until now. */
function expectedEnd(run: ExportRun, now: number, limits: ExportLimits): number {
  const { after, before, order } = run.range
  const all = before - after
  const scanned = order === 'asc' ? run.scannedTo - after : before - run.scannedTo
  const elapsed = now - run.startedAt
  if (scanned <= 0 || elapsed < limits.tickMs) return now + limits.firstGuessMs
  return now + (elapsed * (all - scanned)) / scanned
}

/** Limits of the exports of one thread. The end of a name is its unit. */
export type ExportLimits = Readonly<{
  /** Size of one write. The next write starts when the socket has drained. */
  writeBytesMax: number
  /** Size of a row: the longest values that the grammar allows, and their separators. */
  rowBytesMax: number
  /** Events examined for one write. */
  scanEventsMax: number
  /** Time after which an export from which nothing is taken is given up. */
  stallMs: number
  /** Time after which an export that waits for its reader is watched for progress, and between two looks. */
  lookMs: number
  /** Period of the timer that all exports share. */
  tickMs: number
  /** Time of the exports in one turn of the event loop. */
  sliceMs: number
  /** Expected duration of an export that has only begun. */
  firstGuessMs: number
  /** Longest wait that a refusal states. */
  retrySecondsMax: number
}>

const EXPORT_LIMITS: ExportLimits = {
  writeBytesMax: 64 * 1024,
  rowBytesMax: 320,
  scanEventsMax: 2_000,
  stallMs: 120 * SECOND_MS,
  lookMs: 10 * SECOND_MS,
  tickMs: SECOND_MS,
  sliceMs: 4,
  firstGuessMs: 10 * SECOND_MS,
  retrySecondsMax: 600,
}

/** The limits with some replaced. Throws when they contradict each other. */
function exportLimits(changes: Partial<ExportLimits> = {}): ExportLimits {
  const limits = { ...EXPORT_LIMITS, ...changes }
  // In quotes, each quote of the details is doubled.
  const rowBytes = 2 * DETAILS_LINE_BYTES_MAX + limits.rowBytesMax
  assert(rowBytes <= limits.writeBytesMax, 'a write holds a row with its details')
  assert(limits.scanEventsMax >= rowsOfWrite(limits), 'a scan covers a whole write')
  assert(limits.tickMs <= limits.lookMs && limits.lookMs <= limits.stallMs / 2, 'a stall has several looks')
  return limits
}

/** Rows of one write. */
function rowsOfWrite({ writeBytesMax, rowBytesMax }: ExportLimits): number {
  return Math.floor(writeBytesMax / rowBytesMax)
}
