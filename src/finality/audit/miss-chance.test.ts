import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { chanceLines, formatChance, missChance, statedWrongs } from './miss-chance.ts'

/** Sets of `drawn` out of `total`, as bits. */
function drawsOf(total: number, drawn: number): readonly number[] {
  return Array.from({ length: 2 ** total }, (_, bits) => bits).filter(
    (bits) => bits.toString(2).replaceAll('0', '').length === drawn,
  )
}

suite('the chance of missing false transactions', () => {
  test('is the share of all possible samples without one of them', () => {
    for (let total = 0; total <= 9; total++) {
      for (let wrong = 0; wrong <= total; wrong++) {
        for (let drawn = 0; drawn <= total; drawn++) {
          const draws = drawsOf(total, drawn)
          const missing = draws.filter((bits) => bits % 2 ** wrong === 0)
          const { numerator, denominator } = missChance({ total, wrong, drawn })
          assert.equal(
            numerator * BigInt(draws.length),
            BigInt(missing.length) * denominator,
            `${wrong} of ${total}, ${drawn} drawn`,
          )
        }
      }
    }
  })

  test('never grows with a larger sample or with more false ones', () => {
    const large = fc.integer({ min: 2, max: 100_000 }).chain((total) =>
      fc.record({
        total: fc.constant(total),
        wrong: fc.integer({ min: 0, max: Math.min(total - 1, 300) }),
        drawn: fc.integer({ min: 0, max: total - 1 }),
      }),
    )
    fc.assert(
      fc.property(large, (draw) => {
        const one = missChance(draw)
        for (const other of [
          { ...draw, drawn: draw.drawn + 1 },
          { ...draw, wrong: draw.wrong + 1 },
        ]) {
          const less = missChance(other)
          assert.ok(less.numerator * one.denominator <= one.numerator * less.denominator)
        }
      }),
      { numRuns: 50 },
    )
  })

  test('is printed in per cent, rounded up', () => {
    const printed = (total: number, wrong: number, drawn: number): string =>
      formatChance(missChance({ total, wrong, drawn }))
    assert.equal(printed(120_000, 1, 300), '99.8%')
    assert.equal(printed(120_000, 1_200, 300), '4.9%')
    assert.equal(printed(120_000, 6_000, 100), '0.6%')
    assert.equal(printed(120_000, 6_000, 300), 'less than 1 in a million')
    assert.equal(printed(10, 1, 10), '0%')
    assert.equal(printed(10, 0, 3), '100.0%')
    assert.equal(formatChance({ numerator: 2n, denominator: 1_000n }), '0.2%')
    assert.equal(formatChance({ numerator: 1n, denominator: 1_000n }), '0.1000%')
    assert.equal(formatChance({ numerator: 11n, denominator: 100_000n }), '0.0110%')
  })

  test('is stated for one false transaction, for one in a hundred and for one in twenty', () => {
    assert.deepEqual(statedWrongs(120_000), [1, 1_200, 6_000])
    assert.deepEqual(statedWrongs(150), [1, 2, 8])
    assert.deepEqual(statedWrongs(20), [1])
    assert.deepEqual(statedWrongs(0), [])
  })

  test('is told in plain words, and not when everything was checked', () => {
    assert.deepEqual(chanceLines(120_000, 300), [
      'If 1 of all 120000 was false, a sample of 300 would miss it with a chance of 99.8%. With 1200 false ones, it would miss all of them with a chance of 4.9%. With 6000 false ones, it would miss all of them with a chance of less than 1 in a million.',
    ])
    assert.deepEqual(chanceLines(300, 300), [])
    assert.deepEqual(chanceLines(300, 0), [])
  })
})
