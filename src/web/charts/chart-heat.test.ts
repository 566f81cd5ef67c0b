import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { billionths, formatAmount, parseAmount } from '../../protocol/amount.ts'
import { about, heatSteps } from './chart-heat.ts'

const amounts = fc
  .bigInt({ min: -(10n ** 24n), max: 10n ** 24n })
  .map((value) => formatAmount(billionths(value)))

suite('a truncated figure', () => {
  const examples: readonly (readonly [figure: string, shown: string])[] = [
    ['0.000000000', '0'],
    ['5.000000000', '5'],
    ['0.050000000', '0.05'],
    ['0.059999999', '0.05'],
    ['0.001000000', '>0'],
    ['9.990000000', '9.9'],
    ['12.000000001', '12'],
    ['999.999999999', '999'],
    ['1500.000000000', '1.5k'],
    ['1999.000000000', '1.9k'],
    ['-1999.000000000', '-1.9k'],
    ['123456.000000000', '123k'],
    ['2000000.000000000', '2M'],
    ['3000000000.000000000', '3B'],
    ['4321000000000000.000000000', '4,321T'],
    ['12', '12'],
    ['1234', '1.2k'],
  ]
  for (const [figure, shown] of examples) {
    test(`${figure} is ${shown}`, () => assert.equal(about(figure), shown))
  }

  test('is never further from zero than the figure, and never hides that there is one', () => {
    const sizes: Readonly<Record<string, bigint>> = {
      k: 10n ** 3n,
      M: 10n ** 6n,
      B: 10n ** 9n,
      T: 10n ** 12n,
    }
    fc.assert(
      fc.property(amounts, (figure) => {
        const exact = parseAmount(figure) ?? 0n
        if (about(figure) === '>0' || about(figure) === '<0') {
          assert.ok(exact !== 0n && exact < 10_000_000n && exact > -10_000_000n)
          return
        }
        const [, digits = '', letter = ''] = /^([-\d,.]+)([kMBT]?)$/.exec(about(figure)) ?? []
        const [whole = '', fraction = ''] = digits.replaceAll(',', '').split('.')
        const value = parseAmount(`${whole}.${fraction.padEnd(9, '0')}`) ?? 0n
        const shown = value * (sizes[letter] ?? 1n)
        const [least, most] = exact < 0n ? [exact, 0n] : [0n, exact]
        assert.ok(shown >= least && shown <= most, about(figure))
        assert.equal(shown === 0n, exact === 0n)
      }),
    )
  })
})

suite('the steps of a heat table', () => {
  test('are quarters of the greatest cell, and 0 for zero or less', () => {
    const figures = [
      '0.000000000',
      '-1.000000000',
      '0.000000001',
      '1.000000000',
      '1.000000001',
      '3.000000001',
      '4.000000000',
    ]
    assert.deepEqual(heatSteps(figures), [0, 0, 1, 1, 2, 4, 4])
  })

  test('are from 0 to 4 and grow with any figures', () => {
    fc.assert(
      fc.property(fc.array(amounts), (figures) => {
        const ordered = figures.toSorted((a, b) => ((parseAmount(a) ?? 0n) < (parseAmount(b) ?? 0n) ? -1 : 1))
        const steps = heatSteps(ordered)
        assert.deepEqual(
          steps,
          steps.toSorted((a, b) => a - b),
        )
        assert.ok(steps.every((step) => [0, 1, 2, 3, 4].includes(step)))
      }),
    )
  })
})
