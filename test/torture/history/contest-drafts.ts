import type { Random } from '../../../sim/random.ts'
import type { SentDraft } from './history.ts'

/** Sends a transaction to the chain, which includes it soon, late, or as failed. Returns its identifier. */
export type SendPayment = (fate: 'final' | 'late' | 'failed') => string

/**
 * A request to send. `refused`: it contradicts an earlier request of the publisher, which has been acknowledged, or its
 * transaction fails.
 */
export type PlannedRequest = Readonly<{
  drafts: readonly SentDraft[]
  expected: 'published' | 'refused'
}>

/** Contests of one publisher: at most this many. */
const CONTESTS_MAX = 100_000
const PLAYS_MAX = 5
const PLAY_REQUESTS_MAX = 4
/** Share of the places of a refused request that have one. */
const REFUSED = 0.2
/** Shares of payouts whose transaction is late, and of contests after which a transaction fails. */
const LATE = 0.2
const FAILED = 0.3
const PLAN = { opensAt: '2040-01-01', closesAt: '2040-02-01' }

/**
 * Requests of one publisher without end: one contest after another, from its plan to its payout. Each request needs
 * the books that the one before it has left. So a node that refuses one has not read what another acknowledged. The
 * first contest has every kind of request, so that a short run meets each.
 */
export function* contestRequests(
  publisher: string,
  index: number,
  random: Random,
  pay: SendPayment | null,
): Generator<PlannedRequest, never, void> {
  let sent = 0
  const draft = (type: string, kind: string, rest: Partial<SentDraft>): SentDraft => {
    sent += 1
    return { ref: `${publisher}-${sent}`, type, kind, ...rest }
  }
  /** An amount that no other draft has. */
  const amount = (): Readonly<{ kots: string }> => ({
    kots: `${sent + 1}.${String(index + 1).padStart(9, '0')}`,
  })
  const good = (...drafts: readonly SentDraft[]): PlannedRequest => ({ drafts, expected: 'published' })
  const bad = (one: SentDraft): PlannedRequest => ({ drafts: [one], expected: 'refused' })
  for (let number = 1; ; number += 1) {
    const isFirst = number === 1
    const contestId = (index + 1) * CONTESTS_MAX + number
    const opened = draft('contest', 'opened', { contestId })
    yield good(draft('contest', 'scheduled', { contestId, details: PLAN }))
    const opening = draft('pool', 'sponsor', { contestId, ...amount() })
    yield good(opened, opening)
    if (isFirst || random.chance(REFUSED)) yield bad({ ...opened, ref: `${opened.ref}-again` })
    for (let requests = random.below(PLAY_REQUESTS_MAX); requests > 0; requests -= 1) {
      const plays = random.between(1, PLAYS_MAX)
      yield good(...Array.from({ length: plays }, () => draft('play', 'entry', { contestId, ...amount() })))
    }
    const pool = draft('pool', 'sponsor', { contestId, ...amount() })
    yield good(pool)
    // The same ref with another content.
    if (isFirst || random.chance(REFUSED))
      yield bad({ ...pool, kots: `0.${String(index + 1).padStart(9, '0')}` })
    yield good(draft('contest', 'closed', { contestId }))
    // The late play of a closed contest.
    if (isFirst || random.chance(REFUSED)) yield bad(draft('play', 'entry', { contestId, ...amount() }))
    const prize = draft('prize', 'winner', { contestId, kots: pool.kots ?? '' })
    yield good(prize)
    const tx = pay?.(isFirst || random.chance(LATE) ? 'late' : 'final') ?? `transaction:${prize.ref}`
    yield good(draft('payout', 'winner', { contestId, kots: pool.kots ?? '', tx }))
    yield good(draft('pool', 'returned', { contestId, kots: opening.kots ?? '' }))
    yield good(draft('contest', 'paid', { contestId }))
    if (pay !== null && (isFirst || random.chance(FAILED)))
      yield bad(draft('treasury', 'deposit', { ...amount(), tx: pay('failed') }))
  }
}
