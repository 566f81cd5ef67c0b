import { parseDraftAmount } from '../../src/protocol/amount.ts'
import type { Details } from '../../src/protocol/details.ts'
import type { Draft } from '../../src/protocol/draft.ts'
import { DAY_MS, HOUR_MS, type Ms, msOf, parseMonth } from '../../src/protocol/moment.ts'
import type { EventType } from '../../src/protocol/rules.ts'
import { contestIdOf } from '../../src/protocol/seq.ts'

/** Moment of the first event of the stage's story. The present is two days later. */
export const LAUNCH: Ms = msOf(Date.UTC(2026, 9, 1))

/** An event of a story, before the log appends it. */
export type StoryEvent = Readonly<{
  type: EventType
  kind: string
  contestId?: number
  kots?: string
  tx?: string
  details?: Details
}>

const MONTH = parseMonth('2026-09') ?? undefined

/** Default story: a contest up to its prizes, a planned contest, and a scheduled loyalty month. */
export const API_STORY: readonly StoryEvent[] = [
  { type: 'treasury', kind: 'deposit', kots: '1000' },
  plan(1, 'First', HOUR_MS),
  { type: 'contest', kind: 'opened', contestId: 1 },
  { type: 'play', kind: 'entry', contestId: 1, kots: '10.5' },
  { type: 'play', kind: 'vote', contestId: 1, kots: '2.25' },
  { type: 'pool', kind: 'top_up', contestId: 1, kots: '100' },
  { type: 'contest', kind: 'closed', contestId: 1 },
  { type: 'prize', kind: 'winner', contestId: 1, kots: '60', details: { claim: true } },
  { type: 'prize', kind: 'voter_share', contestId: 1, kots: '40' },
  { type: 'payout', kind: 'voter_share', contestId: 1, kots: '15', tx: 'transaction-0001' },
  { type: 'burn', kind: 'platform_income', kots: '1.000000001' },
  plan(2, null, 5 * DAY_MS),
  ...(MONTH === undefined
    ? []
    : [
        {
          type: 'loyalty',
          kind: 'scheduled',
          details: { month: MONTH, paysAt: msOf(LAUNCH + 9 * DAY_MS) },
        } as const,
      ]),
]

/** The plan of a contest that opens `opensInMs` after the launch and lasts a day. */
export function plan(id: number, title: string | null, opensInMs: number): StoryEvent {
  const opensAt = msOf(LAUNCH + opensInMs)
  const details = { ...(title === null ? {} : { title }), opensAt, closesAt: msOf(opensAt + DAY_MS) }
  return { type: 'contest', kind: 'scheduled', contestId: id, details }
}

/** A contest that opens this long after the launch, without an announced end. */
export function endless(contestId: number, opensInMs: number): StoryEvent {
  const details = { title: `Endless ${contestId}`, opensAt: msOf(LAUNCH + opensInMs) }
  return { type: 'contest', kind: 'scheduled', contestId, details }
}

/** Contest 1, planned for an hour after the launch, that has closed with a pool for its prizes. */
export function closedContest(pool: string, deposit: string = pool): readonly StoryEvent[] {
  return [
    { type: 'treasury', kind: 'deposit', kots: deposit },
    plan(1, 'First', HOUR_MS),
    { type: 'contest', kind: 'opened', contestId: 1 },
    { type: 'pool', kind: 'top_up', contestId: 1, kots: pool },
    { type: 'contest', kind: 'closed', contestId: 1 },
  ]
}

/** The draft of an event. */
export function storyDraft(event: StoryEvent): Draft {
  const kots = event.kots === undefined ? null : (parseDraftAmount(event.kots) ?? null)
  const contestId = event.contestId === undefined ? null : contestIdOf(event.contestId)
  const { type, kind, tx = null, details = null } = event
  return { ref: null, atMs: null, type, kind, contestId, kots, tx, details }
}
