import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import {
  add,
  billionths,
  formatAmount,
  formatPrice,
  negate,
  parseAmount,
  parseDraftAmount,
  parseDraftPrice,
  parsePrice,
  smaller,
  subtract,
  trillionths,
  ZERO,
} from '../../src/protocol/amount.ts'

/** Amounts of a draft: up to 27 digits, far more than a float holds. */
const amounts = fc.bigInt({ min: -(10n ** 27n) + 1n, max: 10n ** 27n - 1n }).map(billionths)

suite('an amount', () => {
  test('survives the way to the wire and back, digit by digit', () => {
    fc.assert(fc.property(amounts, (amount) => parseAmount(formatAmount(amount)) === amount))
    assert.equal(formatAmount(ZERO), '0.000000000')
    assert.equal(formatAmount(billionths(-1n)), '-0.000000001')
    assert.equal(formatAmount(billionths(1_000_000_000n)), '1.000000000')
  })

  test('of a draft is the same with fewer decimals', () => {
    fc.assert(
      fc.property(amounts, (amount) => {
        const short = formatAmount(amount).replace(/\.?0+$/, '')
        assert.equal(parseDraftAmount(short === '' || short === '-' ? '0' : short), amount)
      }),
    )
    assert.equal(parseDraftAmount('9007199.254740993'), 9_007_199_254_740_993n)
    assert.equal(parseDraftAmount('-12'), -12_000_000_000n)
    assert.equal(parseDraftAmount('9'.repeat(18)), 10n ** 27n - 10n ** 9n)
  })

  for (const text of [
    '',
    '1',
    '1.0',
    '01.000000000',
    '+1.000000000',
    '-0.000000000',
    '1e3',
    '1.0000000000',
    ' 1.000000000',
  ])
    test(`is refused as ${JSON.stringify(text)}`, () => assert.equal(parseAmount(text), undefined))
  for (const text of [
    '',
    '.5',
    '1.',
    '01',
    '-0',
    '-0.0',
    '1e3',
    '0.0000000001',
    '1234567890123456789',
    '1,5',
  ])
    test(`of a draft is refused as ${JSON.stringify(text)}`, () =>
      assert.equal(parseDraftAmount(text), undefined))

  test('is compared by its value: the smaller of two is the same in either order', () => {
    for (const [a, b] of [
      [-2n, 1n],
      [9n, 10n],
      [5n, 5n],
    ] as const) {
      assert.equal(smaller(billionths(a), billionths(b)), a)
      assert.equal(smaller(billionths(b), billionths(a)), a)
    }
  })

  test('adds up and comes back', () => {
    fc.assert(
      fc.property(amounts, amounts, (a, b) => subtract(add(a, b), b) === a && add(a, negate(a)) === 0n),
    )
  })
})

suite('a price', () => {
  test('has twelve decimals, and fewer in a draft', () => {
    assert.equal(parseDraftPrice('0.25'), 250_000_000_000n)
    assert.equal(parsePrice('0.250000000000'), 250_000_000_000n)
    assert.equal(formatPrice(trillionths(1n)), '0.000000000001')
    for (const text of ['0.25', '-1.000000000000', '1']) assert.equal(parsePrice(text), undefined)
    for (const text of ['-1', '0.0000000000001', '01']) assert.equal(parseDraftPrice(text), undefined)
  })
})
