import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type DayForm, dayWords, type TimeForm, timeWords } from './time-words.ts'

/** A Monday. */
const NOW = '2026-11-23T11:50:00.000Z'

const CASES: readonly (readonly [form: TimeForm, at: string, words: string])[] = [
  ['near', '2026-11-23T14:00:59.999Z', '23 Nov 14:00 UTC'],
  ['near', '2026-11-22T00:00:00.000Z', '22 Nov 00:00 UTC'],
  ['near', '2026-11-21T23:59:59.999Z', '21 Nov'],
  ['near', '2026-11-29T14:00:00.000Z', '29 Nov 14:00 UTC'],
  ['near', '2027-01-02T08:48:00.000Z', '2 Jan 2027 08:48 UTC'],
  ['near', '2025-11-08T16:00:00.000Z', '8 Nov 2025'],
  ['clock', '2026-11-08T16:00:00.000Z', '8 Nov 16:00 UTC'],
  ['clock', '2025-11-08T16:00:00.000Z', '8 Nov 2025 16:00 UTC'],
  ['hour', '2026-11-29T08:48:59.000Z', '08:48 UTC'],
  ['full', '2026-11-08T03:49:13.233Z', '8 Nov 2026 03:49:13 UTC'],
  ['until', '2026-11-23T11:59:30.000Z', 'in 9 min'],
  ['until', '2026-11-23T14:00:00.000Z', 'in 2 h 10 min'],
  ['until', '2026-11-24T16:10:00.000Z', 'in 1 d 4 h'],
  ['until', '2026-11-25T11:50:00.000Z', 'in 2 days'],
  ['until', '2026-11-23T11:50:59.000Z', 'now'],
  ['until', '2026-11-23T10:44:00.000Z', '1 h 6 min ago'],
  ['span', '2026-11-10T10:44:00.000Z', '13 days'],
  ['span', '2026-11-22T17:01:00.000Z', '18 h 49 min'],
  ['span', '2026-11-23T11:50:00.000Z', '0 min'],
]

/** Minutes ahead of UTC: of Tokyo, Kolkata, New York in winter, and none. */
const [TOKYO, KOLKATA, NEW_YORK, UTC] = [540, 330, -300, 0]

/** Words on a reader's clock. The present is Monday 23 November 2026, 11:50 UTC. */
const READ: readonly (readonly [form: TimeForm, at: string, ahead: number, words: string])[] = [
  ['near', '2026-11-24T14:00:00.000Z', TOKYO, 'tomorrow 23:00, 14:00 UTC'],
  ['near', '2026-11-23T23:30:00.000Z', TOKYO, 'tomorrow 08:30, 23 Nov 23:30 UTC'],
  ['hour', '2026-11-23T23:30:00.000Z', TOKYO, 'tomorrow 08:30, 23:30 UTC'],
  ['clock', '2026-11-23T14:00:00.000Z', KOLKATA, 'today 19:30 your time, 14:00 UTC'],
  ['near', '2026-11-24T02:00:00.000Z', NEW_YORK, 'today 21:00, 24 Nov 02:00 UTC'],
  ['near', '2026-11-25T05:00:00.000Z', NEW_YORK, 'Wed 25 Nov 00:00, 05:00 UTC'],
  ['near', '2026-11-30T14:00:00.000Z', NEW_YORK, '30 Nov 09:00, 14:00 UTC'],
  ['full', '2027-01-01T03:00:00.000Z', NEW_YORK, '31 Dec 22:00 your time, 1 Jan 03:00 UTC'],
  ['full', '2026-12-31T20:00:00.000Z', TOKYO, '1 Jan 2027 05:00 your time, 31 Dec 20:00 UTC'],
  // Its clock is that of UTC: one moment, once.
  ['near', '2026-11-24T14:00:00.000Z', UTC, 'tomorrow 14:00 UTC'],
  ['hour', '2026-11-24T14:00:00.000Z', UTC, 'tomorrow 14:00 UTC'],
  // Past moments are UTC for everyone.
  ['near', '2026-11-23T11:50:00.000Z', TOKYO, '23 Nov 11:50 UTC'],
  ['full', '2026-11-23T11:49:59.000Z', TOKYO, '23 Nov 2026 11:49:59 UTC'],
  ['until', '2026-11-24T14:00:00.000Z', TOKYO, 'in 1 d 2 h'],
]

suite('a moment on a reader’s clock', () => {
  for (const [form, at, ahead, words] of READ) {
    test(`is ${words} for ${at} as ${form}, ${ahead} minutes ahead of UTC`, () => {
      assert.equal(
        timeWords(form, Date.parse(at), Date.parse(NOW), () => ahead * 60_000),
        words,
      )
    })
  }

  test('has the day after the clocks change as tomorrow', () => {
    // Berlin goes back from UTC+2 to UTC+1 on 25 October 2026, 01:00 UTC.
    const berlin = (ms: number): number => (ms < Date.parse('2026-10-25T01:00Z') ? 120 : 60) * 60_000
    const words = (at: string, now: string): string =>
      timeWords('clock', Date.parse(at), Date.parse(now), berlin)
    assert.equal(words('2026-10-25T22:30Z', '2026-10-24T22:30Z'), 'today 23:30 your time, 22:30 UTC')
    assert.equal(
      words('2026-10-25T23:30Z', '2026-10-24T22:30Z'),
      'tomorrow 00:30 your time, 25 Oct 23:30 UTC',
    )
  })
})

suite('a moment in words', () => {
  for (const [form, at, words] of CASES) {
    test(`is ${words} for ${at} as ${form}`, () => {
      assert.equal(timeWords(form, Date.parse(at), Date.parse(NOW)), words)
    })
  }
})

const DAYS: readonly (readonly [form: DayForm, at: string, words: string])[] = [
  ['cell', '2026-11-08T16:00:00.000Z', '8 Nov 16:00'],
  ['cell', '2025-11-08T16:00:00.000Z', '8 Nov 2025 16:00'],
  ['dayname', '2026-11-23T15:01:00.000Z', 'Mon'],
  ['dayname', '2026-12-08T00:00:00.000Z', 'Tue'],
  ['short', '2026-12-08T00:00:00.000Z', '8 Dec'],
  ['short', '2027-01-02T00:00:00.000Z', '2 Jan 2027'],
  ['date', '2026-11-08T03:49:13.233Z', '8 Nov 2026'],
]

suite('a day, and a cell of a table', () => {
  for (const [form, at, words] of DAYS) {
    test(`is ${words} for ${at} as ${form}`, () => {
      assert.equal(dayWords(form, Date.parse(at), Date.parse(NOW)), words)
    })
  }
})
