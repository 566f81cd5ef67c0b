import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { evaluate } from '../../../test/web/parity/expression.ts'
import { billionths, formatAmount } from '../../protocol/amount.ts'
import { type Derived, derived, derivedSum, minus, negated, sumOfAll } from './derived.ts'

const amounts = fc
  .bigInt({ min: -(10n ** 30n), max: 10n ** 30n })
  .map((value) => formatAmount(billionths(value)))

/** Figure computed from the expression and the answer alone. */
const again = ({ expression }: Derived, answer: unknown): string => evaluate(expression, answer)

suite('a derived figure', () => {
  test('equals its expression, for any amounts', () => {
    fc.assert(
      fc.property(amounts, amounts, fc.array(amounts, { minLength: 1 }), (a, b, list) => {
        const answer = { a, b, list: list.map((kots) => ({ kots })) }
        const difference = minus({ pointer: '/a', figure: a }, { pointer: '/b', figure: b })
        assert.equal(difference.figure, again(difference, answer))
        const other = negated({ pointer: '/a', figure: a })
        assert.equal(other.figure, again(other, answer))
        const all = sumOfAll('/list/*/kots', list)
        assert.ok(all !== null)
        assert.equal(all.figure, again(all, answer))
        const named = derivedSum(list.map((figure, index) => ({ pointer: `/list/${index}/kots`, figure })))
        assert.equal(named?.figure, all.figure)
      }),
    )
  })

  const differences: readonly (readonly [first: string | number, second: string | number, less: string])[] = [
    ['1.000000000', '2.000000001', '-1.000000001'],
    ['0.048915291260', '0.048915291259', '0.000000000001'],
    ['5.000000000', '5.000000000', '0.000000000'],
    [12, 20, '-8'],
    ['9223372036854775807.000000001', '0.000000001', '9223372036854775807.000000000'],
  ]
  for (const [first, second, less] of differences) {
    test(`of ${first} minus ${second} is ${less}`, () => {
      assert.equal(minus({ pointer: '/a', figure: first }, { pointer: '/b', figure: second }).figure, less)
    })
  }

  test('is refused for an amount and a count', () => {
    assert.throws(() => minus({ pointer: '/a', figure: '1.000000000' }, { pointer: '/b', figure: 1 }))
  })

  test('of no terms is null', () => {
    assert.equal(derivedSum([]), null)
    assert.equal(sumOfAll('/list/*/kots', []), null)
  })

  test('is marked up with its exact digits and its expression', () => {
    const { markup } = derived({ expression: 'minus /a /b', figure: '-1234.000000000' })
    assert.match(markup, /^<span data-expr="minus \/a \/b"><data value="-1234\.000000000"/)
  })
})
