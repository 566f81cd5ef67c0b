import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Flows, Funds, Patterns } from '../../src/protocol/endpoints/figure-endpoints.ts'
import { DAY, type Width, WIDTH_MS } from './calendar.ts'
import { DEFAULT_BUCKETS, defaultRange } from './default-range.ts'
import { get } from './download.ts'
import { patterns } from './patterns.ts'
import { flows, flowsByKind, funds } from './series.ts'
import { someMoment, someRange, span, type Trial } from './trial.ts'

const API = '/api/v1'
/** Default range of patterns: 28 days by the minute. */
const PATTERN_MINUTES = ['minute', 28 * 24 * 60] as const
const WIDTHS: readonly Width[] = ['minute', 'hour', 'day', 'week', 'month']

export function testSeries(trial: Trial): void {
  test('flows and funds, in buckets of every width', async () => {
    const { base, book } = trial
    for (let round = 0; round < trial.rounds; round += 1) {
      const bucket = WIDTHS[round % WIDTHS.length] ?? 'day'
      const [from, to] = someRange(trial, WIDTH_MS[bucket] * 200)
      const query = `from=${from}&to=${to}&bucket=${bucket}`
      assert.deepEqual(await get(base, `${API}/flows?${query}`), flows(book, from, to, bucket), query)
      const byKind = await get(base, `${API}/flows?${query}&by=kind`)
      assert.deepEqual(byKind, flowsByKind(book, from, to, bucket), `${query}&by=kind`)
      assert.deepEqual(await get(base, `${API}/funds?${query}`), funds(book, from, to, bucket), query)
    }
  })
}

/** One bound of a range, or none. `from` alone reaches to the present, so only wide buckets take it. */
function someBounds(trial: Trial, bucket: Width): Readonly<{ from?: number; to?: number }> {
  const at = someMoment(trial)
  const wide = bucket === 'week' || bucket === 'month'
  return [{}, { to: at }, { to: span(trial)[0] }, wide ? { from: at } : {}][trial.dice(4)] ?? {}
}

/** The present as an answer states it, which is null when the range does not depend on it. */
function presentOf(now: Readonly<{ atMs: number | null }> | null, given: Readonly<{ to?: number }>): number {
  if (given.to !== undefined) assert.equal(now?.atMs ?? null, null)
  return given.to ?? now?.atMs ?? Number.NaN
}

/** Tests of ranges without one or both of their bounds. */
export function testDefaultRanges(trial: Trial): void {
  test('flows, funds and patterns of ranges with one bound or none', async () => {
    const { base, book } = trial
    for (let round = 0; round < trial.rounds; round += 1) {
      const bucket = WIDTHS[round % WIDTHS.length] ?? 'day'
      const given = someBounds(trial, bucket)
      const query = Object.entries(given).map(([name, ms]) => `${name}=${ms}&`)
      const length = [bucket, DEFAULT_BUCKETS[bucket]] as const
      const path = `${query.join('')}bucket=${bucket}`

      const moved = await get<Flows>(base, `${API}/flows?${path}`)
      const range = defaultRange(book, presentOf(moved.now, given), length, given)
      assert.deepEqual(moved, flows(book, ...range, bucket, moved.now?.atMs), path)

      const held = await get<Funds>(base, `${API}/funds?${path}`)
      const heldRange = defaultRange(book, presentOf(held.now, given), length, given)
      assert.deepEqual(held, funds(book, ...heldRange, bucket, held.now.atMs ?? undefined), path)

      const active = await get<Patterns>(
        base,
        `${API}/patterns?${given.to === undefined ? '' : `to=${given.to}`}`,
      )
      const end = given.to === undefined ? {} : { to: given.to }
      const activeRange = defaultRange(book, presentOf(active.now, given), PATTERN_MINUTES, end)
      assert.deepEqual(active, patterns(book, ...activeRange, 0, active.now?.atMs), path)
    }
  })
}

export function testPatterns(trial: Trial): void {
  test('patterns, in time zones of whole hours and others', async () => {
    const { base, book } = trial
    for (let round = 0; round < trial.rounds; round += 1) {
      const tz = [0, 330, -480, 345, -210, 840, -840, trial.dice(1681) - 840][round % 8] ?? 0
      const [from, to] = someRange(trial, DAY * 100)
      const query = `from=${from}&to=${to}&tz=${tz}`
      assert.deepEqual(await get(base, `${API}/patterns?${query}`), patterns(book, from, to, tz), query)
    }
  })
}
