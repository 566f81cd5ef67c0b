import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { evictedBytes, evictedCount, keepEvicted, openEvicted } from './allowance-evicted.ts'

const WINDOW_MS = 4_000
/** A sixth of the window, after which a request that has left it is forgotten at the latest. */
const SLICE_MS = 667
const CAPACITY = 3

const fresh = (): ReturnType<typeof openEvicted> =>
  openEvicted(new SharedArrayBuffer(evictedBytes(CAPACITY)), 0, CAPACITY, WINDOW_MS)

suite('the requests of dropped addresses', () => {
  test('count from the first moment of the clock until they have left the window, and not much longer', () => {
    fc.assert(
      fc.property(fc.oneof(fc.nat(3 * SLICE_MS), fc.nat(2 ** 40)), (atMs) => {
        const evicted = fresh()
        keepEvicted(evicted, 1, atMs)
        for (const nowMs of [atMs, atMs + WINDOW_MS - 1]) assert.equal(evictedCount(evicted, 1, nowMs), 1)
        assert.equal(evictedCount(evicted, 1, atMs + WINDOW_MS + SLICE_MS), 0)
      }),
    )
  })

  test('count for the addresses of their bucket only', () => {
    const evicted = fresh()
    for (let bucket = 0; bucket < 4; bucket += 1)
      for (let request = 0; request < bucket; request += 1) keepEvicted(evicted, bucket, 5_000)
    for (const hash of [0, 1, 2, 3, 4, 7, 2 ** 32 - 1])
      assert.equal(evictedCount(evicted, hash, 5_000), hash % 4, `hash ${hash}`)
  })

  test('are all counted in any window, however they are spread', () => {
    const ascending = fc
      .array(fc.nat(900), { maxLength: 60, size: 'max' })
      .map((waits) => waits.map((_, index) => waits.slice(0, index + 1).reduce((sum, wait) => sum + wait, 0)))
    fc.assert(
      fc.property(ascending, (moments) => {
        const evicted = fresh()
        for (const [index, atMs] of moments.entries()) {
          keepEvicted(evicted, 2, atMs)
          const within = moments.slice(0, index + 1).filter((moment) => atMs - moment < WINDOW_MS).length
          const longer = moments
            .slice(0, index + 1)
            .filter((moment) => atMs - moment < WINDOW_MS + SLICE_MS).length
          const counted = evictedCount(evicted, 2, atMs)
          assert.ok(counted >= within && counted <= longer, `${within} to ${longer}, not ${counted}`)
        }
      }),
    )
  })
})
