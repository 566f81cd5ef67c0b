import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DAY_MS, MINUTE_MS, msOf } from '../../protocol/moment.ts'
import { type LogExtent, rangeQueries } from './figure-queries.ts'
import { type FigureQuery, momentsOf } from './published-answer.ts'

const FIRST = Date.UTC(2026, 9, 5, 10, 20, 30)
const extent = (lengthMs: number, firstMs = FIRST): LogExtent => ({
  firstMs: msOf(firstMs),
  lastMs: msOf(firstMs + lengthMs),
  seq: 99,
})
/** Parameters of a query. */
const given = ({ path }: FigureQuery): URLSearchParams => new URLSearchParams(path.split('?')[1])

suite('the queries about ranges', () => {
  test('are about no past of a log that has none', () => {
    const asked = (lengthMs: number): number =>
      rangeQueries('funds', extent(lengthMs)).filter((query) => given(query).has('from')).length
    assert.equal(rangeQueries('funds', null).length, asked(0) + rangeQueries('funds', extent(0)).length)
    assert.deepEqual([asked(0), asked(DAY_MS), asked(31 * DAY_MS)], [0, 1, 2])
  })

  const fault = (published: Readonly<Record<string, unknown>>): (() => unknown) => {
    const [query] = rangeQueries('flows', null)
    return () => query && momentsOf(query, published)
  }

  test('refuse an answer whose present or launch is no moment', () => {
    const now = { atMs: Math.floor(FIRST / MINUTE_MS) * MINUTE_MS }
    assert.doesNotThrow(fault({ now, launchedAtMs: FIRST }))
    assert.doesNotThrow(fault({ now, launchedAtMs: null }))
    assert.throws(fault({ now: { atMs: now.atMs + 1 }, launchedAtMs: FIRST }), /now is not a whole minute/)
    assert.throws(fault({ now: { atMs: 'x' }, launchedAtMs: FIRST }), /now\.atMs is not a whole number/)
    assert.throws(
      fault({ now: { atMs: 9e15 - (9e15 % MINUTE_MS) }, launchedAtMs: 0 }),
      /now is not a whole minute/,
    )
    assert.throws(fault({ now, launchedAtMs: 'x' }), /launchedAtMs is not a whole number/)
    assert.throws(fault({ now, launchedAtMs: 9e15 }), /launchedAtMs is not a moment/)
  })
})
