import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { drawnBars } from '../../../../test/web/drawn-bars.ts'
import { assertParity } from '../../../../test/web/parity/parity.ts'
import type { ArchiveMonth } from '../../../protocol/endpoints/file-endpoints.ts'
import { monthChart } from './archive-page.ts'
import { openApiStage } from '../../../../test/stage/api-stage.ts'
import type { StoryEvent } from '../../../../test/story/api-story.ts'
import { wordsOf } from '../../../../test/web/contest-story.ts'

suite('the page of the archive', () => {
  test('counts its events', async () => {
    const deposit: StoryEvent = { type: 'treasury', kind: 'deposit', kots: '1' }
    for (const [story, said] of [
      [[], 'Every event since the first, in a file for each month.'],
      [[deposit], '1 event in one month, in one file.'],
      [[deposit, deposit], '2 events in one month, in one file.'],
    ] as const) {
      await using stage = await openApiStage({ story })
      const page = wordsOf(await (await stage.get('/archive')).text())
      assert.ok(page.includes(said), said)
    }
  })
})

const month = (name: string, events: number, state: 'open' | 'closed' = 'closed'): ArchiveMonth => ({
  month: name,
  state,
  url: `/api/v1/archive/${name}.jsonl.gz`,
  detailsUrl: `/api/v1/archive/${name}.details.jsonl.gz`,
  parquetUrl: state === 'open' ? null : `/api/v1/archive/${name}.parquet`,
  bytes: null,
  events,
  firstSeq: null,
  lastSeq: null,
  sha256: null,
  linesSha256: null,
})

const MONTHS = [
  month('2026-11', 300),
  month('2026-12', 1200),
  month('2027-01', 0),
  month('2027-02', 600, 'open'),
]

const chartOf = (months: readonly ArchiveMonth[]): string => monthChart(months)?.markup ?? ''

suite('the chart of months', () => {
  test('shows nothing that the JSON lacks', () => {
    const alternate = '<link rel="alternate" type="application/json" href="/api/v1/archive" />'
    assertParity(`${alternate}<main>${chartOf(MONTHS)}</main>`, [JSON.stringify({ months: MONTHS })])
  })

  test('has a bar for each closed month, proportional to its events', () => {
    assert.deepEqual(drawnBars(chartOf(MONTHS), 'f1', MONTHS.length), [
      [0, 204.5],
      [1, 818.2],
    ])
  })

  test('makes the open month pale, and explains it', () => {
    const markup = chartOf(MONTHS)
    assert.deepEqual(drawnBars(markup, 'f1 pale', MONTHS.length), [[3, 409.1]])
    assert.match(markup, /Pale: not over yet/)
    assert.doesNotMatch(chartOf(MONTHS.slice(0, 3)), /pale/i)
  })

  test('labels the months, and the year when it changes', () => {
    const marks = [...chartOf(MONTHS).matchAll(/dx="5"[^>]*>\s*([^<]*?)\s*</g)].map(([, mark]) => mark)
    assert.deepEqual(marks, ['Nov', 'Dec', '2027', 'Feb'])
  })

  test('names the month of most events in words', () => {
    const text = chartOf(MONTHS)
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll(/\s+/g, ' ')
    assert.match(text, /The most events came in December 2026\./)
  })

  test('is left out for less than two months', () => {
    assert.equal(monthChart(MONTHS.slice(0, 1)), null)
    assert.equal(monthChart([]), null)
  })
})
