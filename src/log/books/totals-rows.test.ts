import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { emptyTally, FIGURES, KIND_FIGURES, KINDS_MAX, tallyOf, totalsOf } from '../../project/fold/tally.ts'
import { recordOf } from '../../protocol/brand.ts'
import { boundOf, floorTo, MINUTE_MS, msOf } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import { encodeTotalsRow, firstChunkFrom, nextChunk, totalsRowAt } from './totals-rows.ts'

const KINDS = ['first', 'second', 'third']

/** Figures around the limits of 64 and 128 bits, and small ones. */
const figure = fc.oneof(
  fc.bigInt({ min: -(10n ** 6n), max: 10n ** 18n }),
  fc
    .tuple(
      fc.constantFrom(-(2n ** 127n), -(2n ** 63n), 0n, 2n ** 63n, 2n ** 127n - 2n),
      fc.integer({ min: -1, max: 1 }),
    )
    .map(([edge, step]) => (edge === -(2n ** 127n) ? edge : edge + BigInt(step))),
)
const tallies = fc
  .tuple(
    fc.array(figure, { minLength: FIGURES.length, maxLength: FIGURES.length }),
    fc.array(fc.array(figure, { maxLength: 3 }), { maxLength: 3 }),
  )
  .map(([figures, byKind]) => ({
    figures: recordOf(FIGURES, (_, index) => figures[index] ?? 0n),
    byKind: recordOf(
      KIND_FIGURES,
      (_, place) => new Map(byKind[place]?.map((amount, index) => [KINDS[index] ?? '', amount])),
    ),
  }))
const seqs = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }).map(seqOf)

suite('a row of prefix totals', () => {
  test('keeps any figures, also among other rows in one blob, with or without their sums by kind', () => {
    const several = fc.array(fc.tuple(seqs, tallies), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(several, fc.boolean(), (rows, withKinds) => {
        const parts = rows.map(([seq, tally]) => encodeTotalsRow(seq, tally))
        const blob = Buffer.concat(parts.flatMap(({ row, kinds }) => (withKinds ? [row, kinds] : [row])))
        const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength)
        let at = 0
        for (const [seq, tally] of rows) {
          const row = totalsRowAt(view, at, withKinds)
          assert.equal(row.seq, seq)
          const totals = totalsOf(view, row, () => KINDS)
          assert.deepEqual(recordOf(FIGURES, totals.figure), tally.figures)
          if (withKinds) assert.deepEqual(tallyOf(totals), tally)
          else assert.throws(() => totals.byKind('burned'), /were read without the kinds of burned/)
          at = row.end
        }
        assert.equal(at, blob.byteLength)
      }),
    )
  })

  test('takes half as many bytes when every figure fits 64 bits', () => {
    const plain = { ...emptyTally(), figures: recordOf(FIGURES, () => 2n ** 63n - 1n) }
    const wide = { ...plain, figures: { ...plain.figures, treasury: 2n ** 63n } }
    const [narrow, full] = [plain, wide].map((tally) => encodeTotalsRow(seqOf(1), tally).row.byteLength)
    assert.equal((full ?? 0) - (narrow ?? 0), 8 * FIGURES.length)
  })

  test('has an id above those of earlier chunks of its minute and of earlier minutes', () => {
    const moments = fc.array(fc.integer({ min: 0, max: 3 * MINUTE_MS }), { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(moments, (unsorted) => {
        let last: number | null = null
        for (const at of unsorted.toSorted((a, b) => a - b).map(msOf)) {
          const id = nextChunk(last, at)
          assert.ok(last === null || id > last)
          assert.ok(id >= firstChunkFrom(floorTo(at, MINUTE_MS)))
          assert.ok(id < firstChunkFrom(boundOf(floorTo(at, MINUTE_MS) + MINUTE_MS)))
          last = id
        }
      }),
    )
  })

  test('is found by the ids that are in the stores: 2^20 for each minute since 1970', () => {
    assert.deepEqual(
      [0, 3, 29_000_000].map((minutes) => firstChunkFrom(boundOf(minutes * MINUTE_MS))),
      [0, 3_145_728, 30_408_704_000_000],
    )
  })

  test('is refused when it is cut short', () => {
    const { row, kinds } = encodeTotalsRow(seqOf(7), emptyTally())
    const cut = (...parts: readonly Uint8Array[]): DataView => {
      const whole = Uint8Array.from(Buffer.concat(parts))
      return new DataView(whole.buffer, 0, whole.byteLength - 1)
    }
    assert.throws(() => totalsRowAt(cut(row), 0, false), /lies within its bytes/)
    assert.throws(() => totalsRowAt(cut(row, kinds), 0, true), /lies within its bytes/)
  })

  test('has room for twice as many kinds of 128 bits as a log admits', () => {
    const kinds = (count: number): Map<string, bigint> =>
      new Map(Array.from({ length: count }, (_, index) => [`kind_${index}`, 2n ** 100n]))
    const tally = { ...emptyTally(), byKind: recordOf(KIND_FIGURES, () => kinds(2 * KINDS_MAX)) }
    assert.ok(encodeTotalsRow(seqOf(7), tally).kinds.byteLength > 2 ** 14)
    const more = { ...tally, byKind: recordOf(KIND_FIGURES, () => kinds(8 * KINDS_MAX)) }
    assert.throws(() => encodeTotalsRow(seqOf(7), more), /the sums by kind before seq 7 take \d+ bytes/)
  })
})
