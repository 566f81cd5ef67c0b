import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { formatAt, HOUR_MS, msOf } from '../../../protocol/moment.ts'
import { dayWords, timeWords } from '../../markup/time-words.ts'
import { exactMoment, longMomentText, momentText, monthWords } from '../../markup/moment-html.ts'
import { spokenRanges, spokenTimes } from './spoken-time.ts'

const NOW = msOf(Date.UTC(2026, 10, 29, 10, 30))

const named = (text: string): readonly string[] =>
  spokenTimes(text, NOW).map((time) =>
    time.is === 'month' ? time.month : `${time.is} ${formatAt(time.from)}`,
  )
const day = (date: string): string => `day ${date}T00:00:00.000Z`

suite('a time in words', () => {
  const cases: readonly (readonly [text: string, ...times: readonly string[]])[] = [
    ['28 Oct 2026', day('2026-10-28')],
    ['28 October 2026', day('2026-10-28')],
    ['Oct 28, 2026', day('2026-10-28')],
    ['october 28th', day('2026-10-28')],
    ['Wed 28 Oct', day('2026-10-28')],
    ['8 Nov', day('2026-11-08')],
    ['3 Jan', day('2027-01-03')],
    ['29 Feb'],
    ['28 Oct 2026 14:05', 'moment 2026-10-28T14:05:00.000Z'],
    ['28 Oct 2026, 14:05 UTC', 'moment 2026-10-28T14:05:00.000Z'],
    ['today', day('2026-11-29')],
    ['Yesterday', day('2026-11-28')],
    ['tomorrow 23:00', 'moment 2026-11-30T23:00:00.000Z'],
    ['October 2026', '2026-10'],
    ['Oct 2026', '2026-10'],
    ['november', '2026-11'],
    ['december', '2025-12'],
    ['15/11/2026', day('2026-11-15')],
    ['15.11.2026', day('2026-11-15')],
    ['11/15/2026', day('2026-11-15')],
    ['11/12/2026', day('2026-12-11'), day('2026-11-12')],
    ['11.12.2026', day('2026-12-11')],
    ['11/11/2026', day('2026-11-11')],
    ['11-12-2026', day('2026-12-11'), day('2026-11-12')],
    ['11-11-2026', day('2026-11-11')],
    ['15-11-2026', day('2026-11-15')],
    ['2026/11/15', day('2026-11-15')],
    ['2026.11.15', day('2026-11-15')],
    ['2026-11-08 16:20', 'moment 2026-11-08T16:20:00.000Z'],
    ['2026-11-08 16:20:05 UTC', 'moment 2026-11-08T16:20:05.000Z'],
    ['2026/15/11'],
    ['1 Oct 99999'],
    ['31 Nov 2026'],
    ['28 Oct 2026 24:00'],
    ['1 Octopus 2026'],
    ['photography'],
    ['ma'],
    ['1:2'],
    ['5-6'],
    ['5/6'],
    [''],
  ]
  for (const [text, ...times] of cases) {
    test(`${JSON.stringify(text)} is ${times.length === 0 ? 'none' : times.join(' or ')}`, () =>
      assert.deepEqual(named(text), times))
  }

  test('is found in every form in which pages print one', () => {
    const at = '2026-11-08T16:20:00.000Z'
    const ms = msOf(Date.parse(at))
    const exact = exactMoment(at).markup.replaceAll(/<[^>]*>/g, '')
    const moments = [
      timeWords('full', ms, NOW),
      timeWords('clock', ms, NOW),
      dayWords('cell', ms, NOW),
      exact,
      momentText(at),
      longMomentText(ms),
    ]
    for (const text of moments) assert.deepEqual(named(text), [`moment ${at}`], text)
    for (const text of [timeWords('near', ms, NOW), dayWords('date', ms), dayWords('short', ms, NOW)])
      assert.deepEqual(named(text), [day('2026-11-08')], text)
    for (const days of [-1, 0, 1, 5]) {
      const near = msOf(Date.UTC(2026, 10, 29 + days, 16, 20))
      for (const form of ['near', 'clock'] as const)
        assert.deepEqual(named(timeWords(form, near, NOW)), [`moment ${formatAt(near)}`], `${form} ${days}`)
    }
    assert.deepEqual(named(monthWords('2026-10')), ['2026-10'])
  })

  test('is found on the clock of any reader, with UTC beside it', () => {
    for (const hours of [-8, 0, 5.5, 9, 14]) {
      for (const ahead of [1, 5, 13, 23, 40, 200, 1_000]) {
        const at = msOf(NOW + ahead * HOUR_MS)
        for (const form of ['full', 'near', 'clock'] as const) {
          const text = timeWords(form, at, NOW, () => hours * HOUR_MS)
          assert.deepEqual(named(text), [`moment ${formatAt(at)}`], `${text}, ${hours} h`)
        }
      }
    }
  })
})

