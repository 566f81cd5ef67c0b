import type { SentDraft } from './held-stage.ts'

const TIMES = { opensAt: '2026-10-02T00:00:00.000Z', closesAt: '2026-10-03T00:00:00.000Z' }

/** A `contest` draft with the ref `kind-contestId`. */
export function contest(kind: string, contestId = 1): SentDraft {
  const details = kind === 'scheduled' || kind === 'rescheduled' ? { details: TIMES } : {}
  return { ref: `${kind}-${contestId}`, type: 'contest', kind, contestId, ...details }
}

/** A draft of contest 1, such as `prize/winner`. */
export function moved(ref: string, name: string, kots: string, more: Partial<SentDraft> = {}): SentDraft {
  const [type = '', kind = ''] = name.split('/')
  return { ref, type, kind, contestId: 1, kots, ...more }
}

/** A draft of contest 1 that names a transaction. */
export function sent(tx: string, name: string, kots: string, more: Partial<SentDraft> = {}): SentDraft {
  return moved(tx, name, kots, { tx, ...more })
}

const DEPOSIT = { ref: 'deposit', type: 'treasury', kind: 'deposit', kots: '1000' }
/** Drafts after which contest 1 runs, and drafts after which it is paying. Its pool has 100. */
export const RUNNING: readonly SentDraft[] = [
  DEPOSIT,
  contest('scheduled'),
  contest('opened'),
  moved('fund', 'pool/top_up', '100'),
]
export const PAYING: readonly SentDraft[] = [...RUNNING, contest('closed')]

/** Payouts of contest 1 with the refs `pay-from` and on, each with its transaction. */
export function payouts(from: number, count: number): readonly SentDraft[] {
  return Array.from({ length: count }, (_, index) => sent(`pay-${from + index}`, 'payout/winner', '0.001'))
}
