import { formatAmount } from '../../protocol/amount.ts'
import { formatAt } from '../../protocol/moment.ts'
import { ROWS_MAX } from '../../protocol/parameters.ts'
import type { Parsed } from '../../protocol/problem.ts'
import { parsed, refused } from '../../protocol/problem.ts'
import type {
  Contest as ContestAnswer,
  Contests,
  ContestStatus,
  ContestWire,
} from '../../protocol/resources.ts'
import { CONTEST_STATUSES } from '../../protocol/resources.ts'
import type { ContestId } from '../../protocol/seq.ts'
import { contestIdOf } from '../../protocol/seq.ts'
import { asOf, atOf, toCount } from './as-of.ts'
import type { Books } from '../fold/books.ts'
import type { ContestState } from '../fold/contest.ts'
import { poolOf, prizeTotals, unpaidOf } from '../fold/contest.ts'
import type { Paging } from './paging.ts'
import { pathTo } from './paging.ts'

/** Query for contests. `status` may contain `closed`, which means paying and paid; absent for every status. */
type ContestsQuery = Paging & Readonly<{ status?: readonly string[] | undefined }>

/** Contests with the given statuses, newest first, after the contest `after`; refused when that does not exist. */
export function contests(books: Books, query: ContestsQuery): Parsed<Contests> {
  const { status, limit = ROWS_MAX } = query
  const resolved = resolveCursor(books, query)
  if (!resolved.ok) return resolved
  const cursor = resolved.value
  const statuses = status === undefined ? null : statesOf(status)
  // One row more than the page holds tells whether another page follows.
  const found = books.contests({ statuses, after: cursor, limit: limit + 1 })
  const last = found.length > limit ? found[limit - 1] : undefined
  return parsed({
    asOf: asOf(books.head),
    contests: found.slice(0, limit),
    next:
      last === undefined
        ? null
        : pathTo('/api/v1/contests', { status: status?.join(','), after: last.id, limit: query.limit }),
  })
}

/** Contest after which a page begins; null for the first page. Refused when there is no such contest. */
export function resolveCursor(books: Books, { after = 0 }: Paging): Parsed<ContestId | null> {
  const cursor = after === 0 ? null : contestIdOf(after)
  if (cursor === null || books.contest(cursor) !== undefined) return parsed(cursor)
  const detail = 'The cursor names a contest that does not exist: take it from `next` of the page before.'
  const errors = [{ parameter: 'after', message: '`after` is the number of no contest.' }]
  return refused({ code: 'invalid-parameter', detail, errors })
}

/** Answer about one contest; refused when no contest has this number. */
export function contest(books: Books, id: ContestId): Parsed<ContestAnswer> {
  const found = books.contest(id)
  return found === undefined ? noContest() : parsed({ asOf: asOf(books.head), ...contestWire(found) })
}

/** Refusal of a contest that does not exist. */
export function noContest(): Parsed<never> {
  return refused({ code: 'contest-not-found', detail: 'No contest has this number.' })
}

/** Contest as answers show it. */
export function contestWire(of: ContestState): ContestWire {
  const prizes = prizeTotals(of)
  return {
    id: of.id,
    title: of.title,
    status: of.status,
    opensAt: formatAt(of.opensAt),
    opensAtMs: of.opensAt,
    closesAt: formatAt(of.closesAt),
    closesAtMs: of.closesAt,
    openedAt: atOf(of.openedAt),
    openedAtMs: of.openedAt,
    closedAt: atOf(of.closedAt),
    closedAtMs: of.closedAt,
    paidAt: atOf(of.paidAt),
    paidAtMs: of.paidAt,
    pool: formatAmount(poolOf(of)),
    entries: toCount(of.entries),
    plays: toCount(of.plays),
    spentOnPlay: formatAmount(of.spentOnPlay),
    prizesOwed: formatAmount(prizes.owed),
    prizesRedeemed: formatAmount(prizes.paid),
    prizesNotRedeemed: formatAmount(unpaidOf(prizes)),
  }
}

function statesOf(status: readonly string[]): readonly ContestStatus[] {
  const closed = status.includes('closed')
  return CONTEST_STATUSES.filter(
    (state) => status.includes(state) || (closed && (state === 'paying' || state === 'paid')),
  )
}
