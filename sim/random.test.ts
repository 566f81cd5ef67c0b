import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { msOf } from '../src/protocol/moment.ts'
import { simulate, split } from './platform.ts'
import { randomOf } from './random.ts'

const mean = (count: number, draw: () => number): number => {
  let sum = 0
  for (let index = 0; index < count; index++) sum += draw()
  return sum / count
}
const near = (value: number, wanted: number): void =>
  assert.ok(Math.abs(value - wanted) < wanted * 0.05 + 0.02, `${value} is not near ${wanted}`)

suite('a random generator', () => {
  test('gives the same sequence for the same seed, and an unrelated one for a similar seed', () => {
    assert.deepEqual(randomOf('a1').bytes(64), randomOf('a1').bytes(64))
    assert.notDeepEqual(randomOf('a1').bytes(64), randomOf('a2').bytes(64))
    assert.notDeepEqual(randomOf('ab').bytes(64), randomOf('ba').bytes(64))
  })

  test('has distributions with the given means', () => {
    const random = randomOf('means')
    near(mean(20_000, random.next), 0.5)
    near(
      mean(20_000, () => random.exponential(7)),
      7,
    )
    near(
      mean(20_000, () => random.poisson(3)),
      3,
    )
    near(
      mean(20_000, () => random.poisson(200)),
      200,
    )
    near(mean(20_000, random.normal), 0)
    near(
      mean(20_000, () => random.between(2, 4)),
      3,
    )
    near(
      mean(20_000, () => Number(random.chance(0.3))),
      0.3,
    )
    near(
      mean(20_000, () =>
        Number(
          random.weighted([
            ['a', 1],
            ['b', 3],
          ]) === 'b',
        ),
      ),
      0.75,
    )
  })
})

test('the parts of a split amount add up to it, and none is zero', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 24n }), fc.integer({ min: 1, max: 60 }), (amount, count) => {
      const parts = split(randomOf('split'), amount, count)
      assert.equal(
        parts.reduce((sum, part) => sum + part, 0n),
        amount,
      )
      assert.ok(parts.every((part) => part > 0n))
    }),
  )
})

test('the simulation runs the earliest action first, and among equal moments the one added first', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), (moments) => {
      const done: [number, number][] = []
      const plan = { seed: 'order', from: msOf(0), liveFrom: msOf(0), scale: 1 }
      const drafts = simulate(plan, (world) =>
        moments.forEach((ms, index) => world.at(ms, () => void done.push([ms, index]))),
      )
      assert.deepEqual([...drafts], [])
      const sorted = moments.map((ms, index): [number, number] => [ms, index])
      assert.deepEqual(
        done,
        sorted.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]),
      )
    }),
  )
})
