import type { RecomputedEndpoint } from '../../protocol/endpoints/endpoints.ts'
import { boundOf, DAY_MS, floorTo, HOUR_MS, MINUTE_MS, type Ms, MS_MAX, msOf } from '../../protocol/moment.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import { mapped, parsed, type Parsed, refused } from '../../protocol/problem.ts'
import { BEFORE_FIRST, contestIdOf, seqOf } from '../../protocol/seq.ts'
import { contestLedger } from '../../project/answers/contest-ledger.ts'
import { contest, contests } from '../../project/answers/contests.ts'
import { loyaltyRuns } from '../../project/answers/loyalty-runs.ts'
import { payouts } from '../../project/answers/payouts.ts'
import { schedule } from '../../project/answers/schedule.ts'
import { wordsOf } from '../../project/answers/contest-words.ts'
import { BUCKETS_MAX, SEARCH_EXAMINED_MAX } from '../../protocol/parameters.ts'
import { type Bucket, BUCKETS, CONTEST_SORTS } from '../../protocol/enumerations.ts'
import type { Source } from '../reading/source.ts'
import { CHECK_OF, type PublishedAnswer, wholeIn } from './published-answer.ts'
import { eventCorrections } from '../../project/answers/event-corrections.ts'
import { WrongError } from '../reading/finding.ts'
import { isJsonObject, jsonInteger, type JsonObject, objectsOf, readObject } from '../reading/json-values.ts'
import type { Books } from '../../project/fold/books.ts'
import { flows } from '../../project/answers/flows.ts'
import { funds } from '../../project/answers/funds.ts'
import { patterns } from '../../project/answers/patterns.ts'
import { GRIDS } from '../../project/answers/bucket-grid.ts'
import { boundsOf, type LogEnds, resolvePatternRange, resolveRange } from '../../project/answers/range.ts'
import { summary } from '../../project/answers/summary.ts'

/** Facts from the summary and the list of contests, which are fetched first. */
type Known = Readonly<{
  source: Source
  chance: () => number
  /** Null in a folder, and for a log without events. */
  extent: LogExtent | null
  contests: readonly number[]
  /** One random contest; undefined when there is none. */
  picked: number | undefined
  /** Its title; undefined without one. */
  pickedTitle: string | undefined
}>

/** The pages of a list: the query for the page after a cursor, and the form of the address of the next page. */
export type FigureQueryPages = Readonly<{ page(after: number | null): FigureQuery; next: RegExp }>

type Queries = readonly (FigureQuery | FigureQueryPages)[]

/**
 * Queries to each endpoint whose answers are computed from the log, in the order in which they are asked. The present
 * summary and the list of contests are asked before them.
 */
export const FIGURE_QUERIES: Readonly<
  Record<RecomputedEndpoint, (known: Known) => Queries | Promise<Queries>>
> = {
  summary: ({ extent, chance }) => pastSummaryQueries(extent, chance),
  flows: ({ extent }) => rangeQueries('flows', extent),
  funds: ({ extent }) => rangeQueries('funds', extent),
  patterns: ({ extent }) => patternQueries(extent),
  loyaltyRuns: () => [figureQuery('loyaltyRuns', {}, (books) => parsed(loyaltyRuns(books)))],
  schedule: () => [figureQuery('schedule', {}, (books) => parsed(schedule(books)))],
  contests: (known) => contestQueries(known),
  contest: ({ picked: id }) =>
    id === undefined
      ? []
      : [figureQuery('contest', { place: id }, (books) => contest(books, contestIdOf(id)))],
  contestLedger: ({ contests: ids }) => ids.map(ledgerPages),
  payouts: ({ picked: contestId }) => [
    PAYOUT_PAGES,
    ...(contestId === undefined ? [] : [payoutQuery(`?contestId=${contestId}`, { contestId })]),
  ],
  eventCorrections: ({ source, chance, extent }) =>
    extent === null ? [] : correctionQueries({ source, chance }, extent.seq),
}

