import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { until } from '../../../test/stage/stream-client.ts'
import { openTurns } from './stream-turns.ts'

suite('turns', () => {
  test('are given in order, one by one, and never within the call that adds one', async () => {
    const taken: string[] = []
    const turns = openTurns<string>({
      monotonicMs: () => performance.now(),
      sliceMs: { live: 5, history: 5 },
      take: (who) => taken.push(who),
    })
    for (const who of ['a', 'b', 'c']) turns.add(who, 'live')
    assert.deepEqual(taken, [])
    await until(() => taken.length === 3)
    assert.deepEqual(taken, ['a', 'b', 'c'])
  })

  test('go round when every step adds another', async () => {
    const taken: string[] = []
    const turns = openTurns<string>({
      monotonicMs: () => performance.now(),
      sliceMs: { live: 5, history: 5 },
      take(who) {
        taken.push(who)
        if (taken.length < 9) turns.add(who, 'history')
      },
    })
    for (const who of ['a', 'b', 'c']) turns.add(who, 'history')
    await until(() => taken.length >= 9)
    assert.equal(taken.slice(0, 9).join(''), 'abcabcabc')
  })

  test('give the event loop back after both slices, and neither queue starves the other', async () => {
    let now = 0
    let steps = 0
    const stepsPerHold: number[] = []
    const taken = { live: 0, history: 0 }
    const turns = openTurns<'live' | 'history'>({
      monotonicMs: () => now,
      sliceMs: { live: 8, history: 4 },
      take(lane) {
        // A step takes a millisecond, and there is always another.
        now += 1
        steps += 1
        taken[lane] += 1
        turns.add(lane, lane)
      },
    })
    for (let index = 0; index < 100; index += 1) {
      turns.add('live', 'live')
      turns.add('history', 'history')
    }
    for (let hold = 0; hold < 20; hold += 1) {
      steps = 0
      await new Promise((resolve) => setImmediate(resolve))
      stepsPerHold.push(steps)
    }
    turns.close()
    assert.ok(Math.max(...stepsPerHold) <= 12, `held for ${Math.max(...stepsPerHold)} ms`)
    assert.ok(taken.live === 2 * taken.history && taken.history > 0)
  })

  test('are given to thousands of subscribers in order', async () => {
    let taken = 0
    const turns = openTurns<number>({
      monotonicMs: () => performance.now(),
      sliceMs: { live: 1, history: 1 },
      take(who) {
        assert.equal(who, taken)
        taken += 1
      },
    })
    for (let who = 0; who < 20_000; who += 1) turns.add(who, 'live')
    await until(() => taken === 20_000)
  })

  test('are not given after the queues are closed', async () => {
    let taken = 0
    const turns = openTurns<string>({
      monotonicMs: () => performance.now(),
      sliceMs: { live: 1, history: 1 },
      take: () => (taken += 1),
    })
    turns.add('a', 'live')
    turns.close()
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(taken, 0)
  })
})
