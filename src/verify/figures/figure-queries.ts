import type { RecomputedEndpoint } from '../../protocol/endpoints/endpoints.ts'
import { boundOf, DAY_MS, floorTo, MINUTE_MS, type Ms, msOf } from '../../protocol/moment.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import { wordsOf } from '../../project/answers/contest-words.ts'
import { BUCKETS_MAX, SEARCH_EXAMINED_MAX, WAIT_CONTESTS_MAX } from '../../protocol/parameters.ts'
import { type Bucket, BUCKETS, CONTEST_OUTCOMES, CONTEST_SORTS } from '../../protocol/enumerations.ts'
import type { Source } from '../reading/source.ts'
import type { FigureQuery } from './published-answer.ts'
import { WrongError } from '../reading/finding.ts'
import { isJsonObject, jsonInteger, objectsOf, readObject } from '../reading/json-values.ts'
import { GRIDS } from '../../project/answers/bucket-grid.ts'

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
  /** Kinds of prize in the ledgers that were fetched so far. */
  prizeKinds: ReadonlySet<string>
}>

/** Pages of a list: the query for the page after a cursor, and the pattern of the next page's address. */
export type FigureQueryPages = Readonly<{ page(after: number | null): FigureQuery; next: RegExp }>

type Queries = readonly (FigureQuery | FigureQueryPages)[]

/**
 * Queries to the endpoints with parameters. Other endpoints get one query each. The current summary and the list of
 * contests are fetched first.
 */
const QUERIES: Readonly<Partial<Record<RecomputedEndpoint, (known: Known) => Queries | Promise<Queries>>>> = {
  summary: ({ extent, chance }) => pastSummaryQueries(extent, chance),
  flows: ({ extent }) => rangeQueries('flows', extent),
  funds: ({ extent }) => rangeQueries('funds', extent),
  patterns: ({ extent }) => patternQueries(extent),
  waits: ({ extent, contests }) => waitQueries(extent, contests.length),
  contests: (known) => contestQueries(known),
  contest: ({ picked }) => (picked === undefined ? [] : [figureQuery('contest', '', picked)]),
  contestLedger: ({ contests }) => contests.map((id) => figurePages('contestLedger', id)),
  payouts: (known) => payoutQueries(known),
  eventCorrections: ({ source, chance, extent }) =>
    extent === null ? [] : correctionQueries({ source, chance }, extent.seq),
}

/** Queries to an endpoint whose answers are computed from the log. */
export async function queriesTo(endpoint: RecomputedEndpoint, known: Known): Promise<Queries> {
  return (await QUERIES[endpoint]?.(known)) ?? [figureQuery(endpoint)]
}

/** Query of an endpoint, with its parameters and the number in its path. */
export function figureQuery(
  endpoint: RecomputedEndpoint,
  query = '',
  place: number | null = null,
  seq: number | null = null,
): FigureQuery {
  return { endpoint, path: `${pathOf(endpoint, place)}${query}`, place, query, seq }
}

/** Path of an endpoint below `/api/v1/`. */
function pathOf(endpoint: RecomputedEndpoint, place: number | null): string {
  return ENDPOINT_PATHS[endpoint].slice('/api/v1/'.length).replace(/\{\w+\}/, String(place))
}

/** The pages of an endpoint's list. */
export function figurePages(endpoint: RecomputedEndpoint, place: number | null = null): FigureQueryPages {
  return {
    next: new RegExp(`^/api/v1/${pathOf(endpoint, place)}\\?after=([1-9]\\d{0,15})$`),
    page: (after) => figureQuery(endpoint, after === null ? '' : `?after=${after}`, place),
  }
}

/** Queries for contests of a status, of each outcome, in each order, and by a word of a title. */
function contestQueries({ contests, pickedTitle = '' }: Known): Queries {
  const [word] = wordsOf(pickedTitle)
  // A search over more contests may end early, but never before its first match.
  const limit = contests.length > SEARCH_EXAMINED_MAX ? '&limit=1' : ''
  return [
    figureQuery('contests', '?status=closed'),
    ...CONTEST_OUTCOMES.map((outcome) => figureQuery('contests', `?outcome=${outcome}`)),
    ...CONTEST_SORTS.filter((sort) => sort !== 'newest').map((sort) =>
      figureQuery('contests', `?sort=${sort}&limit=100`),
    ),
    ...(word === undefined ? [] : [figureQuery('contests', `?q=${encodeURIComponent(word)}${limit}`)]),
  ]
}

