import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import {
  boundOf,
  ceilTo,
  DAY_MS,
  floorTo,
  formatAt,
  formatCompact,
  monthOf,
  monthStart,
  MS_MAX,
  msOf,
  nextMonth,
  parseAt,
  parseMonth,
} from './moment.ts'

/** Days of one leap cycle, after which the calendar repeats. */
const CYCLE_DAYS = 146_097

suite('a moment', () => {
  test('is formatted as by Date, and parsed back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MS_MAX }), (value) => {
        const text = formatAt(msOf(value))
        assert.equal(text, new Date(value).toISOString())
        assert.equal(parseAt(text), value)
      }),
    )
  })

  test('has the right date at the first and last millisecond of every day of a leap cycle', () => {
    for (let day = 0; day <= CYCLE_DAYS; day++) {
      for (const ms of [day * DAY_MS, (day + 1) * DAY_MS - 1]) {
        if (formatAt(msOf(ms)) !== new Date(ms).toISOString())
          assert.fail(`day ${day}: ${formatAt(msOf(ms))}`)
      }
    }
  })

  test('is formatted at the limits of the protocol, and for a bound before 1970 or after 9999', () => {
    for (const [ms, text] of [
      [0, '1970-01-01T00:00:00.000Z'],
      [MS_MAX, '9999-12-31T23:59:59.999Z'],
      [-3 * DAY_MS, '1969-12-29T00:00:00.000Z'],
      [-1, '1969-12-31T23:59:59.999Z'],
      [MS_MAX + 1, '+010000-01-01T00:00:00.000Z'],
    ] as const) {
      assert.equal(formatAt(boundOf(ms)), text)
    }
  })

  test('is an integer of milliseconds from 1970 to 9999, and a bound may be outside those years', () => {
    for (const value of [-1, MS_MAX + 1, 0.5, Number.NaN]) assert.throws(() => msOf(value), RangeError)
    for (const value of [0.5, Number.NaN, 2 ** 53]) assert.throws(() => boundOf(value), RangeError)
    assert.deepEqual([msOf(0), msOf(MS_MAX), boundOf(-1), boundOf(MS_MAX + 1)], [0, MS_MAX, -1, MS_MAX + 1])
  })

  const parsed: readonly (readonly [text: string, at: string | undefined])[] = [
    ['2026-10-03', '2026-10-03T00:00:00.000Z'],
    ['2026-10-03T11:22Z', '2026-10-03T11:22:00.000Z'],
    ['2026-10-03T11:22:33.1Z', '2026-10-03T11:22:33.100Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2026-02-29', undefined],
    ['2026-13-01', undefined],
    ['2026-10-00', undefined],
    ['2026-10-03T24:00Z', undefined],
    ['2026-10-03T11:60Z', undefined],
    ['2026-10-03T11:22:60Z', undefined],
    ['2026-10-03T11:22:33.1234Z', undefined],
    ['2026-10-03T11:22', undefined],
    ['1969-12-31T23:59:59.999Z', undefined],
    // Date.UTC reads 71 as 1971.
    ['0071-10-03', undefined],
  ]
  for (const [text, at] of parsed) {
    test(`is ${at === undefined ? 'never' : 'also'} written ${text}`, () => {
      const ms = parseAt(text)
      assert.equal(ms === undefined ? undefined : formatAt(ms), at)
    })
  }

  test('is between the multiples of a width before and after it, counted from an origin', () => {
    const widths = fc.integer({ min: 1, max: 7 * DAY_MS })
    const origins = fc.integer({ min: -3 * DAY_MS, max: DAY_MS })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MS_MAX }), widths, origins, (value, width, origin) => {
        const [floor, ceil] = [floorTo(msOf(value), width, origin), ceilTo(msOf(value), width, origin)]
        for (const bound of [floor, ceil]) assert.equal(Math.abs((bound - origin) % width), 0)
        assert.ok(value - width < floor && floor <= value && value <= ceil && ceil < value + width)
      }),
    )
    assert.deepEqual([floorTo(msOf(90), 60), ceilTo(msOf(90), 60)], [60, 120])
    assert.deepEqual([floorTo(msOf(120), 60), ceilTo(msOf(120), 60)], [120, 120])
  })

  test('is formatted without punctuation and milliseconds, for calendars and names of files', () => {
    assert.equal(formatCompact(msOf(Date.UTC(2026, 9, 3, 11, 22, 33, 123))), '20261003T112233Z')
  })
})

suite('a month', () => {
  test('ends where the next one starts, also over the end of a year', () => {
    for (const [text, next] of [
      ['2026-01', '2026-02'],
      ['2026-09', '2026-10'],
      ['2026-11', '2026-12'],
      ['2026-12', '2027-01'],
      ['1999-12', '2000-01'],
    ]) {
      const month = parseMonth(text ?? '') ?? assert.fail(text)
      const end = monthStart(nextMonth(month))
      assert.equal(nextMonth(month), next)
      assert.deepEqual([monthOf(msOf(end - 1)), monthOf(end)], [text, next])
      assert.equal(formatAt(monthStart(month)), `${text}-01T00:00:00.000Z`)
    }
  })

  test('is written yyyy-mm, from 1970 on', () => {
    for (const text of ['1970-01', '9999-12']) assert.equal(parseMonth(text), text)
    for (const text of ['1969-12', '2026-00', '2026-13', '2026-1', '2026-10-01', '02026-10', ''])
      assert.equal(parseMonth(text), undefined, text)
  })
})
