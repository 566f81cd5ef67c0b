import type { DatabaseSync } from 'node:sqlite'
import { GRIDS } from '../../project/answers/bucket-grid.ts'
import { flowsByKind, KIND_MAPS } from '../../project/answers/flows.ts'
import { funds } from '../../project/answers/funds.ts'
import type { AsOfTotals, Head, LogTotals } from '../../project/fold/books.ts'
import { type Hold, type Lot, underHold } from '../../project/fold/contest.ts'
import type { Changes } from '../../project/fold/fold.ts'
import { copyTally, KIND_FIGURES, type Tally, totalsOfTally } from '../../project/fold/tally.ts'
import { type PrizeTerms, termsOf, totalsOfRows } from '../../project/fold/unpaid.ts'
import { add, type Amount, formatAmount, subtract, ZERO } from '../../protocol/amount.ts'
import { assert } from '../../protocol/brand.ts'
import { UNPAID_STATUSES } from '../../protocol/enumerations.ts'
import { boundOf, type Ms } from '../../protocol/moment.ts'
import { openInsert } from './book-file.ts'
import { valueOf } from './book-repository.ts'
import type { BookRow } from './book-rows.ts'
import { type BookTable, FLOWS_BY, FUNDS_BY_DAY, KINDS_BY_MONTH, UNPAID_BY_DAY } from './book-tables.ts'

/** Tables with a row for each day or month. Days and months are those of UTC. */
type Bucket = keyof typeof FLOWS_BY

/** Totals at the start of the day and of the month that are not over. */
export type OpenBuckets = Readonly<Record<Bucket, Readonly<{ startMs: Ms; before: Tally }>>>

/** Writer of the tables by day and by month, while the log is read in order. */
type BookPeriods = Readonly<{
  /** Whether a day ends before this moment. Then `close` must be called with all changes put. */
  isOver(atMs: Ms): boolean
  /** Writes the rows of all days and months that end at or before an event, which is not counted yet. */
  close(next: Head, tally: Tally): void
  /** Takes the changes of unpaid prizes. */
  put(changes: Pick<Changes, 'unpaid'>): void
  /** Writes the rows of the day and the month that are not over, up to the head. */
  writeOpen(head: Head, tally: Tally): void
  /** Null before the first event. */
  open(): OpenBuckets | null
}>

/** Opens the writer. `open` is that of the last commit, and `prizes` are those that are open then. */
export function openBookPeriods(
  db: DatabaseSync,
  open: OpenBuckets | null,
  prizes: Iterable<Readonly<{ lot: Lot; hold: Hold | undefined }>>,
): BookPeriods {
  const unpaid = openUnpaidSums(prizes)
  const write = openPeriodRows(db, unpaid)
  let buckets = open

  /** Bucket that contains a moment, after those before it are written. */
  function through<One extends Bucket>(
    bucket: One,
    of: OpenBuckets[One],
    next: Head,
    tally: Tally,
  ): OpenBuckets[One] {
    const grid = GRIDS[bucket]
    const until = grid.floor(momentOf(next))
    let { startMs, before } = of
    while (startMs < until) {
      write(bucket, { startMs, before }, next, tally)
      startMs = grid.shift(startMs, 1)
      before = copyTally(tally)
    }
    return { startMs, before }
  }

  return {
    isOver: (atMs) => buckets === null || atMs >= GRIDS.day.shift(buckets.day.startMs, 1),
    close(next, tally) {
      const first = momentOf(next)
      buckets ??= {
        day: { startMs: GRIDS.day.floor(first), before: copyTally(tally) },
        month: { startMs: GRIDS.month.floor(first), before: copyTally(tally) },
      }
      buckets = {
        day: through('day', buckets.day, next, tally),
        month: through('month', buckets.month, next, tally),
      }
    },
    put: unpaid.put,
    writeOpen(head, tally) {
      if (buckets === null) return
      write('day', buckets.day, head, tally)
      write('month', buckets.month, head, tally)
    },
    open: () => buckets,
  }
}

function momentOf({ atMs }: Head): Ms {
  assert(atMs !== null, 'an event has a moment')
  return atMs
}

/** Writer of the rows of one bucket. `head` is the newest event, and `tally` counts those before the bucket's end. */
type WriteBucket = (bucket: Bucket, of: OpenBuckets[Bucket], head: Head, tally: Tally) => void

