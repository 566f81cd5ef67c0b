import type { KindSeen } from '../../log/store/reader.ts'
import type { Books } from '../../project/fold/books.ts'
import type { EventType } from '../../protocol/rules.ts'
import type { Seq } from '../../protocol/seq.ts'
import { BEFORE_FIRST, contestIdOf } from '../../protocol/seq.ts'

// Predicates of the events that can change an answer. The answer's ETag names the newest of them, so other events keep
// the ETag. The kind of a correction is the type of the corrected event; a corrected payout may be of any kind.

type Kind = Pick<KindSeen, 'type' | 'kind'>

const OF_CONTESTS: ReadonlySet<string> = new Set<EventType>([
  'contest',
  'play',
  'pool',
  'prize',
  'payout',
  'expiry',
])
const OF_PRIZES: ReadonlySet<string> = new Set<EventType>(['prize', 'hold', 'payout', 'expiry'])
const OF_LOYALTY: ReadonlySet<string> = new Set<EventType>(['loyalty'])

/** Seq of the newest event of the kinds that `isMeant` picks; 0 when there is none. */
export function newestOf(kinds: readonly KindSeen[], isMeant: (kind: Kind) => boolean): Seq {
  return kinds
    .filter(isMeant)
    .reduce((newest, { lastSeq }) => (lastSeq > newest ? lastSeq : newest), BEFORE_FIRST)
}

/** Seq of a contest's newest event; 0 when there is no such contest. */
export function newestOfContest(books: Books, contestId: number): Seq {
  return books.contest(contestIdOf(contestId))?.lastSeq ?? BEFORE_FIRST
}

/**
 * The lower of two seqs. Given the newest event of each of two filters, no event that passes both is newer than the
 * lower one.
 */
export function earlier(a: Seq, b: Seq): Seq {
  return a < b ? a : b
}

export function changesContests({ type, kind }: Kind): boolean {
  return type === 'payout' ? kind !== 'loyalty' : OF_CONTESTS.has(causeOf({ type, kind }))
}

export function changesPrizes({ type, kind }: Kind): boolean {
  return type === 'payout' ? kind !== 'loyalty' : OF_PRIZES.has(causeOf({ type, kind }))
}

export function changesLoyalty({ type, kind }: Kind): boolean {
  if (type === 'payout') return kind === 'loyalty'
  const cause = causeOf({ type, kind })
  return OF_LOYALTY.has(cause) || cause === 'payout'
}

/** Whether an event can change planned times, contest states, or the next loyalty payment. */
export function changesSchedule(kind: Kind): boolean {
  return kind.type === 'contest' || changesLoyalty(kind)
}

/** Type of the event, or of the event that it corrects. */
function causeOf({ type, kind }: Kind): string {
  return type === 'correction' ? kind : type
}
