import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import {
  DAY_MS,
  formatAt,
  HOUR_MS,
  MINUTE_MS,
  type Ms,
  MS_MAX,
  msOf,
  parseAt,
} from '../../protocol/moment.ts'
import type { Parsed } from '../../protocol/problem.ts'
import { type Bucket, BUCKETS } from '../../protocol/enumerations.ts'
import { seqOf } from '../../protocol/seq.ts'
import {
  boundsOf,
  type LogEnds,
  type RangeQuery,
  resolvePatternRange,
  resolveRange,
  type TimeSpan,
} from './range.ts'

const at = (text: string): Ms => parseAt(text) as Ms
/** A Wednesday. */
const now = at('2026-11-18T14:35:27.500Z')
const empty: LogEnds = { head: { seq: seqOf(0), atMs: null }, firstAtMs: null }
const log = (first: string, last = first): LogEnds => ({
  head: { seq: seqOf(9), atMs: at(last) },
  firstAtMs: at(first),
})
/** A log that ends late. */
const late = log('2020-02-20', '2200-01-01')
/** A log that is older than any default range. */
const old = log('2020-02-20T08:00Z', '2026-11-18T14:00Z')

function shown(span: Parsed<TimeSpan>): string {
  return span.ok ? `${formatAt(span.value.fromMs)} ${formatAt(span.value.toMs)}` : span.problem.code
}

function range(query: RangeQuery, ends = old): string {
  return shown(resolveRange(query, now, ends)).replaceAll(':00.000Z', '')
}

