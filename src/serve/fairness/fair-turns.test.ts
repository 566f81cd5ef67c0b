import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { suite, test } from 'node:test'
import { openFairTurns, SLICE_MS } from './fair-turns.ts'

/** Turns on a clock that only work moves. */
function openStage() {
  let nowMs = 0
  const turns = openFairTurns(() => nowMs)
  const done: string[] = []
  const ask = (caller: string, ms: number): void =>
    turns.run(caller, () => {
      nowMs += ms
      done.push(caller)
    })
  return { turns, done, ask }
}

suite('a turn on the serving loop', () => {
  test('comes at once when nobody waits', () => {
    const { done, ask } = openStage()
    ask('a', 1)
    ask('b', 1)
    assert.deepEqual(done, ['a', 'b'])
  })

  test('waits when the slice is used up, and sockets are read before it comes', async () => {
    const { turns, done, ask } = openStage()
    for (let index = 0; index < 10; index += 1) ask('a', SLICE_MS)
    assert.equal(done.length, 1)
    assert.equal(turns.waiting(), 9)
    let slices = 0
    while (turns.waiting() > 0) {
      await setImmediate()
      slices += 1
    }
    assert.equal(done.length, 10)
    assert.ok(slices >= 9, `${slices} slices`)
  })

  test('of a new caller comes within two slices, however much others have queued', async () => {
    const { done, ask } = openStage()
    for (let index = 0; index < 500; index += 1) ask(`attacker ${index % 3}`, 1)
    await setImmediate()
    const before = done.length
    ask('stranger', 1)
    while (!done.includes('stranger')) await setImmediate()
    const waited = done.indexOf('stranger') - before
    assert.ok(waited <= 2 * SLICE_MS, `behind ${waited} works of a millisecond`)
  })
})
