import { type Amount, formatAmount } from '../../protocol/amount.ts'
import { type EventWire, parseEventWire } from '../../protocol/event.ts'
import { ROWS_MAX } from '../../protocol/parameters.ts'
import type { ContestLedger, PrizeLine } from '../../protocol/endpoints/contest-endpoints.ts'
import { seqOf } from '../../protocol/seq.ts'
import { asOf, sortedByKey } from './as-of.ts'
import type { Books } from '../fold/books.ts'
import { type ContestState, poolBalance, type PrizeSums, unpaidOf } from '../fold/contest.ts'
import { contestWire } from './contests.ts'
import { type Paging, pathTo } from './paging.ts'

/**
 * Ledger of one contest: its pool, each kind of prize, and its payouts after the seq `after`. Includes kinds that a
 * correction took back to zero.
 */
export function contestLedger(books: Books, found: ContestState, query: Paging): ContestLedger {
  const { after = 0, limit = ROWS_MAX } = query
  const lines = books.payoutLines(found.id, seqOf(after), limit + 1)
  const payouts: readonly EventWire[] = lines.slice(0, limit).map(parseEventWire)
  const last = lines.length > limit ? payouts.at(-1) : undefined
  return {
    asOf: asOf(books.head),
    contest: contestWire(found),
    pool: {
      in: amountsByKind(found.poolIn),
      out: amountsByKind(found.poolOut),
      balance: formatAmount(poolBalance(found)),
    },
    prizes: sortedByKey(found.prizes).map(([kind, sums]) => prizeLine(kind, sums)),
    payouts,
    next:
      last === undefined
        ? null
        : pathTo(`/api/v1/contests/${found.id}/ledger`, { after: last.seq, limit: query.limit }),
  }
}

function amountsByKind(sums: ReadonlyMap<string, Amount>): Readonly<Record<string, string>> {
  return Object.fromEntries(sortedByKey(sums).map(([kind, amount]) => [kind, formatAmount(amount)]))
}

function prizeLine(kind: string, sums: PrizeSums): PrizeLine {
  return {
    kind,
    owed: formatAmount(sums.owed),
    redeemed: formatAmount(sums.paid),
    expired: formatAmount(sums.expired),
    notRedeemed: formatAmount(unpaidOf(sums)),
  }
}
