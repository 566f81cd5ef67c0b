import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  BEFORE_FIRST,
  contestIdOf,
  nextSeq,
  parseContestId,
  parseSeq,
  seqOf,
} from '../../src/protocol/seq.ts'

const MAX = Number.MAX_SAFE_INTEGER

suite('a seq', () => {
  test('is 1 for the first event, and 0 before it', () => {
    assert.equal(BEFORE_FIRST, 0)
    assert.equal(nextSeq(BEFORE_FIRST), 1)
  })

  test('is an integer from 0 to 2^53−1', () => {
    for (const value of [0, 1, MAX]) assert.equal(seqOf(value), value)
    for (const value of [-1, 0.5, MAX + 1, Number.NaN]) assert.throws(() => seqOf(value), RangeError)
    assert.throws(() => nextSeq(seqOf(MAX)), RangeError)
  })

  test('is written in plain digits without a leading zero', () => {
    for (const value of [0, 1, 10, MAX]) assert.equal(parseSeq(String(value)), value)
    for (const text of ['9007199254740992', '9'.repeat(17), '01', '00', '-1', '+1', '1.0', '1e3', ' 1', ''])
      assert.equal(parseSeq(text), undefined, text)
  })
})

suite('the number of a contest', () => {
  test('is an integer from 1 to 2^53−1', () => {
    for (const value of [1, 2, MAX]) {
      assert.equal(contestIdOf(value), value)
      assert.equal(parseContestId(String(value)), value)
    }
    for (const value of [0, -1, 1.5, MAX + 1]) {
      assert.throws(() => contestIdOf(value), RangeError)
      assert.equal(parseContestId(String(value)), undefined)
    }
  })
})
