import { ZERO } from '../../protocol/amount.ts'
import { assert } from '../../protocol/brand.ts'
import type { Entry } from '../../protocol/event.ts'
import type { ContestStatus } from '../../protocol/enumerations.ts'
import { type RuleKind, ruleKind } from '../../protocol/rules.ts'
import type { ContestState } from './contest.ts'
import type { Effect } from './ledger.ts'

/** Status after each kind of `contest` event; null leaves it unchanged. */
const STATUS_AFTER: Readonly<Record<RuleKind<'contest'>, ContestStatus | null>> = {
  scheduled: 'upcoming',
  rescheduled: null,
  renamed: null,
  opened: 'running',
  closed: 'paying',
  cancelled: 'paying',
  paid: 'paid',
}

/**
 * Returns the contest with its status and times after the event. A contest that was never scheduled starts with its
 * first event. That happens only when the operator publishes events out of order.
 */
export function moveContest(before: ContestState | undefined, effect: Effect): ContestState {
  const contest = before ?? unplanned(effect.entry)
  const { event, details } = effect.entry
  if (event.type !== 'contest') return contest
  const kind = ruleKind('contest', event.kind)
  if (kind === undefined) throw new Error(`contest event ${event.seq} is of an unknown kind`)
  const status = STATUS_AFTER[kind] ?? contest.status
  switch (kind) {
    case 'scheduled':
    case 'rescheduled': {
      const opensAt = details?.opensAt
      assert(opensAt !== undefined, `contest event ${event.seq} has no planned opening`)
      const closesAt = details?.closesAt ?? null
      return { ...contest, status, title: details?.title ?? contest.title, opensAt, closesAt }
    }
    case 'renamed':
      return { ...contest, title: details?.title ?? contest.title }
    case 'opened':
      return { ...contest, status, openedAt: event.atMs }
    case 'closed':
      return { ...contest, status, closedAt: event.atMs }
    case 'cancelled':
      return { ...contest, status, closedAt: event.atMs, cancelledAt: event.atMs }
    case 'paid':
      return { ...contest, status, paidAt: event.atMs }
  }
}

function unplanned(entry: Entry): ContestState {
  const { contestId, seq, atMs } = entry.event
  assert(contestId !== null, `event ${seq} has no contest`)
  return {
    id: contestId,
    title: null,
    status: 'upcoming',
    scheduledSeq: seq,
    lastSeq: seq,
    opensAt: atMs,
    closesAt: null,
    openedAt: null,
    closedAt: null,
    paidAt: null,
    cancelledAt: null,
    entries: 0n,
    plays: 0n,
    spentOnPlay: ZERO,
    poolIn: new Map(),
    poolOut: new Map(),
    prizes: new Map(),
  }
}
