import type { KindSeen } from '../../log/store/reader.ts'
import type { Books } from '../../project/fold/books.ts'
import type { EventType } from '../../protocol/rules.ts'
import type { Seq } from '../../protocol/seq.ts'
import { BEFORE_FIRST, contestIdOf } from '../../protocol/seq.ts'

// Which events can change which answer. An answer's ETag names the newest of them, so that events elsewhere leave it as
// it is. A correction has the type of what it corrects as its kind; one of a payout may be of any payout.

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
 * Of the newest events of two sorts the earlier: no event of both came after it. One that is of both moves it to its
 * own seq.
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

/** Planned times, states, and the loyalty payments to come. */
export function changesSchedule(kind: Kind): boolean {
  return kind.type === 'contest' || changesLoyalty(kind)
}

/** The type whose figures an event moves: of a correction that of the corrected event. */
function causeOf({ type, kind }: Kind): string {
  return type === 'correction' ? kind : type
}
