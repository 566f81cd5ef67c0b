import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { billionths } from '../../protocol/amount.ts'
import { amountKey } from './amount-key.ts'

suite('the key of an amount', () => {
  test('sorts as the amount does', () => {
    const amounts = fc.tuple(fc.bigInt(-(10n ** 30n), 10n ** 30n), fc.bigInt(-1_000n, 1_000n))
    fc.assert(
      fc.property(amounts, ([one, step]) => {
        const [a, b] = [billionths(one), billionths(one + step)]
        assert.equal(amountKey(a) < amountKey(b), a < b)
      }),
      { numRuns: 500 },
    )
  })

  test('has the form that is in the stores', () => {
    assert.deepEqual(
      [0n, 7n, 1_500_000_000n, -7n].map((amount) => amountKey(billionths(amount))),
      ['=010', '=017', '=101500000000', '-982'],
    )
  })
})
