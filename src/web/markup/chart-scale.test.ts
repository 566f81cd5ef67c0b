import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { billionths, formatAmount, formatPrice, trillionths } from '../../protocol/amount.ts'
import { digitsOf, scaleOf } from './chart-scale.ts'

const amounts = fc
  .bigInt({ min: -(10n ** 30n), max: 10n ** 30n })
  .map((value) => formatAmount(billionths(value)))

const labels = (...figures: string[]): readonly string[] => scaleOf(figures).marks.map(({ label }) => label)

suite('the scale of a chart', () => {
  const written: readonly (readonly [figures: string[], marks: string[]])[] = [
    [['1500.000000000'], ['0', '500', '1,000', '1,500']],
    [['0.017000000000'], ['0', '0.005', '0.010', '0.015']],
    [['227680.000000000'], ['0', '50k', '100k', '150k', '200k']],
    [['1200000.000000000'], ['0', '0.5M', '1.0M']],
    [
      ['-2300.000000000', '8000.000000000'],
      ['-2k', '0', '2k', '4k', '6k', '8k'],
    ],
    [['5000000000000.000000000'], ['0', '1T', '2T', '3T', '4T', '5T']],
    [['0.000000000'], ['0']],
    [[], ['0']],
  ]
  for (const [figures, marks] of written) {
    test(`of ${figures.join(' and ') || 'nothing'} is marked ${marks.join(' ')}`, () => {
      assert.equal(labels(...figures).join(' '), marks.join(' '))
    })
  }

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
      scaleOf(['0.250000000000'], { zero: false }).marks.map(({ label }) => label),
      ['0.1', '0.2', '0.3', '0.4'],
    )
  })

  test('keeps its head free for words', () => {
    const { place, zero } = scaleOf(['7.000000000'], { head: 0.25 })
    assert.deepEqual([place('7.000000000'), zero], [0.25, 1])
  })

  test('places zero and every figure, and places greater figures higher', () => {
    fc.assert(
      fc.property(fc.array(fc.option(amounts), { maxLength: 20 }), (figures) => {
        const { place, zero, marks } = scaleOf(figures)
        const known = figures.filter((figure) => figure !== null)
        const places = [zero, ...known.map(place), ...marks.map(({ share }) => share)]
        assert.ok(places.every((share) => share >= 0 && share <= 1))
        const ordered = known.toSorted((a, b) => (digitsOf(a) < digitsOf(b) ? -1 : 1)).map(place)
        assert.deepEqual(
          ordered,
          ordered.toSorted((a, b) => b - a),
        )
      }),
    )
  })

  const forms = fc.record({
    marks: fc.integer({ min: 1, max: 6 }),
    head: fc.constantFrom(0, 0.25),
    zero: fc.boolean(),
  })
  const prices = fc.bigInt({ min: 0n, max: 10n ** 21n }).map((value) => formatPrice(trillionths(value)))
  /** Figures of one chart: of any range, within a narrow one, or all equal. */
  const charted = fc.oneof(
    fc.array(amounts, { maxLength: 20 }),
    fc.array(prices, { maxLength: 20 }),
    fc
      .tuple(fc.bigInt({ min: 0n, max: 10n ** 21n }), fc.array(fc.bigInt({ min: 0n, max: 10n ** 6n })))
      .map(([least, more]) => [0n, ...more].map((one) => formatPrice(trillionths(least + one)))),
    prices.map((price) => [price, price]),
    amounts.map((amount) => [amount]),
  )

  test('has at most six marks, all different, each labelled with exactly the value of its line', () => {
    fc.assert(
      fc.property(charted, forms, (figures, form) => {
        const { marks, place } = scaleOf(figures, form)
        assert.ok(marks.length >= 1 && marks.length <= 6, `${marks.length} marks`)
        const words = marks.map(({ label }) => label)
        const values = words.map(valueOf)
        const steps = values.slice(1).map((value, index) => value - (values[index] ?? 0n))
        assert.ok(
          steps.every((step) => step > 0n && step === steps[0]),
          words.join(' '),
        )
        for (const [index, value] of values.entries()) {
          const figure = `${value < 0n ? '-' : ''}${decimalOf(value < 0n ? -value : value)}`
          const share = marks[index]?.share ?? NaN
          assert.ok(Math.abs(place(figure) - share) <= 0.0001, `${words[index]} at ${share}`)
        }
      }),
      { numRuns: 1_000 },
    )
  })
})

/** Decimals of the exact values of labels: those of a price, and some for the steps between two. */
const PLACES = 24
const UNITS = { '': 0, k: 3, M: 6, B: 9, T: 12 } as const

/** The exact value of a label such as `1,234.5M`. */
function valueOf(label: string): bigint {
  const [, sign, whole = '', fraction = '', unit = ''] =
    /^(-?)([\d,]+)(?:\.(\d+))?([kMBT]?)$/.exec(label) ?? []
  const places = PLACES + UNITS[unit as keyof typeof UNITS] - fraction.length
  assert.ok(whole !== '' && places >= 0, label)
  const digits = BigInt(`${whole.replaceAll(',', '')}${fraction}`) * 10n ** BigInt(places)
  return sign === '-' ? -digits : digits
}

function decimalOf(value: bigint): string {
  const digits = String(value).padStart(PLACES + 1, '0')
  return `${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`
}
