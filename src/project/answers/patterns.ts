import { billionths, formatAmount } from '../../protocol/amount.ts'
import type { PatternFigures, Patterns } from '../../protocol/endpoints/figure-endpoints.ts'
import { asOf, sortedByKey, toCount } from './as-of.ts'
import type { Activity, AsOfTotals, Books } from '../fold/books.ts'
import { nowWire, type ResolvedSpan, spanWire, type TimeSpan } from './range.ts'
import { addActivity, NO_ACTIVITY } from '../fold/week-sums.ts'
import { assert } from '../../protocol/brand.ts'
import {
  boundOf,
  ceilTo,
  FIRST_MONDAY_MS,
  floorTo,
  HOUR_MS,
  MINUTE_MS,
  type Ms,
  QUARTER_MS,
  WEEK_MS,
} from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import { activityOfTotals } from '../fold/prefix.ts'

const HOURS_OF_DAY = 24
const DAYS_OF_WEEK = 7

/**
 * Game activity by hour of day and day of week, in local time `tz` minutes ahead of UTC. `byKind` has the same kinds in
 * all cells: every kind with spending in any cell. Counts the events before the end of the span. The answer can never
 * change once `isSettledBefore(head, span.toMs)`.
 */
export function patterns(books: Books, span: ResolvedSpan, tz: number): Patterns {
  const cells = activityByHour(books, span, tz)
  const kinds = kindsOf(cells)
  const figures = (cellsOfPart: readonly Activity[]): PatternFigures =>
    figuresOf(
      cellsOfPart.reduce((total, cell) => addActivity(total, cell), NO_ACTIVITY),
      kinds,
    )
  return {
    asOf: asOf(books.totalsBefore(span.toMs).head()),
    now: nowWire(span),
    ...spanWire(books, span),
    tz,
    byHour: upTo(HOURS_OF_DAY).map((hour) => ({
      hour,
      ...figures(cells.filter((_, index) => index % HOURS_OF_DAY === hour)),
    })),
    byDay: upTo(DAYS_OF_WEEK).map((day) => ({
      day: day + 1,
      ...figures(cells.slice(day * HOURS_OF_DAY, (day + 1) * HOURS_OF_DAY)),
    })),
    cells: upTo(HOURS_OF_WEEK).map((index) => ({
      day: Math.floor(index / HOURS_OF_DAY) + 1,
      hour: index % HOURS_OF_DAY,
      ...figures(cells.slice(index, index + 1)),
    })),
  }
}

/** Kinds with spending in any cell, even when a correction in another cell cancels it. */
function kindsOf(cells: readonly Activity[]): readonly string[] {
  const spent = cells.flatMap((cell) => [...cell.spentByKind].filter(([, amount]) => amount !== 0n))
  return sortedByKey(new Map(spent)).map(([kind]) => kind)
}

function figuresOf(activity: Activity, kinds: readonly string[]): PatternFigures {
  return {
    spentOnPlay: formatAmount(billionths(activity.spentOnPlay)),
    byKind: Object.fromEntries(
      kinds.map((kind) => [kind, formatAmount(billionths(activity.spentByKind.get(kind) ?? 0n))]),
    ),
    paidInPrizes: formatAmount(billionths(activity.paidInPrizes)),
    burned: formatAmount(billionths(activity.burned)),
    plays: toCount(activity.plays),
  }
}

function upTo(end: number): readonly number[] {
  return Array.from({ length: end }, (_, index) => index)
}

const HOURS_OF_WEEK: number = WEEK_MS / HOUR_MS

/** Hours in one query at most. */
const HOURS_AT_ONCE = 1_000

/**
 * Activity of a span by hour of the week: 168 sums from Monday 00:00 in local time, which is `tz` minutes ahead of UTC.
 * Whole weeks with week-strided sums cost the same for any number of weeks. Each other hour costs a look-up.
 */
export function activityByHour(books: Books, span: TimeSpan, tz: number): readonly Activity[] {
  const sums = Array.from({ length: HOURS_OF_WEEK }, emptySum)
  const { fromMs, toMs } = withEvents(books, span)
  if (fromMs >= toMs) return sums
  const originMs = -tz * MINUTE_MS
  const weeksFrom = ceilTo(fromMs, HOUR_MS, originMs)
  const weeks = tz % (QUARTER_MS / MINUTE_MS) === 0 ? wholeWeeks(books, weeksFrom, toMs) : 0
  if (weeks === 0) {
    addHours(books, sums, { fromMs, toMs }, originMs)
    return sums
  }
  addHours(books, sums, { fromMs, toMs: weeksFrom }, originMs)
  addWeeks(books, sums, weeksFrom, weeks, originMs)
  addHours(books, sums, { fromMs: boundOf(weeksFrom + weeks * WEEK_MS), toMs }, originMs)
  return sums
}

/** Sum of one hour of the week, changed in place because thousands of hours are added. */
type Sum = {
  -readonly [Figure in Exclude<keyof Activity, 'spentByKind'>]: bigint
} & { readonly spentByKind: Map<string, bigint> }