suite('a time range', () => {
  const table: readonly (readonly [string, RangeQuery, string])[] = [
    ['is 90 days up to the end of today by default', {}, '2026-08-21T00:00 2026-11-19T00:00'],
    ['is 360 minutes by default', { bucket: 'minute' }, '2026-11-18T08:36 2026-11-18T14:36'],
    ['is 168 hours by default', { bucket: 'hour' }, '2026-11-11T15:00 2026-11-18T15:00'],
    [
      'is 52 weeks by default, from Monday to Monday',
      { bucket: 'week' },
      '2025-11-24T00:00 2026-11-23T00:00',
    ],
    ['is 36 calendar months by default', { bucket: 'month' }, '2023-12-01T00:00 2026-12-01T00:00'],
    [
      'floors an unaligned from and ceils an unaligned to',
      { from: at('2026-10-01T05:00Z'), to: at('2026-10-02T00:01Z') },
      '2026-10-01T00:00 2026-10-03T00:00',
    ],
    [
      'leaves aligned bounds as they are',
      { from: at('2026-10-01'), to: at('2026-10-02') },
      '2026-10-01T00:00 2026-10-02T00:00',
    ],
    [
      'takes weeks from ISO Monday, also before 1970',
      { from: msOf(0), to: at('1970-01-02'), bucket: 'week' },
      '1969-12-29T00:00 1970-01-05T00:00',
    ],
    [
      'takes calendar months, also of a leap year',
      { from: at('2024-02-29T23:59Z'), to: at('2024-03-01T00:00:00.001Z'), bucket: 'month' },
      '2024-02-01T00:00 2024-04-01T00:00',
    ],
    [
      'takes January for the month after December',
      { from: at('2025-12-31T23:59:59.999Z'), to: at('2026-01-01'), bucket: 'month' },
      '2025-12-01T00:00 2026-01-01T00:00',
    ],
    [
      'counts months back from to, over a February',
      { to: at('2025-03-31'), bucket: 'month' },
      '2022-04-01T00:00 2025-04-01T00:00',
    ],
    ['derives from from to', { to: at('2026-01-31') }, '2025-11-02T00:00 2026-01-31T00:00'],
    [
      'goes on until now with from alone',
      { from: at('2026-01-01T10:00Z') },
      '2026-01-01T00:00 2026-11-19T00:00',
    ],
    [
      'goes on until now with from alone, by month too',
      { from: at('2022-01-15'), bucket: 'month' },
      '2022-01-01T00:00 2026-12-01T00:00',
    ],
    [
      'may end with the present bucket',
      { from: at('2026-11-18'), to: at('2026-11-19') },
      '2026-11-18T00:00 2026-11-19T00:00',
    ],
    [
      'is refused when it ends after the present bucket',
      { to: (at('2026-11-19') + 1) as Ms },
      'in-the-future',
    ],
    ['is refused when it begins after the present bucket', { from: at('2026-11-19') }, 'in-the-future'],
    [
      'is refused when it is empty',
      { from: at('2026-10-01T10:00Z'), to: at('2026-10-01T10:00Z') },
      'invalid-range',
    ],
    [
      'is refused when it ends before it begins',
      { from: at('2026-10-02'), to: at('2026-10-01') },
      'invalid-range',
    ],
  ]
  for (const [name, query, expected] of table) test(name, () => assert.equal(range(query), expected))

  test('reaches to the head when the clock is behind it', () => {
    const ahead = log('2020-02-20', '2026-11-20T08:00Z')
    assert.equal(range({}, ahead), '2026-08-23T00:00 2026-11-21T00:00')
    assert.equal(range({ to: at('2026-11-21') }, ahead), '2026-08-23T00:00 2026-11-21T00:00')
    assert.equal(range({ from: at('2026-11-20') }, ahead), '2026-11-20T00:00 2026-11-21T00:00')
    assert.equal(range({ from: at('2026-11-21') }, ahead), 'in-the-future')
    const resolved = resolveRange({}, now, ahead)
    assert.equal(resolved.ok && resolved.value.nowMs, at('2026-11-20T08:00Z'))
  })

  suite('without from', () => {
    const young = log('2026-11-16T13:20:30Z', '2026-11-18T14:00Z')
    const first: readonly (readonly [Bucket, string])[] = [
      ['minute', '2026-11-18T08:36 2026-11-18T14:36'],
      ['hour', '2026-11-16T13:00 2026-11-18T15:00'],
      ['day', '2026-11-16T00:00 2026-11-19T00:00'],
      ['week', '2026-11-16T00:00 2026-11-23T00:00'],
      ['month', '2026-11-01T00:00 2026-12-01T00:00'],
    ]
    for (const [bucket, expected] of first)
      test(`begins with the first event’s ${bucket} at the earliest`, () =>
        assert.equal(range({ bucket }, young), expected))

    test('begins with the first event’s bucket too when to is given', () => {
      assert.equal(range({ to: at('2026-11-17') }, young), '2026-11-16T00:00 2026-11-17T00:00')
      assert.equal(range({ to: young.firstAtMs ?? now }, young), '2026-11-16T00:00 2026-11-17T00:00')
      const minutes = { to: at('2026-11-16T13:21Z'), bucket: 'minute' }
      assert.equal(range(minutes, young), '2026-11-16T13:20 2026-11-16T13:21')
    })

    test('has the default number of buckets when all of it is before the first event', () => {
      assert.equal(range({ to: at('2026-11-16') }, young), '2026-08-18T00:00 2026-11-16T00:00')
      assert.equal(range({ to: at('2021-01-01') }, young), '2020-10-03T00:00 2021-01-01T00:00')
    })

    test('is the present bucket on an empty log', () => {
      const present: readonly (readonly [Bucket, string])[] = [
        ['minute', '2026-11-18T14:35 2026-11-18T14:36'],
        ['hour', '2026-11-18T14:00 2026-11-18T15:00'],
        ['day', '2026-11-18T00:00 2026-11-19T00:00'],
        ['week', '2026-11-16T00:00 2026-11-23T00:00'],
        ['month', '2026-11-01T00:00 2026-12-01T00:00'],
      ]
      for (const [bucket, expected] of present) assert.equal(range({ bucket }, empty), expected)
      assert.equal(range({ to: at('2026-11-19') }, empty), '2026-11-18T00:00 2026-11-19T00:00')
    })

    test('begins in 1970 at the earliest', () => {
      assert.equal(range({ to: at('1970-01-05') }), '1970-01-01T00:00 1970-01-05T00:00')
      assert.equal(range({ to: at('1970-01-05'), bucket: 'week' }), '1969-12-29T00:00 1970-01-05T00:00')
      assert.equal(range({ to: msOf(1), bucket: 'month' }), '1970-01-01T00:00 1970-02-01T00:00')
      assert.equal(range({ to: msOf(0) }), 'invalid-range')
    })
  })

  test('ends in 9999 at the latest', () => {
    const last = { head: { seq: seqOf(9), atMs: MS_MAX }, firstAtMs: at('9999-11-30') }
    const query = { to: MS_MAX, bucket: 'month' }
    assert.equal(range(query, last), '9999-11-01T00:00 +010000-01-01T00:00')
    assert.equal(range({ bucket: 'month' }, last), '9999-11-01T00:00 +010000-01-01T00:00')
  })

  test('states the present only when it depends on it', () => {
    const minute = at('2026-11-18T14:35Z')
    const nowOf = (query: RangeQuery, ends = old): Ms | null => {
      const resolved = resolveRange(query, now, ends)
      assert.ok(resolved.ok)
      return resolved.value.nowMs
    }
    assert.equal(nowOf({}), minute)
    assert.equal(nowOf({ from: at('2026-10-01') }), minute)
    assert.equal(nowOf({ to: at('2026-10-01') }), null)
    assert.equal(nowOf({ from: at('2026-10-01'), to: at('2026-11-19') }), null)
    assert.equal(nowOf({ to: at('2026-10-01') }, empty), minute)
  })

  test('may have 1,500 buckets; one more is refused with a bucket that fits', () => {
    const to = at('2026-11-01')
    const minutes = (count: number): RangeQuery => ({
      from: msOf(to - count * MINUTE_MS),
      to,
      bucket: 'minute',
    })
    const most = resolveRange(minutes(1500), now, empty)
    assert.equal(most.ok && boundsOf(most.value).length, 1501)
    const refused = resolveRange(minutes(1501), now, empty)
    assert.ok(!refused.ok)
    assert.equal(refused.problem.code, 'too-many-buckets')
    assert.deepEqual(refused.problem.members, { requested: 1501, max: 1500, bucket: 'hour' })
    const months = (from: string) =>
      resolveRange({ from: at(from), to: at('2094-12-31'), bucket: 'month' }, now, late)
    const longest = months('1970-01-01')
    assert.equal(longest.ok && boundsOf(longest.value).length, 1501)
    const longer = resolveRange({ from: msOf(0), to: at('2095-01-02'), bucket: 'month' }, now, late)
    assert.deepEqual(!longer.ok && longer.problem.members, { requested: 1501, max: 1500, bucket: null })
  })

  test('with from alone is refused when it is too long until now, with a bucket that fits', () => {
    const refused = resolveRange({ from: at('2026-11-01'), bucket: 'minute' }, now, old)
    assert.ok(!refused.ok)
    assert.equal(refused.problem.code, 'too-many-buckets')
    assert.deepEqual(refused.problem.members, { requested: 25_356, max: 1500, bucket: 'hour' })
    const fitting = resolveRange({ from: at('2026-11-01'), bucket: 'hour' }, now, old)
    assert.ok(fitting.ok)
  })

  test('is refused without a suggestion when no bucket fits', () => {
    const refused = resolveRange({ from: msOf(0), to: at('2100-01-01') }, now, late)
    assert.ok(!refused.ok)
    assert.deepEqual(refused.problem.members, { requested: 47_482, max: 1500, bucket: null })
  })

  test('contains the requested span in adjacent whole buckets', () => {
    const times = fc.integer({ min: 0, max: now })
    fc.assert(
      fc.property(times, times, fc.constantFrom(...BUCKETS), (a, b, bucket) => {
        fc.pre(a !== b)
        const [from, to] = [msOf(Math.min(a, b)), msOf(Math.max(a, b))]
        const resolved = resolveRange({ from, to, bucket }, now, empty)
        if (!resolved.ok) return assert.equal(resolved.problem.code, 'too-many-buckets')
        const bounds = boundsOf(resolved.value)
        const { fromMs, toMs } = resolved.value
        assert.deepEqual([bounds[0], bounds.at(-1)], [fromMs, toMs])
        assert.ok(fromMs <= from && from < (bounds[1] ?? 0))
        assert.ok((bounds.at(-2) ?? toMs) < to && to <= toMs)
        if (bucket === 'month')
          for (const bound of bounds) assert.match(formatAt(bound), /-01T00:00:00\.000Z$/)
        assert.deepEqual(
          bounds,
          bounds.toSorted((one, other) => one - other),
        )
      }),
    )
  })
})

