import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { boundOf, DAY_MS, formatAt, formatCompact, MS_MAX, msOf, parseAt } from './moment.ts'

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

  test('is formatted at the limits of the protocol, and for a bound before 1970', () => {
    for (const [ms, text] of [
      [0, '1970-01-01T00:00:00.000Z'],
      [MS_MAX, '9999-12-31T23:59:59.999Z'],
      [-3 * DAY_MS, '1969-12-29T00:00:00.000Z'],
      [-1, '1969-12-31T23:59:59.999Z'],
    ] as const) {
      assert.equal(formatAt(boundOf(ms)), text)
    }
  })

  test('is formatted without punctuation and milliseconds, for calendars and names of files', () => {
    assert.equal(formatCompact(msOf(Date.UTC(2026, 9, 3, 11, 22, 33, 123))), '20261003T112233Z')
  })
})
