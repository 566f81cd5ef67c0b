import { billionths, formatAmount } from '../../protocol/amount.ts'
import type { PatternFigures, Patterns } from '../../protocol/endpoints/figure-endpoints.ts'
import { asOf, sortedByKey, toCount } from './as-of.ts'
import type { Activity, Books } from '../fold/books.ts'
import { activityByHour, HOURS_OF_WEEK } from './hours-of-week.ts'
import { launchWire, nowWire, type ResolvedSpan, spanWire } from './range.ts'
import { addActivity, NO_ACTIVITY } from '../fold/week-sums.ts'

const HOURS_OF_DAY = 24
const DAYS_OF_WEEK = 7

/**
 * Game activity by hour of day and day of week, in local time `tz` minutes ahead of UTC. `byKind` has the same kinds in
 * all cells: every kind with spending in any cell. The answer counts the events before the end of its span. It can never
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
    ...launchWire(books),
    ...spanWire(span),
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
