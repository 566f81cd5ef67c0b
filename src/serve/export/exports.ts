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

type ExportSettings = Readonly<{
  reader: LogReader
  etag: PresentEtag
  places: ExportPlaces
  /** A monotonic clock in milliseconds, the same in all threads. */
  monotonicMs: () => number
  /** Receives an error thrown by a read of the store. The affected export is aborted. */
  report: (error: unknown) => void
  /** Called when an export is cut because its reader has stalled. `seq` is the last one read for it. */
  onStalled: (seq: Seq) => void
  limits?: Partial<ExportLimits>
}>

/** Counts of one thread's exports since it started. */
type ExportCounts = { open: number; ended: Record<ExportEnd, number> }

/** Cause of an export's end: it is whole, its caller left or stalled, or the node failed. */
type ExportEnd = 'whole' | 'client' | 'stalled' | 'error'

/** The whole CSV answers of one thread. */
export type Exports = Disposable &
  Readonly<{
    /** Returns the routes; those of the log's events now also answer whole CSV files. */
    over(routes: readonly Route[]): readonly Route[]
    counts(): Readonly<ExportCounts>
  }>

/** An export in progress; times in milliseconds of the monotonic clock. */
type ExportRun = WatchedWriter & {
  readonly response: ServerResponse
  readonly range: EventsRange
  /** Whether the last column has the details. */
  readonly details: boolean
  readonly place: ExportPlace
  readonly startedAt: number
  /** The last seq scanned. */
  scannedTo: Seq
  /** Whether the last rows are read. */
  done: boolean
  ended: boolean
}

/**
 * Opens the exports of one thread, which share one queue of turns and one timer. Each export has at most one write in
 * flight, and takes a turn when the kernel has accepted it.
 */
export function openExports(settings: ExportSettings): Exports {
  const { reader, etag: presentEtag, places, monotonicMs, report } = settings
  const limits = exportLimits(settings.limits)
  const runs = new Set<ExportRun>()
  const ended: ExportCounts['ended'] = { whole: 0, client: 0, stalled: 0, error: 0 }
  const watch = openStallWatch<ExportRun>(limits.lookMs, ({ response }) => response.req.socket)
  const turns = openTurns<ExportRun>({
    monotonicMs,
    sliceMs: { live: limits.sliceMs, history: limits.sliceMs },
    take(run, now) {
      if (run.ended) return
      try {
        const bytes = reader.snapshot((snapshot) => readRows(snapshot, run, limits))
        if (bytes.byteLength > 0) write(run, bytes, now)
        else goOn(run)
      } catch (error) {
        report(error)
        breakOff(run, 'error')
      }
    },
  })

  /** Makes all checks before the first byte, then begins the export. */
  function handle(ask: StreamAsk): Reply {
    return reader.snapshot((snapshot): Reply => {
      const { query, response } = ask
      const resolved = resolveEventsRange(query, snapshot, ask.latest)
      if (!resolved.ok) return problemReply(resolved.problem)
      const range = resolved.value
      // A page at the same address, for HTTP/1.0, must not match this ETag.
      const etag = weak(etagOfForm(presentEtag(eventsChangedBy(snapshot, query, range)), 'whole'))
      const headers = { 'Daybook-Seq': String(snapshot.head.seq) }
      if (!allows(ask.header('if-match'), etag)) return problemReply(PRECONDITION_FAILED)
      if (ask.holds(etag)) return { is: 'unchanged', keep: 'revalidate', etag, headers }

      const end = Math.max(range.after, range.before - 1)
      const all = headerList(ask.headers, {
        'Content-Type': CSV_TYPE,
        'Cache-Control': CACHE_CONTROL.revalidate,
        ETag: etag,
        ...headers,
        ...csvHeaders(query, range, { scannedTo: end, hasMore: false }, 'whole'),
      })
      if (ask.method === 'HEAD') {
        response.writeHead(200, all).end()
        return { is: 'streamed' }
      }
      const now = monotonicMs()
      const taken = places.take(ask.caller, now + limits.firstGuessMs)
      if (!taken.ok) return problemReply(refusalOf(taken, places, now, limits))
      const run: ExportRun = {
        response,
        range,
        details: query.flag('details'),
        place: taken.place,
        startedAt: now,
        scannedTo: range.order === 'asc' ? range.after : range.before,
        done: false,
        blockedSince: null,
        unacknowledged: null,
        ended: false,
      }
      try {
        // Read before the status is sent, so that a damaged store gives a 500 instead of a truncated file.
        const rows = readRows(snapshot, run, limits)
        response.writeHead(200, all)
        begin(run, Buffer.concat([csvHeader(run.details), rows]))
      } catch (error) {
        taken.place.release()
        throw error
      }
      return { is: 'streamed' }
    })
  }

  function begin(run: ExportRun, first: Uint8Array): void {
    runs.add(run)
    // A response that is closed already emits no more events.
    if (run.response.destroyed) return release(run, 'client')
    run.response.once('close', () => release(run, 'client'))
    write(run, first, run.startedAt)
  }

  /** Writes bytes, which are in flight until the kernel has accepted them. */
  function write(run: ExportRun, bytes: Uint8Array, now: number): void {
    run.blockedSince = now
    run.unacknowledged = null
    run.response.write(bytes, (error) => {
      // A failed write is followed by the `close` of its response.
      if (error !== undefined && error !== null) return
      run.blockedSince = null
      goOn(run)
    })
  }

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

  /** Closes the connection without the last chunk, so that the download fails visibly. */
  function breakOff(run: ExportRun, why: ExportEnd): void {
    release(run, why)
    run.response.destroy()
  }

  function look(): void {
    const now = monotonicMs()
    for (const run of runs) {
      if (waitedMs(run, now) >= limits.stallMs) {
        breakOff(run, 'stalled')
        settings.onStalled(run.scannedTo)
      } else run.place.expectEnd(expectedEnd(run, now, limits))
    }
    watch(runs, now).catch(report)
  }

  const beat = setInterval(look, limits.tickMs).unref()
  return {
    over: (routes) => routes.map((route) => withWhole(route, handle)),
    counts: () => ({ open: runs.size, ended: { ...ended } }),
    [Symbol.dispose]() {
      clearInterval(beat)
      turns.close()
      for (const run of runs) breakOff(run, 'error')
    },
  }
}

