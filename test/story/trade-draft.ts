import { billionths } from '../../src/protocol/amount.ts'
import type { Draft } from '../../src/protocol/draft.ts'

/** A draft of a trade of one billionth of a KOTS, as the queue of commits takes it. */
export function tradeDraft(ref: string, more: Partial<Draft> = {}): Draft {
  const facts = { atMs: null, type: 'trade', kind: 'buy', contestId: null, tx: null, details: null } as const
  return { ...facts, ref, kots: billionths(1n), ...more }
}
