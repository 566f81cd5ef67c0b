import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { type ReadingPart, readingParts } from './reading-parts.ts'

type Month = Parameters<typeof readingParts>[0][number]

/** Months with these numbers of events and contiguous seqs. */
function monthsOf(counts: readonly number[]): readonly Month[] {
  let last = 0
  return counts.map((count, index) => {
    const firstSeq = count === 0 ? null : last + 1
    last += count
    return {
      month: `2026-${String(index + 1).padStart(2, '0')}`,
      firstSeq,
      lastSeq: count === 0 ? null : last,
    }
  })
}

/** Requests for a part: one for a file, one for each page of 10,000 events. */
const requestsOf = ({ month, after, end }: ReadingPart): number =>
  month === null ? Math.ceil((end - after) / 10_000) : 1

suite('the parts of an export', () => {
  test('are one request a month for a year of five million events', () => {
    const parts = readingParts(monthsOf(Array.from({ length: 12 }, () => 420_000)), 0, 12 * 420_000)
    assert.deepEqual(
      parts.map(({ month }) => month !== null),
      Array.from({ length: 12 }, () => true),
    )
  })

  test('are pages where a few pages hold the events, across months too', () => {
    assert.deepEqual(readingParts(monthsOf([1_000, 0, 2_000, 50_000]), 100, 8_000), [
      { month: null, after: 100, end: 8_000 },
    ])
  })

  test('cover the range, each event once and in order, in few requests', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 90_000 }), { minLength: 1, maxLength: 12 }),
        fc.nat(),
        fc.nat(),
        (counts, one, other) => {
          const head = counts.reduce((sum, count) => sum + count, 0)
          const [after = 0, end = 0] = [one % (head + 1), other % (head + 1)].toSorted((a, b) => a - b)
          const parts = readingParts(monthsOf(counts), after, end)
          let place = after
          for (const part of parts) {
            assert.equal(part.after, place)
            assert.ok(part.end > part.after)
            place = part.end
          }
          assert.equal(place, end)
          // Small months are read together: at most three pages each, and one for the rest.
          const requests = parts.reduce((sum, part) => sum + requestsOf(part), 0)
          assert.ok(requests <= 4 * counts.length)
        },
      ),
    )
  })
})
