import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { recordOf } from '../../protocol/brand.ts'
import {
  countInt128s,
  decodeInt128s,
  emptyTally,
  encodeInt128s,
  encodeKinds,
  encodeTally,
  FIGURES,
  KIND_FIGURES,
  tallyOf,
  totalsOf,
} from './tally.ts'

const MAX = 2n ** 127n - 1n
const MIN = -(2n ** 127n)

/** Any integers of 128 bits, more often those beside a limit of 64 or 128 bits. */
const integers = fc.oneof(
  fc.bigInt({ min: MIN, max: MAX }),
  fc.bigInt({ min: -3n, max: 3n }),
  fc
    .tuple(
      fc.constantFrom(2n ** 63n, -(2n ** 63n), 2n ** 64n, -(2n ** 64n)),
      fc.bigInt({ min: -1n, max: 1n }),
    )
    .map(([edge, step]) => edge + step),
  fc.constantFrom(MIN, MAX),
)

suite('encoded sums', () => {
  test('are decoded as they were, also from within other bytes', () => {
    fc.assert(
      fc.property(fc.array(integers, { maxLength: 5 }), fc.nat(20), (values, before) => {
        const bytes = encodeInt128s(values)
        assert.equal(countInt128s(bytes), values.length)
        assert.deepEqual(decodeInt128s(bytes), values)
        const among = Buffer.concat([new Uint8Array(before), bytes, new Uint8Array(3)])
        assert.deepEqual(decodeInt128s(among.subarray(before, before + bytes.byteLength)), values)
      }),
    )
  })

  test('are refused beyond 128 bits', () => {
    for (const value of [MAX + 1n, MIN - 1n]) {
      assert.throws(() => encodeInt128s([value]), /does not fit 128 bits/)
      const tally = emptyTally()
      tally.figures.treasury = value
      assert.throws(() => encodeTally(tally), /does not fit 128 bits/)
    }
  })
})

suite('encoded figures', () => {
  const narrow = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  const kindsOf = (figure: string): readonly string[] => [1, 2, 3].map((kind) => `${figure}_${kind}`)
  const tallies = fc
    .constantFrom(narrow, integers)
    .chain((any) => {
      const sums = fc.array(any, { maxLength: 3 })
      return fc.tuple(fc.array(any, { minLength: FIGURES.length }), fc.tuple(sums, sums, sums))
    })
    .map(([figures, byKind]) => ({
      figures: recordOf(FIGURES, (_, index) => figures[index] ?? 0n),
      byKind: recordOf(
        KIND_FIGURES,
        (figure, place) =>
          new Map(byKind[place]?.map((amount, index) => [kindsOf(figure)[index] ?? '', amount])),
      ),
    }))

  test('are decoded as they were, in 64 bits and in 128', () => {
    fc.assert(
      fc.property(tallies, (tally) => {
        const [figures, kinds] = [encodeTally(tally), encodeKinds(tally)]
        const bytes = Uint8Array.from(Buffer.concat([figures, kinds]))
        const at = { figuresAt: 0, kindsAt: figures.byteLength }
        const totals = totalsOf(new DataView(bytes.buffer), at, kindsOf)
        assert.deepEqual(tallyOf(totals), tally)
        assert.equal(totals.amount('treasury'), tally.figures.treasury)
      }),
    )
  })
})
