import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { monthMarks, timeMarks } from './chart-time.ts'

const ranges: readonly (readonly [from: string, to: string, marks: string])[] = [
  ['2026-10-01', '2026-10-01T00:05Z', '00:00 (2026 Oct 1) 00:01 00:02 00:03 00:04'],
  [
    '2026-10-01T18:00Z',
    '2026-10-02T18:00Z',
    '18:00 (2026 Oct 1) 20:00 22:00 00:00 (2026 Oct 2) 02:00 04:00 06:00 08:00 10:00 12:00 14:00 16:00',
  ],
  ['2026-12-29', '2027-01-05', 'Dec 29 (2026) Dec 30 Dec 31 Jan 1 (2027) Jan 2 Jan 3 Jan 4'],
  // The label of the first year would overlap that of the second.
  ['2026-12-31', '2027-01-11', 'Dec 31 Jan 1 (2027) Jan 2 Jan 3 Jan 4 Jan 5 Jan 6 Jan 7 Jan 8 Jan 9 Jan 10'],
  ['2026-08-21', '2026-09-05', 'Aug 21 (2026) Aug 23 Aug 25 Aug 27 Aug 29 Aug 31 Sep 2 Sep 4'],
  ['2026-10-01', '2026-11-01', 'Oct 5 (2026) Oct 12 Oct 19 Oct 26'],
  ['2026-06-15', '2027-03-01', 'Jul (2026) Aug Sep Oct Nov Dec Jan (2027) Feb'],
  ['2024-03-01', '2030-01-01', '2025 2026 2027 2028 2029'],
]

suite('the time axis', () => {
  for (const [from, to, marks] of ranges) {
    test(`from ${from} to ${to} is marked ${marks}`, () => {
      const said = timeMarks(Date.parse(from), Date.parse(to)).map(({ label, coarse }) =>
        coarse === null ? label : `${label} (${coarse.label})`,
      )
      assert.equal(said.join(' '), marks)
    })
  }

  test('of months gives each the same width', () => {
    const marks = monthMarks(Date.UTC(2024, 0), Date.UTC(2024, 4))
    assert.deepEqual(
      marks.map(({ label, share }) => `${label} ${share}`),
      ['Jan 0', 'Feb 0.25', 'Mar 0.5', 'Apr 0.75'],
    )
    const one = monthMarks(Date.UTC(2026, 1), Date.UTC(2026, 2))
    assert.deepEqual(
      one.map(({ label }) => label),
      ['Feb'],
    )
    const years = monthMarks(Date.UTC(2023, 11), Date.UTC(2033, 0))
    assert.deepEqual(
      years.map(({ label }) => label),
      ['2024', '2025', '2026', '2027', '2028', '2029', '2030', '2031', '2032'],
    )
  })

  test('has marks that fit, within the range and in order, for any range', () => {
    const year = 365 * 86_400_000
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 100 * year }),
        fc.integer({ min: 60_000, max: 100 * year }),
        (from, ms) => {
          const marks = timeMarks(from, from + ms)
          const shares = marks.map(({ share }) => share)
          assert.ok(marks.length <= 14)
          assert.ok(marks.filter(({ spare }) => !spare).length <= 5)
          assert.ok(shares.every((share) => share >= 0 && share <= 1))
          assert.deepEqual(
            shares,
            shares.toSorted((a, b) => a - b),
          )
        },
      ),
    )
  })

  test('of an empty range has no marks', () => {
    assert.deepEqual(timeMarks(5, 5), [])
  })
})
