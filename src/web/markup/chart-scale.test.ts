import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { billionths, formatAmount } from '../../protocol/amount.ts'
import { bareScaleOf, digitsOf, scaleOf } from './chart-scale.ts'

const amounts = fc
  .bigInt({ min: -(10n ** 30n), max: 10n ** 30n })
  .map((value) => formatAmount(billionths(value)))

const labels = (...figures: string[]): readonly string[] => scaleOf(figures).marks.map(({ label }) => label)

suite('the scale of a chart', () => {
  const written: readonly (readonly [figures: string[], marks: string[]])[] = [
    [['1500.000000000'], ['0', '500', '1,000', '1,500']],
    [['0.017000000000'], ['0', '0.005', '0.010', '0.015', '0.020']],
    [['1200000.000000000'], ['0', '0.5 M', '1.0 M', '1.5 M']],
    [
      ['-2300.000000000', '8000.000000000'],
      ['-5,000', '0', '5,000', '10,000'],
    ],
    [['5000000000000.000000000'], ['0', '1 T', '2 T', '3 T', '4 T', '5 T']],
    [['0.000000000'], ['0']],
    [[], ['0']],
  ]
  for (const [figures, marks] of written) {
    test(`of ${figures.join(' and ') || 'nothing'} is marked ${marks.join(' ')}`, () => {
      assert.equal(labels(...figures).join(' '), marks.join(' '))
    })
  }

  test('places zero and every figure, and places greater figures higher', () => {
    fc.assert(
      fc.property(fc.array(fc.option(amounts), { maxLength: 20 }), (figures) => {
        for (const { place, zero, marks } of [scaleOf(figures), bareScaleOf(figures)]) {
          const known = figures.filter((figure) => figure !== null)
          const places = [zero, ...known.map(place), ...marks.map(({ share }) => share)]
          assert.ok(places.every((share) => share >= 0 && share <= 1))
          const ordered = known.toSorted((a, b) => (digitsOf(a) < digitsOf(b) ? -1 : 1)).map(place)
          assert.deepEqual(
            ordered,
            ordered.toSorted((a, b) => b - a),
          )
        }
      }),
    )
  })

  test('has at most six marks, all different, each at the place of its label’s value', () => {
    const sizes = { M: 1e6, B: 1e9, T: 1e12 } as const
    fc.assert(
      fc.property(fc.array(amounts, { maxLength: 20 }), (figures) => {
        const { marks, place } = scaleOf(figures)
        assert.ok(marks.length >= 1 && marks.length <= 6)
        assert.equal(new Set(marks.map(({ label }) => label)).size, marks.length)
        for (const { label, share } of marks) {
          const [digits = '', letter] = label.replaceAll(',', '').split(' ')
          const size = letter === 'M' || letter === 'B' || letter === 'T' ? sizes[letter] : 1
          assert.ok(Math.abs(place(String(Number(digits) * size)) - share) < 0.001, label)
        }
      }),
    )
  })
})