suite('two times', () => {
  const cases: readonly (readonly [text: string, ...ranges: readonly string[]])[] = [
    ['1 Oct - 5 Oct', '2026-10-01 2026-10-06'],
    ['1-5 October', '2026-10-01 2026-10-06'],
    ['Oct 1 - 5, 2025', '2025-10-01 2025-10-06'],
    ['October 1st – 5th', '2026-10-01 2026-10-06'],
    ['from 1 to 19 November 2026', '2026-11-01 2026-11-20'],
    ['2026-10-01..2026-10-05', '2026-10-01 2026-10-06'],
    ['2026-10-01 - 2026-10-05', '2026-10-01 2026-10-06'],
    ['2026-09 to 2026-10', '2026-09-01 2026-11-01'],
    ['2026-11-28T00:36Z...2026-11-29T02:40Z', '2026-11-28T00:36 2026-11-29T02:40'],
    ['28 Nov 00:36 to 29 Nov 2026 02:40 UTC', '2026-11-28T00:36 2026-11-29T02:40'],
    ['1/10/2026 - 15/10/2026', '2026-10-01 2026-10-16'],
    ['10/1/2026 - 10/15/2026', '2026-10-01 2026-10-16'],
    ['1/10/2026 - 5/10/2026', '2026-10-01 2026-10-06', '2026-01-10 2026-05-11'],
    ['1 10:00 to 2 Oct 2026 11:00 UTC', '2026-10-01T10:00 2026-10-02T11:00'],
    ['2026-10-01..9999-12-31', '2026-10-01 +010000-01-01'],
    ['31 December 2025 to 1 January 2026', '2025-12-31 2026-01-02'],
    ['28 Dec - 3 Jan', '2025-12-28 2026-01-04'],
    ['28 Dec - 3 Jan 2026', '2025-12-28 2026-01-04'],
    ['1 Mar to 1 Aug', '2026-03-01 2026-08-02'],
    ['September to October 2026', '2026-09-01 2026-11-01'],
    ['Oct-Nov', '2026-10-01 2026-12-01'],
    ['1 Nov until today', '2026-11-01 2026-11-30'],
    ['29 to 1 November 2026'],
    ['1 Oct to 5 Oct to 6 Oct'],
    ['1 to 2 December 2026'],
    ['duel to win'],
    ['tea - coffee'],
    ['0 - 5'],
    ['5-6'],
    ['1-2-3'],
    ['2026-02-01..2026-02-30'],
    ['-'],
    ['..'],
    [''],
  ]
  for (const [text, ...ranges] of cases) {
    test(`${JSON.stringify(text)} are ${ranges.length === 0 ? 'no range' : ranges.join(' or ')}`, () => {
      const found = spokenRanges(text, NOW).map(({ from, to }) =>
        [from, to].map((ms) => formatAt(ms).replace(/(T00:00)?:00\.000Z$/, '')).join(' '),
      )
      assert.deepEqual(found, ranges)
    })
  }
})
