import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { billionths } from '../../protocol/amount.ts'
import { seqOf } from '../../protocol/seq.ts'
import type { AskedTransaction } from './ask-transactions.ts'
import { faultOf, isSound, placeOf } from './transaction-fault.ts'

const FINAL = { is: 'final', place: 'block 7' } as const

function transaction(change: Partial<AskedTransaction>): AskedTransaction {
  return {
    tx: 'a-transaction',
    seqs: [seqOf(3)],
    paid: billionths(2_000_000_000n),
    isRecent: false,
    verdict: FINAL,
    moved: { units: 2_000_000n, decimals: 6 },
    ...change,
  }
}

suite('a transaction', () => {
  const table: readonly (readonly [what: string, change: Partial<AskedTransaction>, fault: RegExp | null])[] =
    [
      ['is right when it is final and moved what its payouts say', {}, null],
      ['is right when it moved more', { moved: { units: 2_000_001n, decimals: 6 } }, null],
      [
        'is wrong when it moved less',
        { moved: { units: 1_999_999n, decimals: 6 } },
        /^payouts of 2\.000000000 name its transaction, in which the payer moved 1\.999999000$/,
      ],
      [
        'is wrong when it failed, however recent it is',
        { isRecent: true, verdict: { is: 'failed', place: 'slot 9', reason: 'x' } },
        /^its transaction failed on the chain \(slot 9\)$/,
      ],
      ['is wrong when it waits', { verdict: { is: 'waiting' } }, /^its transaction is not final$/],
      ['is wrong when nobody knows it', { verdict: { is: 'unknown' } }, /^no server that was asked knows/],
      ['may wait while it is recent', { isRecent: true, verdict: { is: 'waiting' } }, null],
      ['may be unknown while it is recent', { isRecent: true, verdict: { is: 'unknown' } }, null],
      ['is not wrong without a sure answer', { verdict: { is: 'unsure' } }, null],
    ]
  for (const [what, change, fault] of table) {
    test(what, () => {
      const found = faultOf(transaction(change))
      if (fault === null) assert.equal(found, null)
      else assert.match(found ?? '', fault)
    })
  }

  test('is checked when its amount is known, if any payout names it and amounts are compared', () => {
    const unknown = { moved: null }
    assert.ok(isSound(transaction({}), true))
    assert.ok(isSound(transaction(unknown), false))
    assert.ok(!isSound(transaction(unknown), true))
    assert.ok(!isSound(transaction({ ...unknown, paid: billionths(1n) }), true))
    assert.ok(isSound(transaction({ ...unknown, paid: billionths(0n) }), true))
    assert.ok(!isSound(transaction({ verdict: { is: 'unsure' } }), false))
    assert.ok(!isSound(transaction({ moved: { units: 1n, decimals: 6 } }), true))
  })

  test('is placed by five of its seqs at most', () => {
    const seqs = [1, 2, 3, 4, 5, 6, 7].map(seqOf)
    assert.equal(placeOf(seqs.slice(0, 1)), 'seq 1')
    assert.equal(placeOf(seqs.slice(0, 5)), 'seq 1, 2, 3, 4, 5')
    assert.equal(placeOf(seqs.slice(0, 6)), 'seq 1, 2, 3, 4, 5 and 1 more')
    assert.equal(placeOf(seqs), 'seq 1, 2, 3, 4, 5 and 2 more')
  })
})
