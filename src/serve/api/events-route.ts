import type { Snapshot, WalkResult } from '../../log/store/reader.ts'
import {
  DETAILED_PAGE_BYTES_MAX,
  EXAMINED_MAX,
  PAGE_LIMIT_DEFAULT,
  type Parameter,
} from '../../protocol/parameters.ts'
import type { EventsPage } from '../../protocol/endpoints/event-endpoints.ts'
import { type Seq, seqOf } from '../../protocol/seq.ts'
import type { Chain } from '../../protocol/tx.ts'
import { etagOfForm, type PresentEtag } from '../http/etag.ts'
import { JSON_TYPE } from '../http/headers.ts'
import type { ParsedQuery } from '../query/query.ts'
import {
  type AnswerRoute,
  endpointRoute,
  problemReply,
  type Reply,
  type RouteRequest,
} from '../http/route.ts'
import { earlier, newestOf, newestOfContest } from './changing-events.ts'
import { type AnswerSource, holdsByName } from './endpoint-answer.ts'
import { CSV_TYPE, exportFileName } from '../http/csv.ts'
import { type EventsRange, resolveEventsRange } from './events-range.ts'

const NOTHING = new Uint8Array(0)

/** Route of `/events`: pages of the stored lines, as JSON or CSV. */
export function eventsRoute({ reader, etag }: AnswerSource): AnswerRoute {
  const route = endpointRoute('events', (ask) =>
    reader.snapshot((snapshot) => pageReply(etag, ask, snapshot)),
  )
  return { ...route, brief: isBrief, parameters: parametersOf(route.parameters, reader.identity.chain) }
}

/**
 * Most rows of a brief page with a filter or details. Each is found separately, which costs three to five times a row
 * in sequence.
 */
const BRIEF_FILTERED_ROWS = 100

/**
 * Whether a page is cheap: unfiltered with at most the default length, or short and of one contest or of types and
 * kinds. `nonzero` and `tx` may read many events to find a few.
 */
function isBrief(query: ParsedQuery): boolean {
  const limit = query.integer('limit') ?? PAGE_LIMIT_DEFAULT
  if (query.has('nonzero') || query.has('tx')) return false
  const contests = query.integers('contestId')?.length ?? 0
  const isApart = contests > 0 || ['type', 'kind', 'details'].some((name) => query.has(name))
  return contests <= 1 && limit <= (isApart ? BRIEF_FILTERED_ROWS : PAGE_LIMIT_DEFAULT)
}

/** Parameters for this log: `tx` takes only the form of its chain. */
function parametersOf(table: readonly Parameter[], chain: Chain): readonly Parameter[] {
  return table.map((row) => (row.form.is === 'tx' ? { ...row, form: { is: 'tx', chains: [chain] } } : row))
}

function pageReply(presentEtag: PresentEtag, ask: RouteRequest, snapshot: Snapshot): Reply {
  const range = resolveEventsRange(ask.query, snapshot, ask.latest)
  if (!range.ok) return problemReply(range.problem)
  const csv = ask.query.word('format') === 'csv'
  const seqHeader = { 'Daybook-Seq': String(snapshot.head.seq) }
  if (csv && !ask.query.has('limit')) {
    // HTTP/1.0 has no last chunk, so a cut file would look whole. It gets a page, which no cache may keep, because
    // other callers get the whole file.
    const { type, body, headers } = makePage(ask, range.value, snapshot, String(range.value.limit))
    return { is: 'body', keep: 'no-store', etag: null, type, body, headers: { ...seqHeader, ...headers } }
  }
  const named = presentEtag(eventsChangedBy(snapshot, ask.query, range.value))
  const etag = csv ? etagOfForm(named, 'csv') : named
  const isHeld = holdsByName(ask, etag)
  const unchanged = { is: 'unchanged', keep: 'revalidate', etag, headers: seqHeader } as const
  if (isHeld && !mayBeCut(ask.query, range.value)) return unchanged
  const page = makePage(ask, range.value, snapshot)
  // The caller's ETag is of an unsettled page. An event without a match may have settled it since.
  if (isHeld && !page.isSettled) return unchanged
  const { type, body, headers } = page
  return page.isSettled
    ? { is: 'body', keep: 'immutable', etag: 'of-content', type, body, headers }
    : { is: 'body', keep: 'revalidate', etag, type, body, headers: { ...seqHeader, ...headers } }
}

/** Whether an ascending page may end before its range, which settles it. */
function mayBeCut(query: ParsedQuery, { order, after, before, limit }: EventsRange): boolean {
  if (order === 'desc') return false
  return query.flag('details') || before - 1 - after > Math.min(limit, EXAMINED_MAX)
}

type Page = Readonly<{
  type: string
  body: Uint8Array
  headers: Readonly<Record<string, string>>
  /** Whether it never changes. */
  isSettled: boolean
}>

