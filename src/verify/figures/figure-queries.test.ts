import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DAY_MS, HOUR_MS, MINUTE_MS, msOf } from '../../protocol/moment.ts'
import {
  correctionQueries,
  type LogExtent,
  pastSummaryQueries,
  patternQueries,
  rangeQueries,
} from './figure-queries.ts'
import { type FigureQuery, momentsOf } from './published-answer.ts'
import type { Source } from '../reading/source.ts'

const FIRST = Date.UTC(2026, 9, 5, 10, 20, 30)
const extent = (lengthMs: number, firstMs = FIRST): LogExtent => ({
  firstMs: msOf(firstMs),
  lastMs: msOf(firstMs + lengthMs),
  seq: 99,
})
const pathsOf = (queries: readonly FigureQuery[]): readonly string[] => queries.map(({ path }) => path)

/** Parameters of a query. */
const given = ({ path }: FigureQuery): URLSearchParams => new URLSearchParams(path.split('?')[1])

suite('the queries about past summaries', () => {
  test('are about a moment in each tenth of the log, before the last event', () => {
    for (const [chance, after] of [
      [0, 0],
      [0.5, 500],
      [0.9999, 999],
    ] as const) {
      const queries = pastSummaryQueries(extent(10_000), () => chance)
      assert.deepEqual(
        pathsOf(queries),
        Array.from({ length: 10 }, (_, tenth) => `summary?at=${FIRST + tenth * 1_000 + after}`),
      )
      assert.ok(queries.every(({ seq }) => seq === 99))
    }
  })

  test('need the totals just after their moment', () => {
    const [first] = pastSummaryQueries(extent(10_000), () => 0)
    assert.deepEqual(first && momentsOf(first, {}), [FIRST + 1])
  })

  test('are none of a log without a past', () => {
    assert.deepEqual(
      pastSummaryQueries(null, () => 0),
      [],
    )
    assert.deepEqual(
      pastSummaryQueries(extent(0), () => 0),
      [],
    )
  })
})

suite('the queries about ranges', () => {
  test('are about each bucket, and about the whole past by day and by month', () => {
    const queries = rangeQueries('flows', extent(70 * DAY_MS))
    const past = queries.filter(({ path }) => path.includes('from='))
    assert.deepEqual(
      past.map((query) => [...given(query).values()]),
      [
        [String(Date.UTC(2026, 9, 5)), String(Date.UTC(2026, 11, 14)), 'day'],
        [String(Date.UTC(2026, 9, 1)), String(Date.UTC(2026, 11, 1)), 'month'],
      ],
    )
    assert.deepEqual(
      pathsOf(queries.filter((query) => !past.includes(query))),
      ['', 'minute', 'hour', 'day', 'week', 'month'].map((bucket) =>
        bucket === '' ? 'flows' : `flows?bucket=${bucket}`,
      ),
    )
  })

  test('are as of the last event for flows of the past, and as of the present otherwise', () => {
    for (const check of ['flows', 'funds'] as const)
      for (const query of rangeQueries(check, extent(70 * DAY_MS))) {
        const isPast = given(query).has('from')
        assert.equal(query.seq, isPast && check === 'flows' ? 99 : null, query.path)
      }
  })

  test('are about no past of a log that has none', () => {
    const asked = (lengthMs: number): number =>
      rangeQueries('funds', extent(lengthMs)).filter((query) => given(query).has('from')).length
    assert.equal(rangeQueries('funds', null).length, asked(0) + rangeQueries('funds', extent(0)).length)
    assert.deepEqual([asked(0), asked(DAY_MS), asked(31 * DAY_MS)], [0, 1, 2])
  })

  test('need the totals at each bound of their buckets', () => {
    const [day] = rangeQueries('flows', extent(3 * DAY_MS)).filter((query) => given(query).has('from'))
    const start = Date.UTC(2026, 9, 5)
    assert.deepEqual(
      day && momentsOf(day, { launchedAtMs: FIRST }),
      [0, 1, 2, 3].map((days) => start + days * DAY_MS),
    )
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

suite('the queries about patterns', () => {
  test('are about the default range, and about the last year in another time zone', () => {
    const start = Math.floor(FIRST / MINUTE_MS) * MINUTE_MS
    const pasts = (lengthMs: number): readonly (readonly string[])[] =>
      patternQueries(extent(lengthMs))
        .slice(1)
        .map((query) => [...given(query).values()])
    assert.deepEqual(pathsOf(patternQueries(null)), ['patterns'])
    assert.deepEqual(pasts(0), [])
    assert.deepEqual(pasts(MINUTE_MS), [[String(start), String(start + MINUTE_MS), '330']])
    const [long] = pasts(400 * DAY_MS)
    const end = start + 400 * DAY_MS
    assert.deepEqual(long, [String(end - 366 * DAY_MS), String(end), '330'])
  })

  test('need the totals at each whole hour of their time zone, and at both ends', () => {
    const query = patternQueries(extent(2 * HOUR_MS)).at(-1)
    const from = Math.floor(FIRST / MINUTE_MS) * MINUTE_MS
    assert.deepEqual(query && momentsOf(query, { launchedAtMs: FIRST }), [
      from,
      from + 2 * HOUR_MS,
      // Half past nine, ten and eleven are whole hours in the zone of +05:30.
      ...[9, 10, 11].map((hour) => Date.UTC(2026, 9, 5, hour, 30)),
    ])
  })
})

/** A service of a log of 20 events, in which these events correct the ones before them. */
function serviceWith(corrections: readonly number[]): Source {
  const answerTo = (path: string): object => {
    const before = Number(/before=(\d+)/.exec(path)?.[1])
    const seq = Number(/^events\/(\d+)\/details/.exec(path)?.[1])
    if (!Number.isNaN(seq)) return { details: { corrects: seq - 1 } }
    const newest = corrections.filter((each) => each < before).toSorted((a, b) => b - a)
    return { events: newest.slice(0, 3).map((each) => ({ seq: each })) }
  }
  return {
    is: 'service',
    read: async (path) => Buffer.from(JSON.stringify(answerTo(path))),
    months: async () => [],
    pause: async () => {},
  }
}

async function askedWith(corrections: readonly number[], chances: readonly number[]): Promise<string> {
  const [...left] = chances
  const chance = (): number => left.shift() ?? 0
  const queries = await correctionQueries({ source: serviceWith(corrections), chance }, 20)
  return queries.map(({ path }) => /\d+/.exec(path)?.[0]).join(' ')
}

suite('the queries about corrections', () => {
  test('are about the newest ones before a random seq, and one random event', async () => {
    assert.equal(await askedWith([4, 6, 8, 10, 18], [0.5, 0]), '9 7 5 1')
    assert.equal(await askedWith([4, 6, 8, 10, 18], [0.99, 0.1]), '17 9 7 3')
  })

  test('are about the newest of all when there is none before it', async () => {
    assert.equal(await askedWith([15, 18], [0, 0]), '17 14 1')
    assert.equal(await askedWith([], [0, 0]), '1')
  })

  test('are about no event after those that are checked, also when the log has grown', async () => {
    assert.equal(await askedWith([20, 21], [0, 0]), '19 1')
    assert.equal(await askedWith([21], [0.99, 0.99]), '20')
  })
})
