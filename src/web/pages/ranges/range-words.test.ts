import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { rangeName } from './range-words.ts'

/** The log begins on 28 August 2026. */
const LAUNCHED = '2026-08-28T09:30Z'
/** Its newest event. */
const NEWEST = '2026-11-28T11:50Z'

const RANGES: readonly (readonly [from: string, to: string, name: string, newest?: string])[] = [
  ['2026-10-01', '2026-11-01', 'in October 2026'],
  ['2026-12-01', '2027-01-01', 'in December 2026', '2027-02-01'],
  ['2026-11-01', '2026-12-01', 'in November 2026 so far'],
  ['2026-11-01', '2026-11-29', 'in November 2026 so far'],
  ['2026-11-01', '2026-11-02', 'on 1 November 2026 so far', '2026-11-01T11:00Z'],
  ['2026-10-01', '2026-10-04', 'from 1 to 3 October 2026'],
  ['2026-10-03', '2026-10-04', 'on 3 October 2026'],
  ['2026-11-28', '2026-11-29', 'on 28 November 2026 so far'],
  ['2026-09-01', '2026-11-01', 'from September to October 2026'],
  ['2026-12-01', '2027-02-01', 'from December 2026 to January 2027', '2027-03-01'],
  ['2027-01-01', '2028-01-01', 'in 2027', '2028-02-01'],
  ['2027-01-01', '2028-01-01', 'in 2027 so far', '2027-03-01'],
  ['2026-12-31', '2027-01-02', 'from 31 December 2026 to 1 January 2027', '2027-02-01'],
  // The part of ninety days, of months and of the first day that the log covers.
  ['2026-08-31', '2026-11-29', 'from 31 August to 28 November 2026'],
  ['2026-08-01', '2026-12-01', 'from 28 August to 28 November 2026'],
  ['2026-06-01', '2026-08-30', 'from 28 to 29 August 2026', '2026-08-29T01:00Z'],
  ['2026-06-01', '2026-08-29', 'on 28 August 2026 so far', '2026-08-28T10:00Z'],
  ['2026-08-01', '2026-09-01', 'from 28 to 31 August 2026'],
  ['2026-06-01', '2026-07-01', 'in June 2026'],
  ['2026-11-27T02:00Z', '2026-11-28T03:00Z', 'from 27 Nov 02:00 to 28 Nov 2026 03:00 UTC'],
  ['2026-11-27T12:00Z', '2026-11-28T12:00Z', 'from 27 Nov 12:00 to 28 Nov 2026 11:51 UTC'],
  ['2026-12-31T23:00Z', '2027-01-01T01:00Z', 'from 31 Dec 2026 23:00 to 1 Jan 2027 01:00 UTC', '2027-02-01'],
]

suite('a range', () => {
  for (const [from, to, name, newest = NEWEST] of RANGES) {
    test(`of ${from} to ${to}, with events up to ${newest}, is named “${name}”`, () => {
      const { before, words } = rangeName({
        fromMs: Date.parse(from),
        toMs: Date.parse(to),
        launchedAtMs: Date.parse(LAUNCHED),
        asOf: { atMs: Date.parse(newest) },
        // The present is that of the newest event.
        buckets: newest < to ? [{ at: from, complete: false }] : [],
      })
      assert.equal(`${before} ${words}`, name)
    })
  }

  test('that is over since the newest event is not “so far”, and one that is not ends with its last bucket', () => {
    const range = { launchedAtMs: null, asOf: { atMs: Date.parse('2026-10-30T20:00Z') } }
    const [fromMs, toMs] = [Date.parse('2026-10-01'), Date.parse('2026-11-01')]
    assert.equal(rangeName({ ...range, fromMs, toMs, buckets: [] }).words, 'October 2026')
    const buckets = [
      { at: '2026-10-29T00:00:00.000Z', complete: true },
      { at: '2026-11-02T00:00:00.000Z', complete: false },
    ]
    const days = { fromMs: Date.parse('2026-10-29'), toMs: Date.parse('2026-11-03') }
    assert.equal(rangeName({ ...range, ...days, buckets }).words, '29 October to 2 November 2026')
  })

  test('that a quiet log leaves open goes to the present, though nothing was published since', () => {
    const range = {
      launchedAtMs: Date.parse('2026-11-28T00:36Z'),
      asOf: { atMs: Date.parse('2026-11-28T20:44Z') },
    }
    const present = '2026-11-29T02:39:00.000Z'
    const named = (from: string, to: string, open: readonly string[], now: string | null): string =>
      rangeName({
        ...range,
        fromMs: Date.parse(from),
        toMs: Date.parse(to),
        now: now === null ? null : { atMs: Date.parse(now) },
        buckets: open.map((at) => ({ at, complete: false })),
      }).words
    const days = ['2026-11-28T00:00:00.000Z', '2026-11-29T00:00:00.000Z']
    for (const now of [present, null])
      assert.equal(named('2026-11-28', '2026-11-30', days, now), '28 to 29 November 2026')
    const hours = ['2026-11-28T20:00:00.000Z', '2026-11-29T02:00:00.000Z']
    const ofHours = (now: string | null): string => named('2026-11-28', '2026-11-29T03:00Z', hours, now)
    assert.equal(ofHours(present), '28 Nov 00:36 to 29 Nov 2026 02:40 UTC')
    // An answer with its own end does not state the present.
    assert.equal(ofHours(null), '28 Nov 00:36 to 29 Nov 2026 03:00 UTC')
  })

  test('of an empty log has its own ends', () => {
    const range = { fromMs: Date.parse('2026-10-01'), toMs: Date.parse('2026-10-31') }
    assert.deepEqual(rangeName({ ...range, launchedAtMs: null, asOf: { atMs: null }, buckets: [] }), {
      before: 'from',
      words: '1 to 30 October 2026',
    })
  })
})
