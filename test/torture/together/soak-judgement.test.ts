import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { randomOf } from '../../../sim/random.ts'
import { isLeaking, lastToFirst, type Point, slopeOf } from './soak-judgement.ts'

const MB = 1_000_000
const SESSIONS = 72_000
const SAMPLES = 1_200
/** The limit of the soak: 1 MB for 10,000 sessions. */
const LIMIT = MB / 10_000

/** Memory of a process that has `lives`: a warm-up, the saw-tooth of its collections, noise, and some growth. */
function memory(seed: string, lives: number, growth: (session: number) => number): readonly Point[] {
  const random = randomOf(seed)
  return Array.from({ length: SAMPLES }, (_, index) => {
    const x = (index / SAMPLES) * SESSIONS
    const life = Math.floor((index / SAMPLES) * lives)
    const begun = (life / lives) * SESSIONS
    const age = (x - begun) / (SESSIONS / lives)
    const warm = 120 * MB + 40 * MB * (1 - Math.exp(-age * 40))
    const saw = ((index * 7) % 31) * 0.8 * MB
    const noise = (random.next() - 0.5) * 6 * MB
    return { life, x, y: warm + saw + noise + growth(x - begun) }
  })
}

suite('the judgement of a soak', () => {
  // Short lives show less of a leak.
  for (const [lives, leaked] of [
    [1, 3],
    [8, 6],
  ] as const) {
    test(`finds a leak of ${leaked} MB for 10,000 sessions in ${lives} lives`, () => {
      for (const seed of ['a', 'b', 'c'])
        assert.ok(
          isLeaking(
            memory(seed, lives, (session) => session * leaked * LIMIT),
            LIMIT,
          ),
          seed,
        )
    })

    test(`finds none in noise, in ${lives} lives`, () => {
      for (const seed of ['a', 'b', 'c', 'd', 'e'])
        assert.ok(
          !isLeaking(
            memory(seed, lives, () => 0),
            LIMIT,
          ),
          seed,
        )
    })
  }

  test('takes a step for no leak, wherever it is', () => {
    for (const share of [0.1, 0.3, 0.5, 0.7, 0.9]) {
      const stepped = memory('step', 1, (session) => (session > share * SESSIONS ? 30 * MB : 0))
      assert.ok(!isLeaking(stepped, LIMIT), String(share))
    }
  })

  test('gives the slope of a line, and an interval that holds it', () => {
    const points = memory('slope', 4, (session) => session * 500)
    const { slope, low, high } = slopeOf(points) ?? assert.fail('there are enough points')
    assert.ok(low < 500 && 500 < high, `${low} to ${high}`)
    assert.ok(Math.abs(slope - 500) < 100, String(slope))
  })

  test('says nothing about too few points', () => {
    assert.equal(slopeOf(memory('few', 1, () => 0).slice(0, 12)), null)
    assert.equal(isLeaking([{ life: 0, x: 0, y: 1 }], LIMIT), false)
  })

  test('compares the last quarter with the first by their medians', () => {
    const flat = Array.from({ length: 400 }, (_, index) => (index % 50 === 0 ? 900 : 20))
    assert.equal(lastToFirst(flat), 1)
    assert.equal(lastToFirst(flat.map((value, index) => (index > 250 ? value * 3 : value))), 3)
  })
})
