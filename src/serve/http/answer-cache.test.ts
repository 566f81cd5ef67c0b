import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openAnswerCache } from './answer-cache.ts'

const answer = (bytes: number) => ({ body: new Uint8Array(bytes), headers: {} })

suite('the answers kept', () => {
  test('are those used last, within their bytes', () => {
    const cache = openAnswerCache(300)
    for (const key of ['a', 'b', 'c']) cache.set(key, answer(100))
    assert.ok(cache.get('a') !== undefined)
    cache.set('d', answer(100))
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((key) => cache.get(key) !== undefined),
      [true, false, true, true],
    )
  })

  test('are at most so many, however small', () => {
    const cache = openAnswerCache()
    for (let index = 0; index < 300; index += 1) cache.set(String(index), answer(0))
    assert.equal(cache.get('43'), undefined)
    assert.ok(cache.get('44') !== undefined)
  })

  test('may be as long as ten thousand contests are, and no longer than a quarter of all', () => {
    const cache = openAnswerCache()
    const longest = 8 * 1024 * 1024
    for (const key of ['a', 'b', 'c', 'd', 'e']) cache.set(key, answer(longest))
    cache.set('f', answer(longest + 1))
    assert.deepEqual(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => cache.get(key) !== undefined),
      [false, true, true, true, true, false],
    )
  })

  test('count once when they are kept again, and not at all when they are too large', () => {
    const cache = openAnswerCache(250)
    for (let index = 0; index < 9; index += 1) cache.set('a', answer(100))
    cache.set('b', answer(100))
    cache.set('c', answer(251))
    assert.ok(cache.get('a') !== undefined && cache.get('b') !== undefined)
    assert.equal(cache.get('c'), undefined)
  })
})
