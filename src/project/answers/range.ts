import { boundOf, DAY_MS, floorTo, formatAt, MINUTE_MS, moment, type Ms } from '../../protocol/moment.ts'
import { BUCKETS_MAX, PATTERN_DAYS_MAX } from '../../protocol/parameters.ts'
import { type Parsed, parsed, type Problem, refused } from '../../protocol/problem.ts'
import { type Bucket, BUCKETS } from '../../protocol/enumerations.ts'
import type { Launch, Now, Span } from '../../protocol/endpoints/figure-endpoints.ts'
import { atOf, presentOf } from './as-of.ts'
import { ceilOn, type Grid, GRIDS, PATTERN_GRID, WAIT_GRID } from './bucket-grid.ts'
import type { Books } from '../fold/books.ts'

/** Range of a request. Absent bounds are derived. */
type SpanQuery = Readonly<{ from?: Ms | undefined; to?: Ms | undefined }>
export type RangeQuery = SpanQuery & Readonly<{ bucket?: string | undefined }>

/** Half-open time span. It may begin before 1970, as the first week does. */
export type TimeSpan = Readonly<{ fromMs: Ms; toMs: Ms }>

/** Span of an answer. `nowMs` is the current minute if a bound was derived from it, otherwise null. */
export type ResolvedSpan = TimeSpan & Readonly<{ nowMs: Ms | null }>

/** A span of whole buckets, at most 1,500. */
export type ResolvedRange = ResolvedSpan & Readonly<{ bucket: Bucket }>

/** First and last event of the log, on which derived bounds depend. */
export type LogEnds = Pick<Books, 'firstAtMs' | 'head'>

/**
 * Range of `/flows` and `/funds`, aligned to its buckets (PROTOCOL.md, section 6). `latest` is the latest possible
 * current time of its bounds.
 */
export function resolveRange(
  query: RangeQuery,
  now: Ms,
  log: LogEnds,
  latest: Ms = now,
): Parsed<ResolvedRange> {
  const bucket = BUCKETS.find((name) => name === query.bucket) ?? 'day'
  const span = resolveSpan(query, GRIDS[bucket], { now, latest }, log)
  if (!span.ok) return span
  const requested = GRIDS[bucket].count(span.value.fromMs, span.value.toMs)
  return requested > BUCKETS_MAX
    ? refused(tooManyBuckets(span.value, requested, BUCKETS_MAX))
    : parsed({ ...span.value, bucket })
}

/** Range of `/patterns`, aligned to the minute, at most 1,100 days. `latest` as in `resolveRange`. */
export function resolvePatternRange(
  query: SpanQuery,
  now: Ms,
  log: LogEnds,
  latest: Ms = now,
): Parsed<ResolvedSpan> {
  const span = resolveSpan(query, PATTERN_GRID, { now, latest }, log)
  if (!span.ok || span.value.toMs - span.value.fromMs <= PATTERN_DAYS_MAX * DAY_MS) return span
  return refused({
    code: 'range-too-long',
    detail: `The range is longer than ${PATTERN_DAYS_MAX} days.`,
    errors: [
      {
        parameter: 'from',
        message: `\`from\` is more than ${PATTERN_DAYS_MAX} days before the end of the range.`,
      },
    ],
    members: { maxDays: PATTERN_DAYS_MAX },
  })
}

/** Range of `/waits`, aligned to the minute. `latest` as in `resolveRange`. */
export function resolveWaitRange(
  query: SpanQuery,
  now: Ms,
  log: LogEnds,
  latest: Ms = now,
): Parsed<ResolvedSpan> {
  return resolveSpan(query, WAIT_GRID, { now, latest }, log)
}

/** Bounds of the buckets of a range, in order: each is the end of one bucket and the start of the next. */
export function boundsOf({ bucket, fromMs, toMs }: ResolvedRange): readonly Ms[] {
  const { count, shift } = GRIDS[bucket]
  return Array.from({ length: count(fromMs, toMs) + 1 }, (_, index) => shift(fromMs, index))
}

/** The launch of the log and a span of time, as an answer states them. */
export function spanWire({ firstAtMs }: LogEnds, { fromMs, toMs }: TimeSpan): Launch & Span {
  const launch = { launchedAt: atOf(firstAtMs), launchedAtMs: firstAtMs }
  return { ...launch, from: formatAt(fromMs), fromMs, to: formatAt(toMs), toMs }
}

/** Current time used by an answer, in the form of the answer. */
export function nowWire({ nowMs }: ResolvedSpan): Now | null {
  return nowMs === null ? null : moment(nowMs)
}

function resolveSpan(
  { from, to }: SpanQuery,
  grid: Grid,
  { now, latest }: Readonly<{ now: Ms; latest: Ms }>,
  { firstAtMs, head }: LogEnds,
): Parsed<ResolvedSpan> {
  const present = floorTo(presentOf(head, now), MINUTE_MS)
  const presentEnd = grid.shift(grid.floor(present), 1)
  const end = latest === now ? presentEnd : grid.shift(grid.floor(presentOf(head, latest)), 1)
  if (from !== undefined && to !== undefined && from >= to) return refused(BACKWARDS)
  if (to !== undefined && to > end) return refused(inTheFuture('to'))
  if (from !== undefined && from >= end) return refused(inTheFuture('from'))
  const toMs =
    to === undefined ? (from === undefined || from < presentEnd ? presentEnd : end) : ceilOn(grid, to)
  const fromMs =
    from === undefined ? defaultFrom(toMs, grid, grid.floor(firstAtMs ?? present)) : grid.floor(from)
  // Nothing is before 1970.
  if (fromMs >= toMs) return refused(BACKWARDS)
  const ofPresent = to === undefined || (from === undefined && firstAtMs === null)
  return parsed({ fromMs, toMs, nowMs: ofPresent ? present : null })
}

/** Start of a range with the default number of buckets. It is not before `launch`, unless the whole range is. */
function defaultFrom(toMs: Ms, { buckets, floor, shift }: Grid, launch: Ms): Ms {
  const earliest = launch < toMs ? launch : floor(boundOf(0))
  return boundOf(Math.max(shift(toMs, -buckets), earliest))
}

const BACKWARDS: Problem = {
  code: 'invalid-range',
  detail: 'The range ends at or before its beginning: `from` is inclusive, `to` exclusive.',
  errors: [{ parameter: 'from', message: '`from` is not before `to`.' }],
}

function inTheFuture(parameter: 'from' | 'to'): Problem {
  return {
    code: 'in-the-future',
    detail: 'The range ends after the present bucket.',
    errors: [{ parameter, message: `\`${parameter}\` is after the end of the present bucket.` }],
  }
}

/** Problem of a range with more than `max` buckets. `because` is the reason for the limit, after a blank. */
export function tooManyBuckets(span: TimeSpan, requested: number, max: number, because = ''): Problem {
  const fits = BUCKETS.find((bucket) => {
    const grid = GRIDS[bucket]
    return grid.count(grid.floor(span.fromMs), ceilOn(grid, span.toMs)) <= max
  })
  const advice = fits === undefined ? 'ask for a shorter range' : `\`bucket=${fits}\` would fit`
  return {
    code: 'too-many-buckets',
    detail: `The range has ${requested} buckets; the limit is ${max}${because}: ${advice}.`,
    errors: [{ parameter: 'bucket', message: '`bucket` is too short for this range.' }],
    members: { requested, max, bucket: fits ?? null },
  }
}
