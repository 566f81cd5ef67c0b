import assert from 'node:assert/strict'
import { base58 } from '@scure/base'
import { type DraftSource, parseDraft } from '../../src/publish/admission/grammar.ts'
import type { DraftRefusal } from '../../src/publish/admission/refusal.ts'

/** Sources of drafts: a publish request, the same on a chain with opaque transactions, and an import file. */
export const PUBLISHING: DraftSource = { chain: 'solana', mode: 'publish' }
export const OPAQUE: DraftSource = { chain: 'opaque', mode: 'publish' }
export const FILE: DraftSource = { chain: 'opaque', mode: 'import' }

export const TX: string = base58.encode(new Uint8Array(64).fill(7))
export const ADDRESS: string = base58.encode(new Uint8Array(32).fill(7))
export const DIGEST: string = `sha256:${'0123456789abcdef'.repeat(4)}`
/** Drafts that are accepted as they are, or with details of their tests. */
export const PLAY = { ref: 'r1', type: 'play', kind: 'entry', contestId: 7, kots: '12.5' }
export const PLANNED = { ref: 'r', type: 'contest', kind: 'scheduled', contestId: 7 }
export const TIMES = { opensAt: '2026-10-01', closesAt: '2026-11-01T12:00Z' }
export const PAYOUT: Readonly<Record<string, unknown>> = {
  ref: 'r',
  type: 'payout',
  kind: 'winner',
  contestId: 7,
  kots: '1',
  tx: TX,
}
export const INPUT = { ref: 'r', type: 'loyalty', kind: 'input' }
export const CORRECTION = {
  ref: 'r',
  type: 'correction',
  kind: 'play',
  contestId: 7,
  kots: '-12.5',
  details: { corrects: 3 },
}

/** The refusal of a draft. Fails when it is accepted. */
export function refused(value: unknown, source: DraftSource = PUBLISHING): DraftRefusal {
  const outcome = parseDraft(value, source)
  assert.ok(!outcome.ok, 'is accepted')
  return outcome
}
