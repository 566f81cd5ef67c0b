import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { until } from '../../../test/stage/stream-client.ts'
import { type FanOuts, openFanOuts } from './fan-outs.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A schedule on a manual clock, with the start of every fan-out. Each fan-out runs until `ended` is called. */
function open(coalesceMs: number): Readonly<{ fanOuts: FanOuts; begun: number[]; clock: { now: number } }> {
  const clock = { now: 1_000 }
  const begun: number[] = []
  const fanOuts = openFanOuts({
    monotonicMs: () => clock.now,
    coalesceMs,
    fanOut() {
      begun.push(clock.now)
      return true
    },
  })
  return { fanOuts, begun, clock }
}

suite('a fan-out', () => {
  test('begins in the next turn of the event loop when streams are idle, once for a burst', async () => {
    const { fanOuts, begun } = open(5)
    fanOuts.wake()
    fanOuts.wake()
    assert.deepEqual(begun, [])
    await turn()
    assert.deepEqual(begun, [1_000])
    fanOuts.close()
  })

  test('waits for the end of the last one, and then for the pause', async () => {
    const { fanOuts, begun, clock } = open(5)
    fanOuts.wake()
    await turn()
    fanOuts.wake()
    for (let count = 0; count < 10; count += 1) await turn()
    assert.equal(begun.length, 1, 'none begins while one runs')
    clock.now = 1_040
    fanOuts.ended()
    await turn()
    assert.equal(begun.length, 1, 'none begins in the pause')
    await until(() => begun.length === 2)
    fanOuts.close()
  })

  test('serves all commits of the pause before it', async () => {
    const { fanOuts, begun, clock } = open(5)
    fanOuts.run()
    fanOuts.ended()
    for (const now of [1_001, 1_003, 1_004]) {
      clock.now = now
      fanOuts.wake()
    }
    await until(() => begun.length === 2)
    fanOuts.ended()
    clock.now = 1_500
    await turn()
    assert.equal(begun.length, 2, 'nothing is left over')
    fanOuts.close()
  })

  test('begins at once when the pause is over', async () => {
    const { fanOuts, begun, clock } = open(5)
    fanOuts.run()
    fanOuts.ended()
    clock.now = 1_005
    fanOuts.wake()
    await turn()
    assert.deepEqual(begun, [1_000, 1_005])
    fanOuts.close()
  })

  test('without live streams does not delay the next one', async () => {
    let begun = 0
    const fanOuts = openFanOuts({
      monotonicMs: () => 0,
      coalesceMs: 5,
      fanOut() {
        begun += 1
        return false
      },
    })
    fanOuts.wake()
    await turn()
    fanOuts.wake()
    await turn()
    assert.equal(begun, 2)
    fanOuts.close()
  })

  test('that begins without a pause takes the place of the one that waits', async () => {
    const { fanOuts, begun } = open(0)
    fanOuts.wake()
    fanOuts.run()
    await turn()
    assert.deepEqual(begun, [1_000])
    fanOuts.close()
  })

  test('never begins once closed', async () => {
    const { fanOuts, begun } = open(0)
    fanOuts.wake()
    fanOuts.close()
    fanOuts.wake()
    fanOuts.ended()
    await turn()
    assert.deepEqual(begun, [])
  })
})
