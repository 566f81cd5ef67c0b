import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { billionths, formatAmount } from '../../protocol/amount.ts'
import { amountHtml, exactAmount, headlineAmount, priceHtml } from './amount-html.ts'
import type { Html } from './html.ts'

/** The shown text, and the digits that are shown on request. */
function partsOf({ markup }: Html): readonly [shown: string, hidden: string] {
  const hidden = /<i>([^<]*)<\/i>/.exec(markup)?.[1] ?? ''
  return [markup.replaceAll(/<i>[^<]*<\/i>|<[^>]*>/g, ''), hidden]
}

const amounts = fc.bigInt(-(10n ** 30n), 10n ** 30n).map((value) => formatAmount(billionths(value)))

suite('an amount on a page', () => {
  for (const [value, shown] of [
    ['6043.999999999', '6,043'],
    ['100.999999999', '100'],
    ['99.999999999', '99.99'],
    ['1.000000000', '1.00'],
    ['0.500000000', '0.50'],
    ['0.009900000', '0.0099'],
    ['0.000000001', '0.000000001'],
    ['0.000000000', '0'],
    ['-1234567.890123456', '-1,234,567'],
    ['55500', '55,500'],
    ['7', '7'],
  ] as const) {
    test(`of ${value} is ${shown}`, () => assert.equal(partsOf(amountHtml(value))[0], shown))
  }

  test('is cut and never rounded, and has its other digits hidden', () => {
    fc.assert(
      fc.property(amounts, (value) => {
        const [shown, hidden] = partsOf(amountHtml(value))
        assert.equal(`${shown}${hidden}`.replaceAll(',', ''), value)
        assert.match(amountHtml(value).markup, new RegExp(`value="${value}"`))
      }),
    )
  })

  test('never shows nothing for something', () => {
    fc.assert(
      fc.property(amounts, (value) => {
        const [shown] = partsOf(amountHtml(value))
        assert.equal(/[1-9]/.test(shown), /[1-9]/.test(value))
      }),
    )
  })

  test('of a headline is in millions from a million, cut', () => {
    assert.deepEqual(partsOf(headlineAmount('5839999.999999999')), ['5.83 million', '5,839,999.999999999'])
    assert.deepEqual(partsOf(headlineAmount('-1234567890.000000000')), [
      '-1,234.56 million',
      '-1,234,567,890.000000000',
    ])
    assert.deepEqual(partsOf(headlineAmount('999999.999999999')), ['999,999', '.999999999'])
  })

  test('that is exact shows every decimal', () => {
    assert.equal(
      exactAmount('-1234567.890123456').markup,
      '<data value="-1234567.890123456">-1,234,567<small>.890123456</small></data>',
    )
  })

  test('that is a price has four decimals, or as many as show its first three digits', () => {
    assert.equal(partsOf(priceHtml('0.039899999999'))[0], '0.0398')
    assert.equal(partsOf(priceHtml('0.000012399999'))[0], '0.0000123')
    assert.equal(partsOf(priceHtml('12.500000000000'))[0], '12.5000')
  })
})
