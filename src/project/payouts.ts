import type { Amount } from '../protocol/amount.ts'
import { add, formatAmount, ZERO } from '../protocol/amount.ts'
import { recordOf } from '../protocol/brand.ts'
import type { Ms } from '../protocol/moment.ts'
import { floorTo, formatAt, MINUTE_MS, moment } from '../protocol/moment.ts'
import { ROWS_MAX } from '../protocol/parameters.ts'
import type { Payouts, Unpaid, UnpaidStatus } from '../protocol/resources.ts'
import { UNPAID_STATUSES } from '../protocol/resources.ts'
import { contestIdOf } from '../protocol/seq.ts'
import { asOf, atOf } from './as-of.ts'
import type { Books } from './books.ts'
import type { Lot } from './contest.ts'
import { availableAt } from './contest.ts'
import type { Paging } from './rows.ts'
import { pathTo } from './rows.ts'

/** `after` is the seq of the first prize in the last row that was read. */
export type PayoutsQuery = Paging & Readonly<{ contestId?: number | undefined }>

/** Lots of one contest and kind with equal terms; `first` is the lot with the smallest seq. */
type Row = Readonly<{ first: Lot; status: UnpaidStatus; unpaid: Amount }>

/**
 * Prizes won and not yet paid, a row per contest, kind and equal terms, in the order of each row's first prize.
 * `totals` sum every row of the question, not only those of the page. `now` is floored to the minute.
 */
export function payouts(books: Books, query: PayoutsQuery, now: Ms): Payouts {
  const present = floorTo(now, MINUTE_MS)
  const { contestId, after = 0, limit = ROWS_MAX } = query
  const rows = rowsOf(books.openLots(contestId === undefined ? null : contestIdOf(contestId)), present)
  const rest = rows.filter((row) => row.first.seq > after)
  const last = rest.length > limit ? rest[limit - 1] : undefined
  return {
    asOf: asOf(books.head),
    now: moment(present),
    unpaid: rest.slice(0, limit).map(unpaidWire),
    totals: recordOf(UNPAID_STATUSES, (status) => formatAmount(totalOf(rows, status))),
    next:
      last === undefined
        ? null
        : pathTo('/api/v1/payouts', { contestId, after: last.first.seq, limit: query.limit }),
  }
}

/** What stands of a lot in the way of its payment, at a moment. */
export function statusOf(lot: Lot, now: Ms): UnpaidStatus {
  if (lot.unpaid < ZERO) return 'overpaid'
  if (lot.unlocksAt !== null && now < lot.unlocksAt) return 'locked'
  if (lot.reviewUntil !== null && now < lot.reviewUntil) return 'in_review'
  return lot.claim ? 'awaiting_claim' : 'payable'
}

function rowsOf(lots: readonly Lot[], now: Ms): readonly Row[] {
  const rows = new Map<string, Row>()
  for (const lot of lots) {
    const status = statusOf(lot, now)
    // Equal terms give equal statuses, but for what is overpaid: that stands in a row of its own.
    const terms = [
      lot.contestId,
      lot.kind,
      lot.unlocksAt,
      lot.reviewUntil,
      availableAt(lot),
      lot.claim,
      status,
    ]
    const key = terms.join(' ')
    const row = rows.get(key)
    rows.set(key, { first: row?.first ?? lot, status, unpaid: add(row?.unpaid ?? ZERO, lot.unpaid) })
  }
  return [...rows.values()]
}

function totalOf(rows: readonly Row[], status: UnpaidStatus): Amount {
  let total = ZERO
  for (const row of rows) if (row.status === status) total = add(total, row.unpaid)
  return total
}

function unpaidWire({ first, status, unpaid }: Row): Unpaid {
  const available = availableAt(first)
  return {
    contestId: first.contestId,
    kind: first.kind,
    kots: formatAmount(unpaid),
    status,
    unlocksAt: atOf(first.unlocksAt),
    unlocksAtMs: first.unlocksAt,
    reviewUntil: atOf(first.reviewUntil),
    reviewUntilMs: first.reviewUntil,
    availableAt: formatAt(available),
    availableAtMs: available,
  }
}