/** Queries for contests of a status, in each order, and by a word of a title. */
function contestQueries({ contests: ids, pickedTitle = '' }: Known): Queries {
  const ask = (asked: Parameters<typeof contests>[1]): FigureQuery => {
    const pairs = Object.entries(asked).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    return figureQuery('contests', { query: `?${pairs.join('&')}` }, (books) => contests(books, asked))
  }
  const [word] = wordsOf(pickedTitle)
  // A search of more contests may end short, but never before its first match.
  const limited = ids.length > SEARCH_EXAMINED_MAX ? { limit: 1 } : {}
  return [
    ask({ status: ['closed'] }),
    ...CONTEST_SORTS.filter((sort) => sort !== 'newest').map((sort) => ask({ sort, limit: 100 })),
    ...(word === undefined ? [] : [ask({ q: word, ...limited })]),
  ]
}

export const CONTEST_PAGES: FigureQueryPages = pagesOf(pathOf('contests'), (query, asked) =>
  figureQuery('contests', { query }, (books) => contests(books, asked)),
)

const PAYOUT_PAGES: FigureQueryPages = pagesOf(pathOf('payouts'), payoutQuery)

function ledgerPages(id: number): FigureQueryPages {
  return pagesOf(pathOf('contestLedger', id), (query, asked) =>
    figureQuery('contestLedger', { place: id, query }, (books) =>
      contestLedger(books, contestIdOf(id), asked),
    ),
  )
}

/** Query for unpaid prizes. They depend on the present, which the answer states as a whole minute. */
function payoutQuery(query: string, asked: Parameters<typeof payouts>[1]): FigureQuery {
  return figureQuery('payouts', { query }, (books, published) => {
    const now = boundOf(wholeIn(`${pathOf('payouts')}${query}`, published, 'now', 'atMs'))
    return now % MINUTE_MS === 0 && now <= MS_MAX
      ? parsed(payouts(books, asked, now))
      : refused({ code: 'invalid-parameter', detail: 'now is not a whole minute' })
  })
}

/** Query of an endpoint, with the number in its path and its parameters. */
function figureQuery(
  endpoint: RecomputedEndpoint,
  { place, query = '' }: Readonly<{ place?: number; query?: string }>,
  recompute: PublishedAnswer['recompute'],
): FigureQuery {
  const path = `${pathOf(endpoint, place)}${query}`
  return { check: CHECK_OF[endpoint], path, seq: null, moments: () => [], recompute }
}

/** Path of an endpoint below `/api/v1/`. */
function pathOf(endpoint: RecomputedEndpoint, place: number | '' = ''): string {
  return ENDPOINT_PATHS[endpoint].slice('/api/v1/'.length).replace(/\{\w+\}/, String(place))
}

function pagesOf(
  path: string,
  page: (query: string, asked: Readonly<{ after?: number }>) => FigureQuery,
): FigureQueryPages {
  return {
    next: new RegExp(`^/api/v1/${path}\\?after=([1-9]\\d{0,15})$`),
    page: (after) => (after === null ? page('', {}) : page(`?after=${after}`, { after })),
  }
}

/** Number of corrections that are checked. */
const CORRECTIONS = 3

/** Queries about the corrections of a few corrected events, and of one random event. */
export async function correctionQueries(
  { source, chance }: Readonly<{ source: Source; chance: () => number }>,
  size: number,
): Promise<readonly FigureQuery[]> {
  const before = 2 + Math.floor(chance() * size)
  const found = await correctionsBefore(source, before)
  const picked = found.length > 0 ? found : await correctionsBefore(source, size + 1)
  const corrected = await Promise.all(picked.map((seq) => correctedBy(source, seq)))
  const any = 1 + Math.floor(chance() * size)
  return [...new Set([...corrected, any])].map(correctionQuery)
}

/** Seqs of the newest corrections before a seq. The list is not trusted: it only selects the queries. */
async function correctionsBefore(source: Source, before: number): Promise<readonly number[]> {
  const path = `events?type=correction&order=desc&before=${before}&limit=${CORRECTIONS}`
  const body = await source.read(path)
  const events = body === undefined ? undefined : objectsOf(readObject(path, body)['events'])
  if (events === undefined || events.length > CORRECTIONS) throw new WrongError(path, 'lacks its events')
  return events.map((event) => seqIn(path, event['seq']))
}

