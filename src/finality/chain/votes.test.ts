import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import type { Vote } from './tx-verdict.ts'
import { agreedAmong, verdictOf } from './votes.ts'

const final = (slot: number): Vote => ({ is: 'final', place: `slot ${slot}` })
const failed = (slot: number, reason = 'error'): Vote => ({ is: 'failed', place: `slot ${slot}`, reason })
const waiting: Vote = { is: 'waiting', stage: 'processed' }
const unknown: Vote = { is: 'unknown' }

const VERDICTS: readonly (readonly [meaning: string, votes: readonly Vote[], verdict: string])[] = [
  ['the word of the only server counts', [final(1)], 'final'],
  ['the only server does not know it', [unknown], 'unknown'],
  ['the only server does not answer', [null], 'unsure'],
  ['two of two agree', [final(1), final(1)], 'final'],
  ['one of two does not answer', [final(1), null], 'unsure'],
  ['one of two does not know it: null is no vote', [final(1), unknown], 'unsure'],
  ['one of two is behind', [final(1), waiting], 'waiting'],
  ['two name different slots', [final(1), final(2)], 'unsure'],
  ['two agree on the slot and not on the outcome', [final(1), failed(1)], 'unsure'],
  ['two of three agree, and one names another slot', [final(1), final(2), final(1)], 'final'],
  ['two of three agree, and one calls it failed', [failed(1), final(1), final(1)], 'final'],
  ['two of three agree, and one is pruned', [final(1), unknown, final(1)], 'final'],
  ['two of three agree that it failed, with other words', [failed(1, 'a'), failed(1, 'b'), null], 'failed'],
  ['one of three calls it final, and two wait', [final(1), waiting, waiting], 'waiting'],
  ['one of three calls it final, and two do not know it', [final(1), unknown, unknown], 'unsure'],
  ['nobody of three knows it', [unknown, unknown, null], 'unknown'],
  ['one of three does not know it, and nobody else answers', [unknown, null, null], 'unsure'],
  ['nobody of three answers', [null, null, null], 'unsure'],
  ['two pairs of four contradict each other', [final(1), final(1), failed(1), failed(1)], 'unsure'],
]

suite('a verdict', () => {
  for (const [meaning, votes, verdict] of VERDICTS) {
    test(`is ${verdict} when ${meaning}`, () => assert.equal(verdictOf(votes).is, verdict))
  }

  const anyVote: fc.Arbitrary<Vote> = fc.oneof(
    fc.constantFrom(null, waiting, unknown),
    fc.integer({ min: 1, max: 3 }).map(final),
    fc.integer({ min: 1, max: 3 }).map((slot) => failed(slot)),
  )

  test('is never a false one while at most one of three or more servers lies', () => {
    const truth = fc.constantFrom(unknown, waiting, final(1), failed(1))
    fc.assert(
      fc.property(
        truth,
        anyVote,
        fc.array(fc.nat(3), { minLength: 2, maxLength: 7 }),
        fc.nat(),
        (is, lie, honest, at) => {
          // An honest server says the truth, is behind, does not know the transaction, or does not answer.
          const late = is === unknown ? unknown : waiting
          const votes = honest.map((state) => [is, late, unknown, null][state] ?? null)
          const verdict = verdictOf(votes.toSpliced(at % (votes.length + 1), 0, lie))
          if (verdict.is === 'final' || verdict.is === 'failed') assert.deepEqual(verdict, is)
        },
      ),
      { numRuns: 5_000 },
    )
  })

  test('is the truth whenever two honest servers see it, and at most one of three lies', () => {
    fc.assert(
      fc.property(fc.constantFrom(final(1), failed(1)), anyVote, fc.nat(2), (is, lie, at) => {
        assert.deepEqual(verdictOf([is, is].toSpliced(at, 0, lie)), is)
      }),
    )
  })
})

suite('an amount', () => {
  test('needs two servers that agree, or the only one', () => {
    const key = (value: bigint): string => `${value}`
    assert.equal(agreedAmong([5n], key), 5n)
    assert.equal(agreedAmong([5n, 5n], key), 5n)
    assert.equal(agreedAmong([5n, null], key), null)
    assert.equal(agreedAmong([5n, 6n, 5n], key), 5n)
    assert.equal(agreedAmong([5n, 6n, 7n], key), null)
    assert.equal(agreedAmong([5n, 6n, 5n, 6n], key), null)
  })
})
