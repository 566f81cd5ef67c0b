import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DAY_MS, msOf } from '../../src/protocol/moment.ts'
import { openAuditor } from './draft-auditor.ts'
import { history } from '../../sim/history.ts'
import type { ImportDraft } from '../../sim/import-draft.ts'

const FROM = Date.UTC(2026, 8, 14)
const drafts = [...history({ seed: 'auditor', from: msOf(FROM), to: msOf(FROM + 30 * DAY_MS), scale: 0.3 })]

/** Drafts with the first one of a name changed, or removed (null). Refs are renumbered, so that this is the only fault. */
function spoiled(name: string, spoil: (draft: ImportDraft) => ImportDraft | null): readonly ImportDraft[] {
  const index = drafts.findIndex((draft) => `${draft.type}/${draft.kind}` === name)
  const draft = drafts[index]
  assert.ok(draft !== undefined, `no ${name} in the history`)
  const other = spoil(draft)
  return drafts.toSpliced(index, 1, ...(other === null ? [] : [other]))
}

function audit(all: readonly ImportDraft[]): void {
  const auditor = openAuditor()
  all.forEach((draft, index) => auditor.take({ ...draft, ref: `r-${index + 1}` }))
}

suite('the auditor of the tests', () => {
  test('accepts drafts that keep every rule', () => audit(drafts))

  const faults: readonly (readonly [string, string, (draft: ImportDraft) => ImportDraft | null])[] = [
    ['a contest never opened', 'contest/opened', () => null],
    ['a contest never closed', 'contest/closed', () => null],
    ['a payout left out', 'payout/voter_share', () => null],
    ['a prize larger than its pool', 'prize/winner', (draft) => ({ ...draft, kots: '999999999.000000000' })],
    ['a payout without its transaction', 'payout/winner', ({ tx: _tx, ...draft }) => draft],
    ['an amount with eight decimals', 'play/vote', (draft) => ({ ...draft, kots: '1.00000000' })],
    ['a moment that goes back', 'contest/closed', (draft) => ({ ...draft, at: '2026-09-01T00:00:00.000Z' })],
    ['a price without its price', 'price/usd', ({ details: _details, ...draft }) => draft],
    ['a correction of another amount', 'correction/play', (draft) => ({ ...draft, kots: '-1.000000000' })],
    ['a restatement of an event that is not cancelled', 'correction/play', () => null],
    ['a play of no contest', 'play/vote', ({ contestId: _id, ...draft }) => draft],
    ['an empty treasury', 'treasury/deposit', () => null],
  ]
  for (const [what, name, spoil] of faults) {
    test(`refuses ${what}`, () => assert.throws(() => audit(spoiled(name, spoil)), Error))
  }
})