async function correctedBy(source: Source, seq: number): Promise<number> {
  const path = `events/${seq}/details`
  const { details } = readObject(path, (await source.read(path, seq)) ?? new Uint8Array(0))
  return seqIn(path, isJsonObject(details) ? details['corrects'] : undefined)
}

function seqIn(path: string, value: unknown): number {
  const seq = jsonInteger(value)
  if (seq === undefined || seq < 1) throw new WrongError(path, 'does not name an event where it must')
  return seq
}

function correctionQuery(seq: number): FigureQuery {
  return {
    check: 'corrections',
    path: `events/${seq}/corrections`,
    seq: null,
    moments: () => [],
    recompute: (books) => parsed(eventCorrections(books, seqOf(seq))),
  }
}

/** Number of past moments at which the summary is recomputed. */
const PAST_MOMENTS = 10
/** Most days of a range of patterns: every hour of it is kept in memory. */
const PATTERN_DAYS = 366
/** Offset in minutes of the second time zone of patterns, in which hours begin at half past. */
const PATTERN_TZ = 330

/** Extent of the log: the moments of its first and last event, and the seq of its head. */
export type LogExtent = Readonly<{ firstMs: Ms; lastMs: Ms; seq: number }>

/** Query with the recomputation of its answer. `seq` is null when the answer counts every event. */
export type FigureQuery = Readonly<{
  check: PublishedAnswer['check']
  path: string
  seq: number | null
  moments(path: string, published: JsonObject): readonly Ms[]
  recompute: PublishedAnswer['recompute']
}>

/** Query for the present summary. */
export const SUMMARY_QUERY: FigureQuery = {
  check: 'summary',
  path: 'summary',
  seq: null,
  moments: () => [],
  recompute: (books) => summary(books, null, MS_MAX),
}

/** Queries for the summary at ten random past moments, one in each tenth of the log. */
export function pastSummaryQueries(extent: LogExtent | null, chance: () => number): readonly FigureQuery[] {
  return pastMoments(extent, chance).map((at) => pastSummary(at, extent?.seq ?? 0))
}

function pastSummary(at: Ms, seq: number): FigureQuery {
  return {
    check: 'summary',
    path: `summary?at=${at}`,
    seq,
    moments: () => [boundOf(at + 1)],
    recompute: (books) => summary(books, at, MS_MAX),
  }
}

/** Random moments before that of the head, so that new events change no answer. */
function pastMoments(extent: LogExtent | null, chance: () => number): readonly Ms[] {
  if (extent === null) return []
  const span = extent.lastMs - extent.firstMs
  const part = span / PAST_MOMENTS
  const moments = Array.from({ length: PAST_MOMENTS }, (_, index) =>
    msOf(extent.firstMs + Math.floor((index + chance()) * part)),
  )
  return moments.filter((at) => at < extent.lastMs)
}

/** Flows or funds: every bucket over its default range, and the longest range of the past by day and by month. */
export function rangeQueries(check: 'flows' | 'funds', extent: LogExtent | null): readonly FigureQuery[] {
  const asked = ['', ...BUCKETS.map((bucket) => `?bucket=${bucket}`)]
  const past = extent === null ? [] : [pastQuery(extent, 'day'), pastQuery(extent, 'month')]
  return [
    ...asked.map((query) => rangeQuery(check, query, null)),
    ...past
      .filter((query) => query !== null)
      .map((query) => rangeQuery(check, query, check === 'flows' ? (extent?.seq ?? 0) : null)),
  ]
}

/** Query for the past in this bucket, up to the bucket of the head; null when the log is too young. */
function pastQuery({ firstMs, lastMs }: LogExtent, bucket: Bucket): string | null {
  const { floor, shift } = GRIDS[bucket]
  const to = floor(lastMs)
  const from = Math.max(0, floor(firstMs), shift(to, -BUCKETS_MAX))
  return from < to ? `?from=${from}&to=${to}&bucket=${bucket}` : null
}

