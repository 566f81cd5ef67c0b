import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openAnswerCache } from './answer-cache.ts'

const answer = (bytes: number) => ({ body: new Uint8Array(bytes), headers: {} })

suite('an answer cache', () => {
  test('keeps the answers used last, within its bytes', () => {
    const cache = openAnswerCache(300)
    for (const key of ['a', 'b', 'c']) cache.set(key, answer(100))
    assert.ok(cache.get('a') !== undefined)
    cache.set('d', answer(100))
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((key) => cache.get(key) !== undefined),
      [true, false, true, true],
    )
  })

  test('keeps 256 answers at most, however small', () => {
    const cache = openAnswerCache()
    for (let index = 0; index < 300; index += 1) cache.set(String(index), answer(0))
    assert.equal(cache.get('43'), undefined)
    assert.ok(cache.get('44') !== undefined)
  })

  test('keeps answers as long as ten thousand contests, up to a quarter of its bytes', () => {
    const cache = openAnswerCache()
    const longest = 8 * 1024 * 1024
    for (const key of ['a', 'b', 'c', 'd', 'e']) cache.set(key, answer(longest))
    cache.set('f', answer(longest + 1))
    assert.deepEqual(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => cache.get(key) !== undefined),
      [false, true, true, true, true, false],
    )
  })

  test('counts an answer once if it is set again, and does not keep one that is too large', () => {
    const cache = openAnswerCache(250)
    for (let index = 0; index < 9; index += 1) cache.set('a', answer(100))
    cache.set('b', answer(100))
    cache.set('c', answer(251))
    assert.ok(cache.get('a') !== undefined && cache.get('b') !== undefined)
    assert.equal(cache.get('c'), undefined)
  })
})