function emptySum(): Sum {
  return { plays: 0n, spentOnPlay: 0n, paidInPrizes: 0n, burned: 0n, spentByKind: new Map() }
}

function addDifference(sum: Sum | undefined, start: Activity, end: Activity): void {
  assert(sum !== undefined, 'an hour of the week has its sum')
  sum.plays += end.plays - start.plays
  sum.spentOnPlay += end.spentOnPlay - start.spentOnPlay
  sum.paidInPrizes += end.paidInPrizes - start.paidInPrizes
  sum.burned += end.burned - start.burned
  // Later activity has all kinds of earlier activity, so `end` has every kind of `start`.
  for (const [kind, spent] of end.spentByKind) {
    const difference = spent - (start.spentByKind.get(kind) ?? 0n)
    sum.spentByKind.set(kind, (sum.spentByKind.get(kind) ?? 0n) + difference)
  }
}

/** Part of a span between the first and the last event, so that empty years cost nothing. */
function withEvents(books: Books, span: TimeSpan): TimeSpan {
  const { atMs } = books.head
  if (books.firstAtMs === null || atMs === null) return { fromMs: span.fromMs, toMs: span.fromMs }
  return {
    fromMs: boundOf(Math.max(span.fromMs, floorTo(books.firstAtMs, MINUTE_MS))),
    toMs: boundOf(Math.min(span.toMs, floorTo(atMs, MINUTE_MS) + MINUTE_MS)),
  }
}

/** Number of whole weeks between `fromMs` and `toMs` that have week-strided sums. */
function wholeWeeks(books: Books, fromMs: Ms, toMs: Ms): number {
  let weeks = Math.max(0, Math.floor((toMs - fromMs) / WEEK_MS))
  while (weeks > 0 && strided(books, boundOf(fromMs + weeks * WEEK_MS)) === undefined) weeks--
  return weeks
}

/**
 * Adds `weeks` whole weeks. The sum of the totals at one hour of these weeks is D(last) − D(first − 7 days). The activity
 * within the hour is the difference of these sums at its end and its start.
 */
function addWeeks(books: Books, sums: readonly Sum[], fromMs: Ms, weeks: number, originMs: number): void {
  const sumAt = (ms: Ms): Activity => {
    const last = strided(books, boundOf(ms + (weeks - 1) * WEEK_MS))
    const before = strided(books, boundOf(ms - WEEK_MS))
    assert(last !== undefined && before !== undefined, `week-strided sums around ${ms} are missing`)
    return addActivity(last, before, -1n)
  }
  let start = sumAt(fromMs)
  for (let hour = 0; hour < HOURS_OF_WEEK; hour++) {
    const at = boundOf(fromMs + hour * HOUR_MS)
    const end = sumAt(boundOf(at + HOUR_MS))
    addDifference(sums[hourOfWeek(at, originMs)], start, end)
    start = end
  }
}

/** D(q); empty up to the first event. */
function strided(books: Books, q: Ms): Activity | undefined {
  return books.firstAtMs !== null && q <= books.firstAtMs ? NO_ACTIVITY : books.weekStridedActivity(q)
}

/** Adds a span hour by hour, cut at the hours of local time. */
function addHours(books: Books, sums: readonly Sum[], { fromMs, toMs }: TimeSpan, originMs: number): void {
  if (fromMs >= toMs) return
  let at = fromMs
  let start = pointOf(books.totalsBefore(at))
  while (at < toMs) {
    const ends = hourEnds({ fromMs: at, toMs }, originMs)
    for (const [index, found] of books.totalsBeforeEach(ends, true).entries()) {
      // An hour without events costs only its look-up.
      if (found.seq !== start.seq) {
        const end = pointOf(found)
        addDifference(sums[hourOfWeek(at, originMs)], start.activity, end.activity)
        start = end
      }
      at = ends[index] ?? toMs
    }
  }
}

/** Ends of the first hours of a span, which is not empty. The last hour may be cut. */
function hourEnds({ fromMs, toMs }: TimeSpan, originMs: number): readonly Ms[] {
  const first = floorTo(fromMs, HOUR_MS, originMs) + HOUR_MS
  const hours = Math.min(HOURS_AT_ONCE, Math.ceil((toMs - first) / HOUR_MS) + 1)
  return Array.from({ length: hours }, (_, hour) => boundOf(Math.min(first + hour * HOUR_MS, toMs)))
}

function pointOf({ seq, totals }: AsOfTotals): Readonly<{ seq: Seq; activity: Activity }> {
  return { seq, activity: activityOfTotals(totals) }
}

/** 0 for the hour that begins on Monday at 00:00 local time, to 167. */
function hourOfWeek(ms: Ms, originMs: number): number {
  const inWeek = ms - originMs - floorTo(boundOf(ms - originMs), WEEK_MS, FIRST_MONDAY_MS)
  return Math.floor(inWeek / HOUR_MS)
}
