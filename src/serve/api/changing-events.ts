import type { KindSeen, Snapshot } from '../../log/store/reader.ts'
import type { Books } from '../../project/fold/books.ts'
import { causeType, type ChangedList, type RuleKind, ruleKind, TYPE_TERMS } from '../../protocol/rules.ts'
import { BEFORE_FIRST, contestIdOf, nextSeq, type Seq } from '../../protocol/seq.ts'

// Events that can change an answer. The answer's ETag names the newest of them, so that other events keep the ETag. The
// kind of a correction is the type of the corrected event, so a corrected payout may be of any kind.

type Kind = Pick<KindSeen, 'type' | 'kind'>

const CHANGED_BY_PAYOUT: Readonly<Record<RuleKind<'payout'>, readonly ChangedList[]>> = {
  refund: ['contests', 'prizes'],
  loyalty: ['loyalty', 'schedule'],
  '*': ['contests', 'prizes', 'waits'],
}

/** Seq of the newest event of the kinds that pass `isMeant`; 0 when there is none. */
export function newestOf(kinds: readonly KindSeen[], isMeant: (kind: Kind) => boolean): Seq {
  return kinds.filter(isMeant).reduce((newest, { lastSeq }) => later(newest, lastSeq), BEFORE_FIRST)
}

/**
 * Seq of the newest event that can change a list. Any type of event can be the first of a contest that was never
 * scheduled, and then it changes the schedule. Any type can be the first of the log, whose moment is in the waits.
 */
export function newestChange(
  { kinds, newestMove }: Pick<Snapshot, 'kinds' | 'newestMove'>,
  list: ChangedList,
): Seq {
  const newest = newestOf(kinds(), ({ type, kind }) => {
    const changes =
      type === 'payout'
        ? CHANGED_BY_PAYOUT[ruleKind(type, kind)]
        : TYPE_TERMS[causeType({ type, kind })].changes
    return changes.includes(list)
  })
  const move = list === 'schedule' ? newestMove() : BEFORE_FIRST
  const launch = list === 'waits' && kinds().length > 0 ? nextSeq(BEFORE_FIRST) : BEFORE_FIRST
  return later(newest, later(move, launch))
}

/** Seq of a contest's newest event; 0 when there is no such contest. */
export function newestOfContest(books: Books, contestId: number): Seq {
  return books.contest(contestIdOf(contestId))?.lastSeq ?? BEFORE_FIRST
}

/** Lower of two seqs. If they are the newest events of two filters, no event newer than the lower one passes both. */
export function earlier(a: Seq, b: Seq): Seq {
  return a < b ? a : b
}

function later(a: Seq, b: Seq): Seq {
  return a > b ? a : b
}
