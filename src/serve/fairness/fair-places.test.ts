import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { suite, test } from 'node:test'
import { openFairPlaces } from './fair-places.ts'

/** Two places, and work that ends when the test says so. */
function openStage() {
  const places = openFairPlaces(2, () => performance.now())
  const begun: { name: string; end: PromiseWithResolvers<string> }[] = []
  const ask = (caller: string, name: string): Promise<string> =>
    places.run(caller, () => {
      const end = Promise.withResolvers<string>()
      begun.push({ name, end })
      return end.promise.then((value) => ({ value, tookMs: 1 }))
    })
  return { places, begun, ask }
}

suite('a place where answers are made', () => {
  test('is always left for other callers, however much one caller asks', async () => {
    const { places, begun, ask } = openStage()
    const mine = Array.from({ length: 100 }, (_, index) => ask('attacker', `${index}`))
    assert.deepEqual(
      begun.map(({ name }) => name),
      ['0'],
    )
    const stranger = ask('stranger', 'stranger')
    assert.equal(begun[1]?.name, 'stranger')
    begun[1]?.end.resolve('answered')
    assert.equal(await stranger, 'answered')
    for (let index = 0; begun.length < 101; index += 1) {
      begun.at(-1)?.end.resolve('done')
      begun[0]?.end.resolve('done')
      await setImmediate()
    }
    begun.at(-1)?.end.resolve('done')
    assert.equal((await Promise.all(mine)).length, 100)
    assert.equal(places.waiting(), 0)
  })

  test('is free again when its work fails, and only the caller of that work sees the error', async () => {
    const { begun, ask } = openStage()
    const failing = ask('a', 'failing')
    const next = ask('a', 'next')
    begun[0]?.end.reject(new Error('it failed'))
    await assert.rejects(failing, /it failed/)
    await setImmediate()
    begun[1]?.end.resolve('fine')
    assert.equal(await next, 'fine')
  })
})
