import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openRequestPace } from './request-pace.ts'

suite('the pace of requests', () => {
  test('lets a few calls go at once, and then keeps each server to its calls a minute', async () => {
    let now = 1_000
    const slept: number[] = []
    const spend = openRequestPace(
      60,
      () => now,
      async (ms) => {
        slept.push(ms)
        now += ms
      },
    )
    for (let call = 0; call < 6; call++) await spend(1, 1)
    assert.deepEqual(slept, [], 'five seconds of calls, and the one after them')
    await spend(1, 2)
    assert.deepEqual(slept, [], 'each server has its own pace')
    const from = now
    for (let call = 0; call < 60; call++) await spend(1, 1)
    assert.equal(now - from, 60_000)
    await spend(10, 1)
    const before = now
    await spend(1, 1)
    assert.equal(now - before, 10_000, 'a batch counts as all of its calls')
  })

  test('waits until the server is free to the millisecond, and not at all when it is free', async () => {
    for (const [calls, waits] of [
      [5_000, []],
      [5_001, [1]],
      [5_002, [2]],
    ] as const) {
      const slept: number[] = []
      const spend = openRequestPace(
        60_000,
        () => 0,
        async (ms) => void slept.push(ms),
      )
      await spend(calls, 1)
      await spend(1, 1)
      assert.deepEqual(slept, waits, `after ${calls} calls`)
    }
  })
})
