import { formatAmount } from '../../protocol/amount.ts'
import { formatAt } from '../../protocol/moment.ts'
import { ROWS_MAX, TOP_ROWS_MAX } from '../../protocol/parameters.ts'
import { type Parsed, parsed, refused } from '../../protocol/problem.ts'
import type { Contests, ContestWire } from '../../protocol/endpoints/contest-endpoints.ts'
import {
  CONTEST_OUTCOMES,
  CONTEST_SORTS,
  CONTEST_STATUSES,
  type ContestStatus,
} from '../../protocol/enumerations.ts'
import { type ContestId, contestIdOf } from '../../protocol/seq.ts'
import { asOf, atOf, toCount } from './as-of.ts'
import { searchWords } from './contest-words.ts'
import type { Books, ContestSearch, FoundContests } from '../fold/books.ts'
import { type ContestState, outcomeOf, poolOf, prizeTotals, unpaidOf } from '../fold/contest.ts'
import { type Paging, pathTo } from './paging.ts'

/**
 * Query for contests. `status` may contain `closed`, which means paying and paid; absent for every status. `q` has words
 * of the title.
 */
type ContestsQuery = Paging &
  Readonly<{
    status?: readonly string[] | undefined
    outcome?: readonly string[] | undefined
    q?: string | undefined
    sort?: string | undefined
  }>

/** A query for contests that is ready to be answered. */
type ContestsAsked = Readonly<{
  status: readonly string[] | undefined
  outcome: readonly string[] | undefined
  q: string | undefined
  limit: number | undefined
  search: ContestSearch
}>

/** Whether an order shows only its top: the largest amounts, on one page. */
function isTopSort(sort: string | undefined): boolean {
  return sort === 'pool' || sort === 'prizesNotRedeemed'
}

/** Search of a query. Refused when parameters do not fit each other or name nothing. */
export function resolveContests(books: Books, query: ContestsQuery): Parsed<ContestsAsked> {
  const { status, outcome, q, limit } = query
  const sort = CONTEST_SORTS.find((one) => one === query.sort) ?? 'newest'
  const words = q === undefined ? [] : searchWords(q)
  if (q !== undefined && words.length === 0) return unfit('q', 'must contain a letter, a digit or a symbol.')
  const isTop = isTopSort(sort)
  if (isTop && query.after !== undefined) {
    return unfit('after', `does not go with \`sort=${sort}\`, which answers the largest on one page.`)
  }
  if (isTop && limit !== undefined && limit > TOP_ROWS_MAX) {
    return unfit('limit', `must be at most ${TOP_ROWS_MAX} with \`sort=${sort}\`.`)
  }
  const cursor = resolveCursor(books, query)
  if (!cursor.ok) return cursor
  const statuses = status === undefined ? null : statesOf(status)
  const search = {
    statuses,
    outcomes: outcome === undefined ? null : CONTEST_OUTCOMES.filter((one) => outcome.includes(one)),
    words,
    sort,
    after: cursor.value,
    limit: limit ?? (isTop ? TOP_ROWS_MAX : ROWS_MAX),
  }
  return parsed({ status, outcome, q, limit, search })
}

function unfit(parameter: string, rule: string): Parsed<never> {
  const message = `\`${parameter}\` ${rule}`
  return refused({ code: 'invalid-parameter', detail: message, errors: [{ parameter, message }] })
}

/**
 * Contests of a resolved query, newest first or in the order of `sort`, after the contest `after`. A search that has
 * examined its maximum of contests ends early, and `next` continues it. A search for the largest amounts is refused
 * instead.
 */
export function answerContests(
  books: Books,
  { status, outcome, q, limit, search }: ContestsAsked,
): Parsed<Contests> {
  const { words, sort } = search
  const isPlain = words.length === 0 && sort === 'newest'
  const { contests: found, next } = isPlain ? newestContests(books, search) : books.findContests(search)
  if (isTopSort(sort)) {
    if (next !== null && found.length < search.limit) {
      return unfit('q', 'finds too many contests to sort them by an amount: use longer words.')
    }
    return parsed({ asOf: asOf(books.head), contests: found, next: null })
  }
  const repeated = {
    status: status?.join(','),
    outcome: outcome?.join(','),
    q: q === undefined ? undefined : encodeURIComponent(q),
    sort: sort === 'newest' ? undefined : sort,
  }
  const path = next === null ? null : pathTo('/api/v1/contests', { ...repeated, after: next, limit })
  return parsed({ asOf: asOf(books.head), contests: found, next: path })
}

/** The newest contests, which need no list of their own. */
function newestContests(books: Books, { statuses, outcomes, after, limit }: ContestSearch): FoundContests {
  // One row more than the page shows whether another page follows.
  const found = books.contests({ statuses, outcomes, after, limit: limit + 1 })
  const next = found.length > limit ? found[limit - 1]?.id : undefined
  return { contests: found.slice(0, limit), next: next === undefined ? null : contestIdOf(next) }
}

/** Contest after which a page begins; null for the first page. Refused when there is no such contest. */
function resolveCursor(books: Books, { after = 0 }: Paging): Parsed<ContestId | null> {
  const cursor = after === 0 ? null : contestIdOf(after)
  if (cursor === null || books.contest(cursor) !== undefined) return parsed(cursor)
  const detail = 'The cursor names a contest that does not exist: take it from `next` of the page before.'
  const errors = [{ parameter: 'after', message: '`after` is the number of no contest.' }]
  return refused({ code: 'invalid-parameter', detail, errors })
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
    closesAt: atOf(of.closesAt),
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
    prizesExpired: formatAmount(prizes.expired),
    prizesNotRedeemed: formatAmount(unpaidOf(prizes)),
    outcome: outcomeOf(of),
    cancelledAt: atOf(of.cancelledAt),
    cancelledAtMs: of.cancelledAt,
  }
}

function statesOf(status: readonly string[]): readonly ContestStatus[] {
  const closed = status.includes('closed')
  return CONTEST_STATUSES.filter(
    (state) => status.includes(state) || (closed && (state === 'paying' || state === 'paid')),
  )
}
