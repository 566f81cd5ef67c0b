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
    [['0.017000000000'], ['0', '0.005', '0.010', '0.015']],
    [['1200000.000000000'], ['0', '0.5 M', '1.0 M']],
    [
      ['-2300.000000000', '8000.000000000'],
      ['-2,000', '0', '2,000', '4,000', '6,000', '8,000'],
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

  test('has shorter labels for a narrow chart, where thousands are whole', () => {
    const briefs = (figure: string): string =>
      scaleOf([figure])
        .marks.map(({ brief }) => brief)
        .join(' ')
    assert.equal(briefs('227680.000000000'), '0 50k 100k 150k 200k')
    assert.equal(briefs('1500.000000000'), '0 500 1,000 1,500')
    assert.equal(briefs('1200000.000000000'), '0 0.5M 1.0M')
  })

  test('without zero holds the figures alone, between round ones', () => {
    const { marks, place } = scaleOf(['0.038000000000', '0.044000000000'], { marks: 2, zero: false })
    assert.deepEqual(
      marks.map(({ label, share }) => [label, share]),
      [
        ['0.038', 1],
        ['0.040', 0.6667],
        ['0.042', 0.3333],
        ['0.044', 0],
      ].slice(0, marks.length),
    )
    assert.ok(place('0.038000000000') > place('0.044000000000'))
    assert.deepEqual(
      scaleOf(['2.000000000'], { zero: false }).marks.map(({ label }) => label),
      ['2.0'],
    )
  })

  test('keeps its head free for words', () => {
    const { place, zero } = scaleOf(['7.000000000'], { head: 0.25 })
    assert.deepEqual([place('7.000000000'), zero], [0.25, 1])
  })

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
