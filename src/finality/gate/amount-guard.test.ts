import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { billionths, parseDraftAmount, ZERO } from '../../protocol/amount.ts'
import { compareAmounts } from './amount-guard.ts'

suite('the comparison of amounts', () => {
  const table: readonly (readonly [named: string, units: bigint, decimals: number, is: string])[] = [
    ['12.5', 12_500_000n, 6, 'equal'],
    ['12.500000001', 12_500_000n, 6, 'more'],
    ['12.499999999', 12_500_000n, 6, 'less'],
    ['1', 1_000_000_000_000_000_000n, 18, 'equal'],
    ['1', 999_999_999_999_999_999n, 18, 'more'],
    ['1', 1_000_000_000_000_000_001n, 18, 'less'],
    ['3', 3n, 0, 'equal'],
    ['0.000000001', 0n, 9, 'more'],
    ['999999999999999999.999999999', 999_999_999_999_999_999_999_999_999n, 9, 'equal'],
  ]
  for (const [named, units, decimals, is] of table) {
    test(`finds ${named} ${is} to ${units} units of ${decimals} decimals`, () => {
      assert.equal(compareAmounts(parseDraftAmount(named) ?? ZERO, { units, decimals }).is, is)
    })
  }

  test('is exact for any amount and any number of decimals', () => {
    const any = fc.bigInt({ min: 0n, max: 10n ** 30n })
    fc.assert(
      fc.property(any, any, fc.integer({ min: 0, max: 255 }), (named, units, decimals) => {
        const scaled = { named: named * 10n ** 246n, moved: units * 10n ** BigInt(255 - decimals) }
        const expected =
          scaled.named === scaled.moved ? 'equal' : scaled.named > scaled.moved ? 'more' : 'less'
        assert.equal(compareAmounts(billionths(named), { units, decimals }).is, expected)
      }),
    )
  })

  test('gives both amounts in its reason', () => {
    const { reason } = compareAmounts(billionths(12_500_000_000n), { units: 5n, decimals: 6 })
    assert.equal(reason, 'payouts of this transaction name 12.500000000, and it moved 0.000005000')
  })
})
