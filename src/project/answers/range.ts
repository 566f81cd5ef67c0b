import type { Ms } from '../../protocol/moment.ts'
import {
  boundOf,
  ceilTo,
  DAY_MS,
  FIRST_MONDAY_MS,
  floorTo,
  formatAt,
  HOUR_MS,
  MINUTE_MS,
  WEEK_MS,
} from '../../protocol/moment.ts'
import { BUCKETS_MAX, PATTERN_DAYS_MAX } from '../../protocol/parameters.ts'
import type { Parsed, Problem } from '../../protocol/problem.ts'
import { parsed, refused } from '../../protocol/problem.ts'
import type { Bucket, Range } from '../../protocol/range-resources.ts'
import { BUCKETS } from '../../protocol/range-resources.ts'
import { presentOf } from './as-of.ts'
import type { Head } from '../fold/books.ts'

/** Range of a request. Absent bounds are derived. */
type SpanQuery = Readonly<{ from?: Ms | undefined; to?: Ms | undefined }>
export type RangeQuery = SpanQuery & Readonly<{ bucket?: string | undefined }>

/** Half-open time span. It may begin before 1970, as the first week does. */
export type TimeSpan = Readonly<{ fromMs: Ms; toMs: Ms }>

/** A span of whole buckets, at most 1,500. */
export type ResolvedRange = TimeSpan & Readonly<{ bucket: Bucket }>

type Grid = Readonly<{ widthMs: number; originMs: number; buckets: number }>

/** Width and origin of each bucket's grid, and the number of buckets in the default range. */
const GRIDS: Readonly<Record<Bucket, Grid>> = {
  minute: { widthMs: MINUTE_MS, originMs: 0, buckets: 360 },
  hour: { widthMs: HOUR_MS, originMs: 0, buckets: 168 },
  day: { widthMs: DAY_MS, originMs: 0, buckets: 90 },
  week: { widthMs: WEEK_MS, originMs: FIRST_MONDAY_MS, buckets: 52 },
}

/** Grid of `/patterns`: minutes, with a default range of 28 days. */
const PATTERN_GRID: Grid = { widthMs: MINUTE_MS, originMs: 0, buckets: (28 * DAY_MS) / MINUTE_MS }

/** Range of `/flows` and `/funds`, aligned to its buckets (spec, section 5, "Time ranges"). */
export function resolveRange(query: RangeQuery, now: Ms, head: Head): Parsed<ResolvedRange> {
  const bucket = BUCKETS.find((name) => name === (query.bucket ?? 'day'))
  if (bucket === undefined) {
    const errors = [
      { parameter: 'bucket', message: '`bucket` is not the name of a bucket.', allowed: BUCKETS },
    ]
    return refused({ code: 'invalid-parameter', detail: 'There is no such bucket.', errors })
  }
  const span = resolveSpan(query, GRIDS[bucket], presentOf(head, now))
  if (!span.ok) return span
  const requested = bucketsIn(span.value, bucket)
  return requested > BUCKETS_MAX
    ? refused(tooManyBuckets(span.value, requested))
    : parsed({ ...span.value, bucket })
}

/** Range of `/patterns`, aligned to the minute, at most 1,100 days. */
export function resolvePatternRange(query: SpanQuery, now: Ms, head: Head): Parsed<TimeSpan> {
  const span = resolveSpan(query, PATTERN_GRID, presentOf(head, now))
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

/** Buckets of a range, in order. */
export function boundsOf(range: ResolvedRange): readonly TimeSpan[] {
  const { widthMs } = GRIDS[range.bucket]
  return Array.from({ length: (range.toMs - range.fromMs) / widthMs }, (_, index) => ({
    fromMs: boundOf(range.fromMs + index * widthMs),
    toMs: boundOf(range.fromMs + (index + 1) * widthMs),
  }))
}

/** Range as an answer states it. */
export function rangeWire({ fromMs, toMs, bucket }: ResolvedRange): Range {
  return { from: formatAt(fromMs), fromMs, to: formatAt(toMs), toMs, bucket }
}

function resolveSpan({ from, to }: SpanQuery, grid: Grid, present: Ms): Parsed<TimeSpan> {
  const end = boundOf(floorTo(present, grid.widthMs, grid.originMs) + grid.widthMs)
  const length = grid.buckets * grid.widthMs
  if (from !== undefined && to !== undefined && from >= to) return refused(BACKWARDS)
  if (to !== undefined && to > end) return refused(inTheFuture('to'))
  if (from !== undefined && from >= end) return refused(inTheFuture('from'))
  if (from === undefined) {
    const toMs = to === undefined ? end : ceilTo(to, grid.widthMs, grid.originMs)
    return parsed({ fromMs: boundOf(toMs - length), toMs })
  }
  const fromMs = floorTo(from, grid.widthMs, grid.originMs)
  // A derived end is never after the end of the present bucket.
  const toMs =
    to === undefined ? boundOf(Math.min(fromMs + length, end)) : ceilTo(to, grid.widthMs, grid.originMs)
  return parsed({ fromMs, toMs })
}

function bucketsIn(span: TimeSpan, bucket: Bucket): number {
  const { widthMs, originMs } = GRIDS[bucket]
  return (ceilTo(span.toMs, widthMs, originMs) - floorTo(span.fromMs, widthMs, originMs)) / widthMs
}

const BACKWARDS: Problem = {
  code: 'invalid-range',
  detail: 'The range ends at or before its beginning: `from` is inclusive, `to` exclusive.',
  errors: [{ parameter: 'from', message: '`from` is not before `to`.' }],
}

function inTheFuture(parameter: 'from' | 'to'): Problem {
  return {
    code: 'in-the-future',
    detail: 'The range goes on after the end of the present bucket.',
    errors: [{ parameter, message: `\`${parameter}\` lies after the end of the present bucket.` }],
  }
}

function tooManyBuckets(span: TimeSpan, requested: number): Problem {
  const fits = BUCKETS.find((bucket) => bucketsIn(span, bucket) <= BUCKETS_MAX) ?? null
  const advice = fits === null ? 'ask for a shorter range' : `\`bucket=${fits}\` would fit`
  return {
    code: 'too-many-buckets',
    detail: `The range holds ${requested} buckets, at most ${BUCKETS_MAX} are answered: ${advice}.`,
    errors: [{ parameter: 'bucket', message: '`bucket` is too short for this range.' }],
    members: { requested, max: BUCKETS_MAX, bucket: fits },
  }
}
