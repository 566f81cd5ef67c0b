import { formatAt } from '../../protocol/moment.ts'
import { SEQ_MAX } from '../../protocol/parameters.ts'
import type { ContestStatus } from '../../protocol/enumerations.ts'
import type { ContestWire, Planned, Schedule } from '../../protocol/endpoints/contest-endpoints.ts'
import { asOf } from './as-of.ts'
import type { Books } from '../fold/books.ts'
import { paysAtOf } from '../fold/loyalty.ts'

/**
 * Planned openings of upcoming contests and closings of upcoming and running contests, soonest first, and the next
 * loyalty payment. A contest without an announced end has no closing. Includes planned moments in the past, because only
 * an event changes a contest's status.
 */
export function schedule(books: Books): Schedule {
  const upcoming = every(books, 'upcoming')
  return {
    asOf: asOf(books.head),
    opens: planned(upcoming, ({ opensAt, opensAtMs }) => ({ at: opensAt, atMs: opensAtMs })),
    closes: planned([...upcoming, ...every(books, 'running')], ({ closesAt, closesAtMs }) =>
      closesAt === null || closesAtMs === null ? null : { at: closesAt, atMs: closesAtMs },
    ),
    nextLoyaltyPayment: nextLoyaltyPayment(books),
  }
}

function every(books: Books, status: ContestStatus): readonly ContestWire[] {
  return books.contests({ statuses: [status], outcomes: null, after: null, limit: SEQ_MAX })
}

function planned(
  contests: readonly ContestWire[],
  when: (contest: ContestWire) => Pick<Planned, 'at' | 'atMs'> | null,
): readonly Planned[] {
  return contests
    .flatMap((contest) => {
      const moment = when(contest)
      return moment === null ? [] : [{ contestId: contest.id, title: contest.title, ...moment }]
    })
    .toSorted((a, b) => a.atMs - b.atMs || a.contestId - b.contestId)
}

/** Earliest scheduled month without a payment. */
function nextLoyaltyPayment(books: Books): Schedule['nextLoyaltyPayment'] {
  for (const state of books.loyalty()) {
    const paysAt = paysAtOf(state)
    if (paysAt === null || state.payouts > 0) continue
    return { month: state.month, at: formatAt(paysAt), atMs: paysAt }
  }
  return null
}