suite('the range of patterns', () => {
  const pattern = (from?: Ms, to?: Ms, ends = old): string =>
    shown(resolvePatternRange({ from, to }, now, ends)).replaceAll(':00.000Z', '')

  test('is 28 days up to the end of the present minute by default', () => {
    assert.equal(pattern(), '2026-10-21T14:36 2026-11-18T14:36')
  })

  test('is floored and ceiled to the minute', () => {
    assert.equal(
      pattern(at('2026-10-01T10:00:59Z'), at('2026-10-01T10:01:01Z')),
      '2026-10-01T10:00 2026-10-01T10:02',
    )
  })

  test('is at most 1,100 days', () => {
    const to = at('2026-11-01')
    assert.equal(pattern(msOf(to - 1100 * DAY_MS), to), '2023-10-28T00:00 2026-11-01T00:00')
    assert.equal(pattern(msOf(to - 1100 * DAY_MS - 1), to), 'range-too-long')
  })

  test('with from alone is refused when it is more than 1,100 days until now', () => {
    assert.equal(pattern(at('2026-01-01')), '2026-01-01T00:00 2026-11-18T14:36')
    assert.equal(pattern(at('2023-01-01')), 'range-too-long')
  })

  test('begins with the first event’s minute at the earliest', () => {
    const young = log('2026-11-16T13:20:30Z')
    assert.equal(pattern(undefined, undefined, young), '2026-11-16T13:20 2026-11-18T14:36')
    assert.equal(pattern(undefined, undefined, empty), '2026-11-18T14:35 2026-11-18T14:36')
    assert.equal(pattern(undefined, at('2026-11-01'), young), '2026-10-04T00:00 2026-11-01T00:00')
  })

  test('does not extend beyond the present minute', () => {
    assert.equal(pattern(undefined, at('2026-11-18T14:36Z')), '2026-10-21T14:36 2026-11-18T14:36')
    assert.equal(pattern(undefined, msOf(now + HOUR_MS)), 'in-the-future')
  })
})