/** Queries for all unpaid prizes, those of one contest, and those of a random kind. */
function payoutQueries({ chance, picked, prizeKinds }: Known): Queries {
  const kind = [...prizeKinds][Math.floor(chance() * prizeKinds.size)]
  return [
    figurePages('payouts'),
    ...(picked === undefined ? [] : [figureQuery('payouts', `?contestId=${picked}`)]),
    ...(kind === undefined ? [] : [figureQuery('payouts', `?kind=${kind}`)]),
  ]
}

/** Number of corrections that are checked. */
const CORRECTIONS = 3

/** Queries about the corrections of a few corrected events, and of one random event. */
async function correctionQueries(
  { source, chance }: Readonly<{ source: Source; chance: () => number }>,
  size: number,
): Promise<readonly FigureQuery[]> {
  const before = 2 + Math.floor(chance() * size)
  const found = await correctionsBefore(source, before)
  const picked = found.length > 0 ? found : await correctionsBefore(source, size + 1)
  const corrected = await Promise.all(picked.map((seq) => correctedBy(source, seq)))
  const any = 1 + Math.floor(chance() * size)
  return [...new Set([...corrected, any])].map((seq) => figureQuery('eventCorrections', '', seq))
}

/** Seqs of the newest corrections before a seq. The list is not trusted; it only selects the queries. */
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

/** Number of past moments at which the summary is recomputed. */
const PAST_MOMENTS = 10
/** Most days in a range of patterns. Every hour of it is in memory. */
const PATTERN_DAYS = 366
/** Offset in minutes of the second time zone of patterns, in which hours begin at half past. */
const PATTERN_TZ = 330

/** Extent of the log: the moments of its first and last event, and the seq of its head. */
export type LogExtent = Readonly<{ firstMs: Ms; lastMs: Ms; seq: number }>

/** Queries for the summary at ten random past moments, one in each tenth of the log. */
function pastSummaryQueries(extent: LogExtent | null, chance: () => number): readonly FigureQuery[] {
  if (extent === null) return []
  const { firstMs, lastMs, seq } = extent
  const part = (lastMs - firstMs) / PAST_MOMENTS
  const moments = Array.from({ length: PAST_MOMENTS }, (_, index) =>
    msOf(firstMs + Math.floor((index + chance()) * part)),
  )
  // Before the moment of the head, so that new events change no answer.
  return moments.filter((at) => at < lastMs).map((at) => figureQuery('summary', `?at=${at}`, null, seq))
}

/** Widths of buckets with which a default range by kind fits for any number of kinds. */
const BY_KIND = ['?bucket=week&by=kind', '?bucket=month&by=kind']

/** Flows or funds: every bucket over its default range, and the longest past range by day and by month. */
export function rangeQueries(check: 'flows' | 'funds', extent: LogExtent | null): readonly FigureQuery[] {
  const byKind = check === 'flows' ? BY_KIND : []
  const asked = ['', ...BUCKETS.map((bucket) => `?bucket=${bucket}`), ...byKind]
  const past = extent === null ? [] : [...pastRange(extent, 'day'), ...pastRange(extent, 'month')]
  const seq = check === 'flows' && extent !== null ? extent.seq : null
  return [
    ...asked.map((query) => figureQuery(check, query)),
    ...past.map((query) => figureQuery(check, query, null, seq)),
  ]
}

/** Past range in this bucket, up to the bucket of the head; none when the log is too young. */
function pastRange({ firstMs, lastMs }: LogExtent, bucket: Bucket): readonly string[] {
  const { floor, shift } = GRIDS[bucket]
  const to = floor(lastMs)
  const from = Math.max(0, floor(firstMs), shift(to, -BUCKETS_MAX))
  return from < to ? [`?from=${from}&to=${to}&bucket=${bucket}`] : []
}

/** Queries for the default range of waits, and for the whole log when its contests fit one answer. */
function waitQueries(extent: LogExtent | null, contests: number): Queries {
  const present = figureQuery('waits')
  if (extent === null || contests > WAIT_CONTESTS_MAX) return [present]
  const from = floorTo(extent.firstMs, MINUTE_MS)
  const to = floorTo(extent.lastMs, MINUTE_MS)
  return from < to ? [present, figureQuery('waits', `?from=${from}&to=${to}`)] : [present]
}

/** Queries for the default range of patterns, and for the last year in another time zone. */
function patternQueries(extent: LogExtent | null): readonly FigureQuery[] {
  const present = figureQuery('patterns')
  if (extent === null) return [present]
  const to = floorTo(extent.lastMs, MINUTE_MS)
  const from = boundOf(Math.max(floorTo(extent.firstMs, MINUTE_MS), to - PATTERN_DAYS * DAY_MS))
  const past = `?from=${from}&to=${to}&tz=${PATTERN_TZ}`
  return from < to ? [present, figureQuery('patterns', past, null, extent.seq)] : [present]
}
