import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { assertParity } from '../../../../test/web/parity/parity.ts'
import type { ArchiveMonth } from '../../../protocol/resources.ts'
import { monthChart } from './archive-chart.ts'

const month = (name: string, events: number, state: 'open' | 'closed' = 'closed'): ArchiveMonth => ({
  month: name,
  state,
  url: `/api/v1/archive/${name}.jsonl.gz`,
  detailsUrl: `/api/v1/archive/${name}.details.jsonl.gz`,
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
    const bars = [...chartOf(MONTHS).matchAll(/<rect\s+class="f1"[^>]*\sheight="([^"]*)%"/g)]
    assert.deepEqual(
      bars.map(([, height]) => Number(height)),
      [20, 80, 0],
    )
  })

  test('hatches the open month, and explains it', () => {
    const markup = chartOf(MONTHS)
    assert.match(markup, /<rect\s+fill="url\(#months-hatch\)"[^>]*\sheight="40%"/)
    assert.match(markup, /hatched: not over yet/)
    assert.doesNotMatch(chartOf(MONTHS.slice(0, 3)), /hatch/)
  })

  test('labels the months, and the year when it changes', () => {
    const marks = [...chartOf(MONTHS).matchAll(/class="x[^>]*>\s*([^<]*?)\s*</g)].map(([, mark]) => mark)
    assert.deepEqual(marks, ['Nov', '2026', 'Dec', 'Jan', '2027', 'Feb'])
  })

  test('is left out for less than two months', () => {
    assert.equal(monthChart(MONTHS.slice(0, 1)), null)
    assert.equal(monthChart([]), null)
  })
})
