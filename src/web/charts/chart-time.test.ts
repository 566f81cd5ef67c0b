import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { monthMarks, timeMarks } from './chart-time.ts'

const ranges: readonly (readonly [from: string, to: string, marks: string])[] = [
  ['2026-10-01', '2026-10-01T00:05Z', '1 Oct 00:01 00:02 00:03 00:04'],
  ['2026-10-01T18:00Z', '2026-10-02T18:00Z', '18:00 21:00 2 Oct 03:00 06:00 09:00 12:00 15:00'],
  ['2026-12-29', '2027-01-05', '29 Dec 30 Dec 31 Dec 1 Jan 2 Jan 3 Jan 4 Jan'],
  ['2026-08-21', '2026-09-05', '21 Aug 23 Aug 25 Aug 27 Aug 29 Aug 31 Aug 2 Sep 4 Sep'],
  ['2026-10-01', '2026-11-01', '5 Oct 12 Oct 19 Oct 26 Oct'],
  ['2026-06-15', '2027-03-01', 'Jul Aug Sep Oct Nov Dec 2027 Feb'],
  ['2024-03-01', '2030-01-01', '2025 2026 2027 2028 2029'],
]

suite('the time axis', () => {
  for (const [from, to, marks] of ranges) {
    test(`from ${from} to ${to} is marked ${marks}`, () => {
      const said = timeMarks(Date.parse(from), Date.parse(to)).map(({ label }) => label)
      assert.equal(said.join(' '), marks)
    })
  }

  test('of a narrow plot names the days and the years that begin in it', () => {
    const narrow = (from: string, to: string): string =>
      timeMarks(Date.parse(from), Date.parse(to))
        .flatMap(({ label, fits }) => (fits === 'both' ? [label] : []))
        .join(' ')
    assert.equal(narrow('2026-09-20T10:48Z', '2026-09-23T10:53Z'), '21 Sep 22 Sep')
    assert.equal(narrow('2026-11-27T12:54Z', '2026-11-29T00:39Z'), '28 Nov 12:00')
    assert.equal(narrow('2026-08-15', '2027-03-20'), 'Sep Nov 2027')
  })

  test('of months gives each the same width', () => {
    const marks = monthMarks(Date.UTC(2024, 0), Date.UTC(2024, 4))
    assert.deepEqual(
      marks.map(({ label, share }) => `${label} ${share}`),
      ['2024 0', 'Feb 0.25', 'Mar 0.5', 'Apr 0.75'],
    )
    const one = monthMarks(Date.UTC(2026, 1), Date.UTC(2026, 2))
    assert.deepEqual(
      one.map(({ label }) => label),
      ['Feb'],
    )
    const years = monthMarks(Date.UTC(2023, 11), Date.UTC(2033, 0))
    assert.deepEqual(
      years.map(({ label }) => label),
      ['2024', '2026', '2028', '2030', '2032'],
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
          assert.ok(marks.length <= 10)
          assert.ok(marks.filter(({ fits }) => fits === 'both').length <= 4)
          for (const [only, width] of [
            ['wide', 512],
            ['narrow', 240],
          ] as const) {
            const labels = marks.filter(({ fits }) => fits === 'both' || (only === 'wide' && fits === 'wide'))
            const ends = labels.map(({ share, label }) => share * width + 5 + label.length * 8)
            // The edge of a page is 16 pixels.
            assert.ok(ends.every((end) => end <= width + 8))
            assert.ok(
              labels.every(({ share }, index) => index === 0 || share * width > (ends[index - 1] ?? 0)),
            )
          }
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
