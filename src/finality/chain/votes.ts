import type { Settled, TxVerdict, Vote } from './tx-verdict.ts'

/** Number of servers that must agree, for this number of votes. */
export const quorumOf = (votes: readonly unknown[]): number => (votes.length === 1 ? 1 : 2)

/**
 * Answer that enough servers gave: one of one, two of more. Null without such an answer, and when there are several.
 */
export function agreedAmong<T>(votes: readonly (T | null)[], keyOf: (vote: T) => string): T | null {
  const given = votes.filter((vote) => vote !== null)
  const agreed = [...Map.groupBy(given, keyOf).values()].filter((same) => same.length >= quorumOf(votes))
  return agreed.length === 1 ? (agreed[0]?.[0] ?? null) : null
}

export const isSettled = (vote: Vote | TxVerdict): vote is Settled =>
  vote?.is === 'final' || vote?.is === 'failed'
export const settledKey = ({ is, place }: Settled): string => `${is} ${place}`

/** Verdict of all configured servers about one transaction. `votes` has one vote for each of them. */
export function verdictOf(votes: readonly Vote[]): TxVerdict {
  const settled = votes.filter(isSettled)
  const agreed = agreedAmong(
    votes.map((vote) => (isSettled(vote) ? vote : null)),
    settledKey,
  )
  if (agreed !== null) return agreed
  if (new Set(settled.map(settledKey)).size > 1) return { is: 'unsure' }
  const quorum = quorumOf(votes)
  const waiting = votes.filter((vote) => vote?.is === 'waiting').length
  if (waiting + settled.length >= quorum) return { is: 'waiting' }
  const unknown = votes.filter((vote) => vote?.is === 'unknown').length
  return unknown >= quorum && waiting + settled.length === 0 ? { is: 'unknown' } : { is: 'unsure' }
}