/** Reads a page. `limit` is for the link to the next page, if the request has none. */
function makePage(ask: RouteRequest, range: EventsRange, snapshot: Snapshot, limit?: string): Page {
  const csv = ask.query.word('format') === 'csv'
  const walked = walk(snapshot, ask, range, csv ? 'csv' : 'json')
  const next = nextOf(ask, range, walked, limit)
  const body = csv
    ? Buffer.concat([csvHeader(ask.query.flag('details')), walked.bytes])
    : pageOf(ask, range, walked, next)
  const headers = {
    ...(next === null ? {} : { Link: `<${next}>; rel="next"` }),
    ...(csv ? csvHeaders(ask.query, range, walked, 'part') : {}),
  }
  return { type: csv ? CSV_TYPE : JSON_TYPE, body, headers, isSettled: isSettled(range, walked) }
}

/**
 * Seq of the newest event that can change the answer, apart from `scannedTo`. For an ascending page between seqs it is
 * the newest event that passes the filter. For a descending page, a transaction or a range of time it is the head.
 */
export function eventsChangedBy(
  { head, kinds, books }: Snapshot,
  query: ParsedQuery,
  { filter, tx, order }: EventsRange,
): Seq {
  const { types, kinds: names, contestIds } = filter
  if (order === 'desc' || tx !== null || query.has('from') || query.has('to')) return head.seq
  if (types === null && names === null && contestIds === null) return head.seq
  const ofKinds = newestOf(
    kinds(),
    (seen) => (types?.includes(seen.type) ?? true) && (names?.includes(seen.kind) ?? true),
  )
  if (contestIds === null) return ofKinds
  const ofContests = contestIds.map((contestId) => newestOfContest(books, contestId))
  return earlier(ofKinds, seqOf(Math.max(...ofContests)))
}

type Walked = WalkResult & Readonly<{ details?: Uint8Array }>

/** Walks the range. Equal or reversed bounds give an empty page. */
function walk(
  snapshot: Snapshot,
  { query }: RouteRequest,
  range: EventsRange,
  framing: 'csv' | 'json',
): Walked {
  const { order, after, before } = range
  if (before - after > 1) {
    const asked = { ...range, examineMax: EXAMINED_MAX }
    return query.flag('details')
      ? snapshot.detailedWalk(asked, framing, DETAILED_PAGE_BYTES_MAX)
      : snapshot.walk(asked, framing)
  }
  return { bytes: NOTHING, count: 0, scannedTo: order === 'asc' ? after : before, hasMore: false }
}

/** Whether the page never changes: it ends below the head, so no later event can join it. */
function isSettled({ order, anchored }: EventsRange, { hasMore }: WalkResult): boolean {
  return order === 'asc' ? hasMore : anchored
}

function nextOf(
  ask: RouteRequest,
  { order }: EventsRange,
  { hasMore, scannedTo }: WalkResult,
  limit?: string,
): string | null {
  if (!hasMore) return null
  const cursor = String(scannedTo)
  const bound = order === 'asc' ? { after: cursor } : { before: cursor }
  return `${ask.path}${ask.query.format(limit === undefined ? bound : { ...bound, limit })}`
}

/** Stored lines with the JSON of the page around them. No event is parsed. */
function pageOf(
  { query }: RouteRequest,
  range: EventsRange,
  walked: Walked,
  next: string | null,
): Uint8Array {
  const { order, after, before, limit } = range
  const { count, scannedTo, hasMore } = walked
  const bound = order === 'asc' ? { after } : { before }
  const page: EventsPage['page'] = { ...bound, limit, count, scannedTo, hasMore, next }
  const details = query.flag('details')
    ? [Buffer.from('],"details":{'), walked.details ?? NOTHING, Buffer.from('}')]
    : [Buffer.from(']')]
  return Buffer.concat([
    Buffer.from('{"events":['),
    walked.bytes,
    ...details,
    Buffer.from(`,"page":${JSON.stringify(page)}}`),
  ])
}

const COLUMNS = 'seq,type,kind,at,atMs,contestId,kots,tx'

/** Header row; with `details=1` it has one more column. */
export function csvHeader(details: boolean): Uint8Array {
  return Buffer.from(`${COLUMNS}${details ? ',details' : ''}\r\n`)
}

/** Last seq that a CSV answer has read, and whether more follow. CSV cannot carry these fields of `page`. */
type CsvExtent = Readonly<{ scannedTo: number; hasMore: boolean }>

/**
 * Headers of a CSV answer. Its file name has the filter and the range of seqs. A page's name also has `part`, so that
 * nobody takes it for the whole.
 */
export function csvHeaders(
  query: ParsedQuery,
  { order, after, before }: EventsRange,
  { scannedTo, hasMore }: CsvExtent,
  part: 'part' | 'whole',
): Readonly<Record<string, string>> {
  const [first, last] = order === 'asc' ? [after + 1, scannedTo] : [scannedTo, before - 1]
  const stretch = first > last ? 'none' : `${first}-${last}`
  const name = exportFileName({ path: '/events', query }, [stretch, ...(part === 'part' ? [part] : [])])
  return {
    'Daybook-Scanned-To': String(scannedTo),
    'Daybook-Has-More': String(hasMore),
    'Content-Disposition': `attachment; filename="${name}"`,
  }
}