function openPeriodRows(db: DatabaseSync, unpaid: UnpaidSums): WriteBucket {
  const flowRow = { day: openRow(db, FLOWS_BY.day), month: openRow(db, FLOWS_BY.month) }
  const kindRow = openRow(db, KINDS_BY_MONTH)
  const clearKinds = db.prepare(`DELETE FROM ${KINDS_BY_MONTH.name} WHERE atMs = ?`)
  const fundRow = openRow(db, FUNDS_BY_DAY)
  const unpaidRow = openRow(db, UNPAID_BY_DAY)
  return (bucket, { startMs, before }, head, tally) => {
    const toMs = GRIDS[bucket].shift(startMs, 1)
    const range = { bucket, fromMs: startMs, toMs, nowMs: null }
    const books = openTwoTotals(startMs, before, head, tally)
    const flows = flowsByKind(books, range)
    assert(flows.ok, 'one bucket has few enough kinds')
    for (const one of flows.value.buckets) {
      flowRow[bucket](one)
      if (bucket === 'day') continue
      // A correction may have made an amount of an open month zero.
      clearKinds.run(one.atMs)
      for (const figure of KIND_FIGURES) {
        for (const [kind, kots] of Object.entries(one[KIND_MAPS[figure]] ?? {}))
          kindRow({ at: one.at, atMs: one.atMs, figure, kind, kots })
      }
    }
    if (bucket === 'month') return
    for (const one of funds(books, range).buckets) {
      fundRow(one)
      const { at, atMs, complete, prizesNotRedeemed } = one
      unpaidRow({ at, atMs, complete, prizesNotRedeemed, ...unpaid.byStatus(lastMoment(toMs, head)) })
    }
  }
}

/** Last moment of a bucket; that of the head in the bucket that is not over. */
function lastMoment(toMs: Ms, head: Head): Ms {
  return boundOf(Math.min(toMs - 1, momentOf(head)))
}

/** Totals at the start of one bucket and at its end. */
function openTwoTotals(startMs: Ms, before: Tally, head: Head, tally: Tally): LogTotals {
  const totalsOf = (of: Tally): AsOfTotals => ({ seq: head.seq, head: () => head, totals: totalsOfTally(of) })
  const [first, last] = [totalsOf(before), totalsOf(tally)]
  return {
    head,
    firstAtMs: null,
    totals: () => last,
    totalsBeforeEach: (bounds) => bounds.map((bound) => (bound <= startMs ? first : last)),
  }
}

/** Opens the statement that writes an object as a row, by the names of its columns. */
function openRow(db: DatabaseSync, table: BookTable): (row: BookRow) => void {
  const put = openInsert(db, table)
  return (row) => put(table.columns.map(({ name }) => valueOf(row[name])))
}

/** Sums of unpaid prizes by the terms that decide their status. */
type UnpaidSums = Readonly<{
  put(changes: Pick<Changes, 'unpaid'>): void
  /** Sum of each status at a moment. */
  byStatus(now: Ms): Readonly<Record<string, string>>
}>

function openUnpaidSums(prizes: Iterable<Readonly<{ lot: Lot; hold: Hold | undefined }>>): UnpaidSums {
  const sums = new Map<string, { readonly terms: PrizeTerms; unpaid: Amount }>()

  function change(terms: PrizeTerms, amount: Amount): void {
    const { unlocksAt, reviewUntil, claim, overpaid } = terms
    // Prizes without a date become available at their own moments, which change no status.
    const key = `${unlocksAt},${reviewUntil},${claim},${overpaid}`
    const sum = sums.get(key) ?? { terms, unpaid: ZERO }
    sum.unpaid = add(sum.unpaid, amount)
    if (sum.unpaid === ZERO) sums.delete(key)
    else sums.set(key, sum)
  }

  for (const { lot, hold } of prizes) {
    const held = underHold(lot, hold)
    change(termsOf(held), held.unpaid)
  }
  return {
    put({ unpaid }) {
      for (const { terms, before, after } of unpaid.values())
        change(terms, subtract(after?.unpaid ?? ZERO, before?.unpaid ?? ZERO))
    },
    byStatus(now) {
      const totals = totalsOfRows(sums.values(), now)
      return Object.fromEntries(UNPAID_STATUSES.map((status) => [status, formatAmount(totals[status])]))
    },
  }
}
