import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { TimeForm } from './time-words.ts'
import { timeWords } from './time-words.ts'

/** A Monday. */
const NOW = '2026-11-23T11:50:00.000Z'

const CASES: readonly (readonly [form: TimeForm, at: string, words: string])[] = [
  ['near', '2026-11-23T14:00:59.999Z', 'today 14:00'],
  ['near', '2026-11-23T00:00:00.000Z', 'today 00:00'],
  ['near', '2026-11-22T23:59:59.999Z', 'yesterday 23:59'],
  ['near', '2026-11-24T16:00:00.000Z', 'tomorrow 16:00'],
  ['near', '2026-11-29T08:48:00.000Z', 'Sun 29 Nov 08:48'],
  ['near', '2026-11-30T08:48:00.000Z', '30 Nov'],
  ['near', '2026-11-21T08:48:00.000Z', '21 Nov'],
  ['near', '2027-01-02T08:48:00.000Z', '2 Jan 2027'],
  ['clock', '2026-11-08T16:00:00.000Z', '8 Nov 16:00'],
  ['clock', '2025-11-08T16:00:00.000Z', '8 Nov 2025 16:00'],
  ['dayname', '2026-11-23T15:01:00.000Z', 'today'],
  ['dayname', '2026-11-22T15:01:00.000Z', 'yesterday'],
  ['dayname', '2026-11-29T00:00:00.000Z', 'Sun'],
  ['dayname', '2026-12-08T00:00:00.000Z', 'Tue'],
  ['short', '2026-12-08T00:00:00.000Z', '8 Dec'],
  ['short', '2027-01-02T00:00:00.000Z', '2 Jan 2027'],
  ['hour', '2026-11-29T08:48:59.000Z', '08:48'],
  ['full', '2026-11-08T03:49:13.233Z', '8 Nov 2026 03:49:13'],
  ['date', '2026-11-08T03:49:13.233Z', '8 Nov 2026'],
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

suite('a moment in words', () => {
  for (const [form, at, words] of CASES) {
    test(`is ${words} for ${at} as ${form}`, () => {
      assert.equal(timeWords(form, Date.parse(at), Date.parse(NOW)), words)
    })
  }
})
