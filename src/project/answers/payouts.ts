import { formatAmount } from '../../protocol/amount.ts'
import { recordOf } from '../../protocol/brand.ts'
import { floorTo, formatAt, MINUTE_MS, moment, type Ms } from '../../protocol/moment.ts'
import { ROWS_MAX } from '../../protocol/parameters.ts'
import type { Payouts, Unpaid } from '../../protocol/endpoints/contest-endpoints.ts'
import { UNPAID_STATUSES } from '../../protocol/enumerations.ts'
import type { ContestId } from '../../protocol/seq.ts'
import { asOf, atOf } from './as-of.ts'
import type { Books } from '../fold/books.ts'
import { type Paging, pathTo } from './paging.ts'
import { statusOf, type UnpaidRow } from '../fold/unpaid.ts'

/** Query for unpaid prizes. `after` is the seq of the first prize in the last row of the page before. */
type PayoutsQuery = Paging &
  Readonly<{ contestId?: readonly ContestId[] | undefined; kind?: readonly string[] | undefined }>

/**
 * Unpaid prizes, a row for each contest, kind and terms, in the order of each row's first prize. `totals` sums all rows
 * of the query, not only those of the page. `now` is floored to the minute.
 */
export function payouts(books: Books, query: PayoutsQuery, now: Ms): Payouts {
  const present = floorTo(now, MINUTE_MS)
  const { contestId, kind, after = 0, limit = ROWS_MAX } = query
  const filter = { contestIds: contestId ?? null, kinds: kind ?? null }
  // One row more than the page shows whether another page follows.
  const rows = books.unpaid({ ...filter, after, limit: limit + 1 })
  const totals = books.unpaidTotals(filter, present)
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return {
    asOf: asOf(books.head),
    now: moment(present),
    unpaid: rows.slice(0, limit).map((row) => unpaidWire(row, present)),
    totals: recordOf(UNPAID_STATUSES, (status) => formatAmount(totals[status])),
    next:
      last === undefined
        ? null
        : pathTo('/api/v1/payouts', {
            contestId: contestId?.join(','),
            kind: kind?.join(','),
            after: last.first,
            limit: query.limit,
          }),
  }
}

function unpaidWire({ contestId, kind, terms, unpaid }: UnpaidRow, now: Ms): Unpaid {
  const { unlocksAt, reviewUntil, availableAt } = terms
  return {
    contestId,
    kind,
    kots: formatAmount(unpaid),
    status: statusOf(terms, now),
    unlocksAt: atOf(unlocksAt),
    unlocksAtMs: unlocksAt,
    reviewUntil: atOf(reviewUntil),
    reviewUntilMs: reviewUntil,
    availableAt: formatAt(availableAt),
    availableAtMs: availableAt,
  }
}
