import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { type Amount, billionths, negate } from '../../protocol/amount.ts'
import { boundOf, floorTo, MINUTE_MS, type Ms, MS_MAX, msOf } from '../../protocol/moment.ts'
import { contestIdOf, seqOf } from '../../protocol/seq.ts'
import {
  addSums,
  areZero,
  bucketsAfter,
  bucketsBefore,
  formatTerms,
  NO_SUMS,
  parseTerms,
  type PrizeTerms,
  type SumBucket,
  sumsCompleteFrom,
  sumsOf,
  totalsOfRows,
  totalsOfSums,
  unpaidOfSums,
  type UnpaidRow,
  type UnpaidSums,
  WHOLE,
} from './unpaid.ts'

const NOW = Date.UTC(2026, 9, 3, 11, 22)

/** Any moment, more often one near the present: at its edge, in its hour, or in its month. */
const moments: fc.Arbitrary<Ms> = fc
  .oneof(
    fc.integer({ min: 0, max: MS_MAX }),
    fc.integer({ min: -2, max: 2 }).map((ms) => NOW + ms),
    fc.integer({ min: -2 * MINUTE_MS, max: 2 * MINUTE_MS }).map((ms) => NOW + ms),
    fc.integer({ min: -(2 ** 33), max: 2 ** 33 }).map((ms) => NOW + ms),
    fc.constantFrom(0, 1, MS_MAX, MS_MAX - MINUTE_MS),
  )
  .map(msOf)

const presents: fc.Arbitrary<Ms> = fc
  .oneof(moments, fc.constant(msOf(NOW)))
  .map((now) => floorTo(now, MINUTE_MS))

const rows: fc.Arbitrary<UnpaidRow> = fc
  .record({
    unlocksAt: fc.option(moments),
    reviewUntil: fc.option(moments),
    claim: fc.boolean(),
    overpaid: fc.boolean(),
    amount: fc.oneof(fc.bigInt({ min: 1n, max: 9n }), fc.bigInt({ min: 1n, max: 10n ** 27n })),
  })
  .map(({ amount, ...terms }) => ({
    first: seqOf(1),
    contestId: contestIdOf(1),
    kind: 'winner',
    terms: { ...terms, availableAt: msOf(0) },
    unpaid: terms.overpaid ? negate(billionths(amount)) : billionths(amount),
  }))

/** Sums of every bucket after adding and removing rows one by one, in a log that ends at `at`. */
function kept(
  changes: readonly (readonly [PrizeTerms, Amount])[],
  at: Ms = boundOf(0),
  ofKind = false,
): ReadonlyMap<string, UnpaidSums> {
  const sums = new Map<string, UnpaidSums>()
  const from = sumsCompleteFrom(at)
  for (const [place, added] of changes.flatMap(([terms, amount]) => sumsOf(terms, amount, from, ofKind))) {
    sums.set(keyOf(place), addSums(sums.get(keyOf(place)) ?? NO_SUMS, added))
  }
  return sums
}

function keyOf({ level, bucket }: SumBucket): string {
  return `${level} ${bucket}`
}

function after(sums: ReadonlyMap<string, UnpaidSums>, now: Ms): UnpaidSums {
  let total = NO_SUMS
  const places = bucketsAfter(now)
  for (const [key, added] of sums) {
    const [level, bucket = -1] = key.split(' ').map(Number)
    const found = places.find((place) => place.level === level)
    if (found !== undefined && found.from <= bucket && bucket < found.to) total = addSums(total, added)
  }
  return total
}

suite('the terms of a prize', () => {
  test('are read from their text, and equal terms have equal texts', () => {
    const terms = fc.tuple(rows, moments).map(([row, at]): PrizeTerms => {
      const { unlocksAt, reviewUntil } = row.terms
      const last = Math.max(unlocksAt ?? 0, reviewUntil ?? 0)
      const isFree = unlocksAt === null && reviewUntil === null
      return { ...row.terms, availableAt: isFree ? at : msOf(last) }
    })
    fc.assert(
      fc.property(terms, terms, (one, other) => {
        assert.deepEqual(parseTerms(formatTerms(one)), one)
        assert.equal(formatTerms(one) === formatTerms(other), isDeepStrictEqual(one, other))
      }),
    )
  })
})

suite('sums of unpaid prizes', () => {
  test('give the same totals by status as the rows, from an hour before the last event on', () => {
    fc.assert(
      fc.property(fc.array(rows), moments, fc.array(presents, { minLength: 1 }), (unpaid, at, later) => {
        const changes = unpaid.map((row) => [row.terms, row.unpaid] as const)
        const sums = kept(changes, at)
        const ofKind = kept(changes, at, true)
        const notRedeemed = billionths(unpaid.reduce((total, row) => total + row.unpaid, 0n))
        for (const now of [
          sumsCompleteFrom(at),
          ...later.filter((present) => present >= sumsCompleteFrom(at)),
        ]) {
          const totals = totalsOfSums(notRedeemed, sums.get(keyOf(WHOLE)) ?? NO_SUMS, after(sums, now))
          assert.deepEqual(totals, totalsOfRows(unpaid, now))
          const whole = ofKind.get(keyOf(WHOLE)) ?? NO_SUMS
          assert.equal(unpaidOfSums(whole), notRedeemed)
          assert.deepEqual(totalsOfSums(unpaidOfSums(whole), whole, after(ofKind, now)), totals)
        }
      }),
    )
  })

  test('are the same with and without the buckets that no reader needs', () => {
    fc.assert(
      fc.property(fc.array(rows), moments, (unpaid, at) => {
        const changes = unpaid.map((row) => [row.terms, row.unpaid] as const)
        const passed = bucketsBefore(sumsCompleteFrom(at))
        const left = [...kept(changes)].filter(([key]) => {
          const [level, bucket = -1] = key.split(' ').map(Number)
          const place = passed.find((of) => of.level === level)
          return place === undefined || bucket < place.from || bucket >= place.to
        })
        assert.deepEqual(new Map(left), kept(changes, at))
      }),
    )
  })

  test('are zero once all rows are removed', () => {
    fc.assert(
      fc.property(fc.array(rows), (unpaid) => {
        const added = unpaid.map((row) => [row.terms, row.unpaid] as const)
        const taken = unpaid.map((row) => [row.terms, negate(row.unpaid)] as const)
        assert.ok([...kept([...added, ...taken]).values()].every(areZero))
      }),
    )
  })

  test('after a moment are in fewer than 4,096 buckets of each of three widths', () => {
    fc.assert(
      fc.property(presents, (now) => {
        const places = bucketsAfter(now)
        assert.equal(places.length, 3)
        assert.ok(places.every(({ from, to }) => to - from < 4_096))
      }),
    )
  })

  test('after a whole minute exclude that minute itself', () => {
    const row = {
      unlocksAt: boundOf(NOW),
      reviewUntil: null,
      availableAt: boundOf(NOW),
      claim: false,
      overpaid: false,
    }
    const sums = kept([[row, billionths(5n)]])
    assert.equal(after(sums, boundOf(NOW - MINUTE_MS)).locked, 5n)
    assert.equal(after(sums, boundOf(NOW)).locked, 0n)
  })
})