function rangeQuery(check: 'flows' | 'funds', query: string, seq: number | null): FigureQuery {
  const path = `${check}${query}`
  const given = new URLSearchParams(query)
  const bucket = given.get('bucket') ?? 'day'
  const answer = check === 'flows' ? flows : funds
  const rangeIn = (published: JsonObject): ReturnType<typeof resolveRange> =>
    resolveRange({ ...spanOf(given), bucket }, presentIn(path, published), launchIn(path, published))
  return {
    check,
    path,
    seq,
    moments(_, published) {
      const range = rangeIn(published)
      if (!range.ok) throw new WrongError(path, 'its range is invalid')
      return [range.value.fromMs, ...boundsOf(range.value).map(({ toMs }) => toMs)]
    },
    recompute: (books: Books, published: JsonObject): Parsed<unknown> =>
      mapped(rangeIn(published), (range) => answer(books, range)),
  }
}

/** Queries for the default range of patterns, and for the last year in another time zone. */
export function patternQueries(extent: LogExtent | null): readonly FigureQuery[] {
  if (extent === null) return [patternQuery('', null)]
  const to = floorTo(extent.lastMs, MINUTE_MS)
  const from = boundOf(Math.max(floorTo(extent.firstMs, MINUTE_MS), to - PATTERN_DAYS * DAY_MS))
  const past = `?from=${from}&to=${to}&tz=${PATTERN_TZ}`
  return [patternQuery('', null), ...(from < to ? [patternQuery(past, extent.seq)] : [])]
}

function patternQuery(query: string, seq: number | null): FigureQuery {
  const path = `patterns${query}`
  const given = new URLSearchParams(query)
  const tz = Number(given.get('tz') ?? 0)
  const spanIn = (published: JsonObject): ReturnType<typeof resolvePatternRange> =>
    resolvePatternRange(spanOf(given), presentIn(path, published), launchIn(path, published))
  return {
    check: 'patterns',
    path,
    seq,
    moments(_, published) {
      const span = spanIn(published)
      if (!span.ok) throw new WrongError(path, 'its range is invalid')
      const { fromMs, toMs } = span.value
      const moments: Ms[] = [fromMs, toMs]
      for (let at = floorTo(fromMs, HOUR_MS, -tz * MINUTE_MS); at < toMs; at = boundOf(at + HOUR_MS))
        moments.push(at)
      return moments
    },
    recompute: (books: Books, published: JsonObject): Parsed<unknown> => {
      const span = spanIn(published)
      return span.ok ? parsed(patterns(books, span.value, tz)) : span
    },
  }
}

/**
 * Present of an answer as it states it: a whole minute. Any present will do for a range that the request gives whole,
 * so it is the latest one.
 */
function presentIn(path: string, published: JsonObject): Ms {
  const now = published['now']
  if (!isJsonObject(now) || now['atMs'] === null) return MS_MAX
  const ms = wholeIn(path, published, 'now', 'atMs')
  if (ms > MS_MAX || ms % MINUTE_MS !== 0) throw new WrongError(path, 'now is not a whole minute')
  return msOf(ms)
}

/** Launch of the log as an answer states it. A false one is found when the answer is recomputed. */
function launchIn(path: string, published: JsonObject): LogEnds {
  const head = { seq: BEFORE_FIRST, atMs: null }
  if (published['launchedAtMs'] === null) return { head, firstAtMs: null }
  const ms = wholeIn(path, published, 'launchedAtMs')
  if (ms > MS_MAX) throw new WrongError(path, 'launchedAtMs is not a moment')
  return { head, firstAtMs: msOf(ms) }
}

function spanOf(given: URLSearchParams): Readonly<{ from?: Ms; to?: Ms }> {
  const [from, to] = [given.get('from'), given.get('to')]
  return {
    ...(from === null ? {} : { from: boundOf(Number(from)) }),
    ...(to === null ? {} : { to: boundOf(Number(to)) }),
  }
}
