import { PRECONDITION_FAILED, type Problem } from '../../protocol/problem.ts'
import { SECOND_MS } from '../../protocol/moment.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import type { LogReader } from '../../log/store/reader.ts'
import type { ExportPlaces } from '../allowance/export-places.ts'
import { csvHeaders } from '../api/events-csv.ts'
import { CSV_TYPE } from '../http/csv.ts'
import { resolveEventsRange } from '../api/events-range.ts'
import { eventsChangedBy } from '../api/events-route.ts'
import { allows, etagOfForm, type PresentEtag, weak } from '../http/etag.ts'
import { CACHE_CONTROL } from '../http/headers.ts'
import { type AnswerRoute, problemReply, type Reply, type Route, type StreamAsk } from '../http/route.ts'
import type { ExportLimits } from './export-limits.ts'
import { type Began, readRows } from './export-run.ts'

/** Parts of a thread that whole answers use. */
export type WholeSettings = Readonly<{
  reader: LogReader
  etag: PresentEtag
  places: ExportPlaces
  /** A monotonic clock in milliseconds, the same in all threads. */
  monotonicMs: () => number
}>

/** The page's CSV of the log; its bytes are those of the API. */
const PAGE_CSV_PATH = '/events.csv'

/** The route with its whole answers, if it is one of the log's events. */
export function withWhole(route: Route, handle: (ask: StreamAsk) => Reply): Route {
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
export function answerWhole(
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
    const all: Readonly<Record<string, string>> = {
      'Content-Type': CSV_TYPE,
      'Cache-Control': CACHE_CONTROL.revalidate,
      ETag: etag,
      ...headers,
      ...csvHeaders(ask.query, range, { scannedTo: end, hasMore: false }, 'whole'),
    }
    if (ask.method === 'HEAD') {
      ask.response.writeHead(200, all).end()
      return { is: 'taken' }
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
    return { is: 'taken' }
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
