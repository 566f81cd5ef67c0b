import { type Amount, formatAmount, subtract, ZERO } from '../../protocol/amount.ts'
import { assert, recordOf } from '../../protocol/brand.ts'
import { formatAt } from '../../protocol/moment.ts'
import type { FlowBucket, FlowFigures, Flows } from '../../protocol/endpoints/figure-endpoints.ts'
import { asOf, isSettledBefore, tokenPrice } from './as-of.ts'
import type { AsOfTotals, LogTotals } from '../fold/books.ts'
import { boundsOf, nowWire, type ResolvedRange, spanWire, tooManyBuckets } from './range.ts'
import { KIND_FIGURES, type KindFigure, type Totals } from '../fold/tally.ts'
import { KIND_AMOUNTS_MAX } from '../../protocol/parameters.ts'
import { type Parsed, parsed, refused } from '../../protocol/problem.ts'

/**
 * Flows of each bucket: the differences of the totals at its ends. Counts the events before the end of the range. The
 * answer can never change once `isSettledBefore(head, range.toMs)`.
 */
export function flows(books: LogTotals, range: ResolvedRange): Flows {
  return flowsOf(books, range, books.totalsBeforeEach(boundsOf(range)), () => ({}))
}

/** Fields of a bucket with the parts of a figure by kind. */
export const KIND_MAPS = {
  spentOnPlay: 'spentByKind',
  paidInPrizes: 'paidByKind',
  burned: 'burnedByKind',
} as const satisfies Record<KindFigure, keyof FlowBucket>

/**
 * The same with amounts by kind. All buckets have the same kinds: those with an amount in any bucket. Refused when the
 * buckets times the kinds that the log has by then exceed `KIND_AMOUNTS_MAX`.
 */
export function flowsByKind(books: LogTotals, range: ResolvedRange): Parsed<Flows> {
  const ends = books.totalsBeforeEach(boundsOf(range), true)
  const known = KIND_FIGURES.reduce((sum, figure) => sum + (ends.at(-1)?.totals.byKind(figure).size ?? 0), 0)
  const max = Math.floor(KIND_AMOUNTS_MAX / Math.max(1, known))
  const buckets = ends.length - 1
  if (buckets > max) return refused(tooManyBuckets(range, buckets, max, ` with ${known} kinds`))
  const parts = recordOf(KIND_FIGURES, (figure) => partsByKind(ends, figure))
  const kinds = recordOf(KIND_FIGURES, (figure) => kindsIn(parts[figure]))
  return parsed(
    flowsOf(books, range, ends, (index) => {
      const mapOf = (figure: KindFigure): Readonly<Record<string, string>> => {
        const part = parts[figure][index]
        return recordOf(kinds[figure], (kind) => formatAmount(part?.get(kind) ?? ZERO))
      }
      return {
        [KIND_MAPS.spentOnPlay]: mapOf('spentOnPlay'),
        [KIND_MAPS.paidInPrizes]: mapOf('paidInPrizes'),
        [KIND_MAPS.burned]: mapOf('burned'),
      }
    }),
  )
}

type KindMaps = Partial<Pick<FlowBucket, (typeof KIND_MAPS)[KindFigure]>>

/** Answer of a range. `mapsOf` makes the further fields of each bucket. */
function flowsOf(
  books: LogTotals,
  range: ResolvedRange,
  ends: readonly AsOfTotals[],
  mapsOf: (index: number) => KindMaps,
): Flows {
  const bounds = boundsOf(range)
  const [first, last] = [ends[0], ends.at(-1)]
  assert(first !== undefined && last !== undefined, 'a range has a beginning and an end')
  const buckets: FlowBucket[] = []
  let before = first
  for (const [index, after] of ends.entries()) {
    const fromMs = bounds[index - 1]
    if (fromMs !== undefined)
      buckets.push({
        at: formatAt(fromMs),
        atMs: fromMs,
        complete: isSettledBefore(books.head, bounds[index] ?? range.toMs),
        ...activityBetween(before.totals, after.totals),
        tokenPriceUsd: tokenPrice(after.totals),
        ...furtherBetween(before.totals, after.totals),
        ...mapsOf(index - 1),
      })
    before = after
  }
  return {
    asOf: asOf(last.head()),
    now: nowWire(range),
    ...spanWire(books, range),
    bucket: range.bucket,
    buckets,
    totals: {
      ...activityBetween(first.totals, last.totals),
      ...furtherBetween(first.totals, last.totals),
    },
  }
}

/** Amounts of each bucket by kind, without those that are zero. */
function partsByKind(
  ends: readonly AsOfTotals[],
  figure: KindFigure,
): readonly ReadonlyMap<string, Amount>[] {
  const sums = ends.map(({ totals }) => totals.byKind(figure))
  return sums.slice(1).map((after, index) => {
    const part = new Map<string, Amount>()
    for (const [kind, sum] of after) {
      const amount = subtract(sum, sums[index]?.get(kind) ?? ZERO)
      if (amount !== ZERO) part.set(kind, amount)
    }
    return part
  })
}

/** Kinds with an amount in any bucket, in alphabetical order. */
function kindsIn(parts: readonly ReadonlyMap<string, Amount>[]): readonly string[] {
  return [...new Set(parts.flatMap((part) => [...part.keys()]))].toSorted()
}

/** Flows that a bucket has before its price. Literals, because an answer has thousands of amounts. */
function activityBetween(before: Totals, after: Totals): Pick<FlowFigures, KindFigure> {
  return {
    spentOnPlay: amountBetween(before, after, 'spentOnPlay'),
    paidInPrizes: amountBetween(before, after, 'paidInPrizes'),
    burned: amountBetween(before, after, 'burned'),
  }
}

/** Flows that a bucket has after its price. */
function furtherBetween(before: Totals, after: Totals): Omit<FlowFigures, KindFigure> {
  return {
    deposited: amountBetween(before, after, 'deposited'),
    sponsored: amountBetween(before, after, 'sponsored'),
    refunded: amountBetween(before, after, 'refunded'),
    withdrawn: amountBetween(before, after, 'withdrawn'),
    expired: amountBetween(before, after, 'expired'),
    paidInLoyalty: amountBetween(before, after, 'paidInLoyalty'),
  }
}

function amountBetween(before: Totals, after: Totals, figure: keyof FlowFigures): string {
  const [from, to] = [before.amount(figure), after.amount(figure)]
  return from === to ? NOTHING : formatAmount(subtract(to, from))
}

const NOTHING: string = formatAmount(ZERO)
