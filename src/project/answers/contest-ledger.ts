import type { Amount } from '../../protocol/amount.ts'
import { formatAmount } from '../../protocol/amount.ts'
import type { EventWire } from '../../protocol/event.ts'
import { parseEventWire } from '../../protocol/event.ts'
import { ROWS_MAX } from '../../protocol/parameters.ts'
import type { Parsed } from '../../protocol/problem.ts'
import { parsed } from '../../protocol/problem.ts'
import type { ContestLedger, PrizeLine } from '../../protocol/resources.ts'
import type { ContestId } from '../../protocol/seq.ts'
import { seqOf } from '../../protocol/seq.ts'
import { asOf } from './as-of.ts'
import type { Books } from '../fold/books.ts'
import type { ContestState, PrizeSums } from '../fold/contest.ts'
import { poolBalance, unredeemedOf } from '../fold/contest.ts'
import { contestWire, noContest } from './contests.ts'
import type { Paging } from './rows.ts'
import { pathTo, sortedByKey } from './rows.ts'

/**
 * One contest's view of the ledger: its pool, each kind of prize, and its payouts after the seq `after`. A kind
 * that a correction took back to zero stays: it was posted to, and the log shows it. Refused when there is no
 * such contest.
 */
export function contestLedger(books: Books, id: ContestId, query: Paging): Parsed<ContestLedger> {
  const found = books.contest(id)
  if (found === undefined) return noContest()
  const { after = 0, limit = ROWS_MAX } = query
  const lines = books.payoutLines(id, seqOf(after), limit + 1)
  const payouts: readonly EventWire[] = lines.slice(0, limit).map(parseEventWire)
  const last = lines.length > limit ? payouts.at(-1) : undefined
  return parsed({
    asOf: asOf(books.head),
    contest: contestWire(found),
    pool: {
      in: amountsByKind(found.poolIn),
      out: amountsByKind(found.poolOut),
      balance: formatAmount(poolBalance(found)),
    },
    prizes: sortedByKey(found.prizes).map(([kind, sums]) => prizeLine(found, kind, sums)),
    payouts,
    next:
      last === undefined
        ? null
        : pathTo(`/api/v1/contests/${id}/ledger`, { after: last.seq, limit: query.limit }),
  })
}

function amountsByKind(sums: ReadonlyMap<string, Amount>): Readonly<Record<string, string>> {
  return Object.fromEntries(sortedByKey(sums).map(([kind, amount]) => [kind, formatAmount(amount)]))
}

function prizeLine(of: ContestState, kind: string, { owed, redeemed, expired }: PrizeSums): PrizeLine {
  return {
    kind,
    owed: formatAmount(owed),
    redeemed: formatAmount(redeemed),
    expired: formatAmount(expired),
    notRedeemed: formatAmount(unredeemedOf(of, kind)),
  }
}
