import { boundOf, DAY_MS, floorTo, HOUR_MS, MINUTE_MS, type Ms, MS_MAX, msOf } from '../../protocol/moment.ts'
import { BUCKETS_MAX } from '../../protocol/parameters.ts'
import { mapped, type Parsed, parsed } from '../../protocol/problem.ts'
import { type Bucket, BUCKETS } from '../../protocol/enumerations.ts'
import { BEFORE_FIRST } from '../../protocol/seq.ts'
import type { Books } from '../../project/fold/books.ts'
import { flows } from '../../project/answers/flows.ts'
import { funds } from '../../project/answers/funds.ts'
import { patterns } from '../../project/answers/patterns.ts'
import { GRIDS } from '../../project/answers/bucket-grid.ts'
import { boundsOf, type LogEnds, resolvePatternRange, resolveRange } from '../../project/answers/range.ts'
import { summary } from '../../project/answers/summary.ts'
import { WrongError } from '../reading/finding.ts'
import { isJsonObject, type JsonObject } from '../reading/json-values.ts'
import { type PublishedAnswer, wholeIn } from './question.ts'

/** Number of past moments at which the summary is recomputed. */
const PAST_MOMENTS = 10
/** Most days of a range of patterns: every hour of it is kept in memory. */
const PATTERN_DAYS = 366
/** Offset in minutes of the second time zone of patterns, in which hours begin at half past. */
const PATTERN_TZ = 330

/** Extent of the log: the moments of its first and last event, and the seq of its head. */
export type LogExtent = Readonly<{ firstMs: Ms; lastMs: Ms; seq: number }>

/** Question with the recomputation of its answer. `seq` is null when the answer counts every event. */
export type VerifyQuestion = Readonly<{
  check: PublishedAnswer['check']
  path: string
  seq: number | null
  moments(path: string, published: JsonObject): readonly Ms[]
  recompute: PublishedAnswer['recompute']
}>

/** Question for the present summary. */
export const SUMMARY_QUESTION: VerifyQuestion = {
  check: 'summary',
  path: 'summary',
  seq: null,
  moments: () => [],
  recompute: (books) => summary(books, null, MS_MAX),
}

/** Questions for the summary at ten random past moments, one in each tenth of the log. */
export function pastSummaryQuestions(
  extent: LogExtent | null,
  chance: () => number,
): readonly VerifyQuestion[] {
  return pastMoments(extent, chance).map((at) => pastSummary(at, extent?.seq ?? 0))
}

function pastSummary(at: Ms, seq: number): VerifyQuestion {
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
export function rangeQuestions(
  check: 'flows' | 'funds',
  extent: LogExtent | null,
): readonly VerifyQuestion[] {
  const asked = ['', ...BUCKETS.map((bucket) => `?bucket=${bucket}`)]
  const past = extent === null ? [] : [pastQuery(extent, 'day'), pastQuery(extent, 'month')]
  return [
    ...asked.map((query) => rangeQuestion(check, query, null)),
    ...past
      .filter((query) => query !== null)
      .map((query) => rangeQuestion(check, query, check === 'flows' ? (extent?.seq ?? 0) : null)),
  ]
}

/** Query for the past in this bucket, up to the bucket of the head; null when the log is too young. */
function pastQuery({ firstMs, lastMs }: LogExtent, bucket: Bucket): string | null {
  const { floor, shift } = GRIDS[bucket]
  const to = floor(lastMs)
  const from = Math.max(0, floor(firstMs), shift(to, -BUCKETS_MAX))
  return from < to ? `?from=${from}&to=${to}&bucket=${bucket}` : null
}

function rangeQuestion(check: 'flows' | 'funds', query: string, seq: number | null): VerifyQuestion {
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

/** Questions for the default range of patterns, and for the last year in another time zone. */
export function patternQuestions(extent: LogExtent | null): readonly VerifyQuestion[] {
  if (extent === null) return [patternQuestion('', null)]
  const to = floorTo(extent.lastMs, MINUTE_MS)
  const from = boundOf(Math.max(floorTo(extent.firstMs, MINUTE_MS), to - PATTERN_DAYS * DAY_MS))
  const past = `?from=${from}&to=${to}&tz=${PATTERN_TZ}`
  return [patternQuestion('', null), ...(from < to ? [patternQuestion(past, extent.seq)] : [])]
}

function patternQuestion(query: string, seq: number | null): VerifyQuestion {
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