/** The page's CSV of the log; its bytes are those of the API. */
const PAGE_CSV_PATH = '/events.csv'

/** Returns the route, with whole answers if it is one of the log's events. */
function withWhole(route: Route, handle: (ask: StreamAsk) => Reply): Route {
  if (route.streaming === true) return route
  const isPage = route.path === PAGE_CSV_PATH
  if (route.path !== ENDPOINT_PATHS.events && !isPage) return route
  const takes: NonNullable<AnswerRoute['whole']>['takes'] = (query) =>
    (isPage || query.word('format') === 'csv') && !query.has('limit')
  return { ...route, whole: { takes, handle } }
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

const NOTHING = new Uint8Array(0)

/** Reads the rows of one write after the last scanned seq (before it, in descending order). Moves that seq. */
function readRows(snapshot: Snapshot, run: ExportRun, limits: ExportLimits): Uint8Array {
  const { range, details, scannedTo } = run
  const { order, after, before } = range
  const rest = order === 'asc' ? { after: scannedTo, before } : { after, before: scannedTo }
  if (rest.before - rest.after <= 1) {
    run.done = true
    return NOTHING
  }
  const walk = { ...range, ...rest, limit: rowsOfWrite(limits), examineMax: limits.scanEventsMax }
  const rows = details ? snapshot.detailedWalk(walk, 'csv', limits.writeBytesMax) : snapshot.walk(walk, 'csv')
  run.scannedTo = rows.scannedTo
  run.done = !rows.hasMore
  return rows.bytes
}

/** Expected end of an export at its speed until now. */
function expectedEnd(run: ExportRun, now: number, limits: ExportLimits): number {
  const { after, before, order } = run.range
  const all = before - after
  const scanned = order === 'asc' ? run.scannedTo - after : before - run.scannedTo
  const elapsed = now - run.startedAt
  if (scanned <= 0 || elapsed < limits.tickMs) return now + limits.firstGuessMs
  return now + (elapsed * (all - scanned)) / scanned
}

/** Limits of the exports of one thread. Each name ends with its unit. */
export type ExportLimits = Readonly<{
  /** Size of one write. The next write starts when the socket has drained. */
  writeBytesMax: number
  /** Size of a row: the longest values that the grammar allows, and their separators. */
  rowBytesMax: number
  /** Events examined for one write. */
  scanEventsMax: number
  /** Time after which a stalled export is aborted. */
  stallMs: number
  /** Time after which a waiting export is checked for progress, and between two checks. */
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
