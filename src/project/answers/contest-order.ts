import type { Amount } from '../../protocol/amount.ts'
import type { ContestSort } from '../../protocol/enumerations.ts'
import type { Books, ContestFilter, ContestSearch, FoundContests } from '../fold/books.ts'
import { closingKey, type ContestState, outcomeOf, poolOf, prizeTotals, unpaidOf } from '../fold/contest.ts'
import { hasWords, joinWords } from './contest-words.ts'
import { contestWire } from './contests.ts'

type Compare = (a: ContestState, b: ContestState) => number

const newest: Compare = (a, b) => b.scheduledSeq - a.scheduledSeq

/** Order of contests. No two are equal, because each has a seq of its own. */
const ORDERS: Readonly<Record<ContestSort, Compare>> = {
  newest,
  closesAt: (a, b) => closingKey(a) - closingKey(b) || a.scheduledSeq - b.scheduledSeq,
  pool: byAmount(poolOf),
  prizesNotRedeemed: byAmount((contest) => unpaidOf(prizeTotals(contest))),
}

/** Largest first, then newest first. */
function byAmount(of: (contest: ContestState) => Amount): Compare {
  return (a, b) => {
    const [first, second] = [of(a), of(b)]
    return first === second ? newest(a, b) : first > second ? -1 : 1
  }
}

/** Whether a contest has one of the asked statuses and outcomes. */
export function isAsked(contest: ContestState, { statuses, outcomes }: ContestFilter): boolean {
  return (
    (statuses === null || statuses.includes(contest.status)) &&
    (outcomes === null || outcomes.includes(outcomeOf(contest)))
  )
}

/** Contests among all of them that closed in a range, the newest close first. */
export function closedAmong(
  all: Iterable<ContestState>,
  { fromMs, toMs, limit }: Parameters<Books['closedContests']>[0],
): readonly ContestState[] {
  const at = ({ closedAt }: ContestState): number => closedAt ?? -1
  return [...all]
    .filter((contest) => at(contest) >= fromMs && at(contest) < toMs)
    .toSorted((a, b) => at(b) - at(a) || newest(a, b))
    .slice(0, limit)
}

/** Finds contests among all of them, without an index. */
export function findAmong(all: Iterable<ContestState>, search: ContestSearch): FoundContests {
  const { words, sort, after, limit } = search
  const compare = ORDERS[sort]
  const contests = [...all]
  const from = contests.find(({ id }) => id === after)
  const found = contests
    .filter((contest) => isAsked(contest, search))
    .filter(({ title }) => hasWords(joinWords(title), words))
    .filter((contest) => from === undefined || compare(from, contest) < 0)
    .toSorted(compare)
  return {
    contests: found.slice(0, limit).map(contestWire),
    next: found.length > limit ? (found[limit - 1]?.id ?? null) : null,
  }
}
