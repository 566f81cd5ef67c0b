import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import type { Ms } from '../../protocol/moment.ts'
import { DAY_MS, formatAt, HOUR_MS, MINUTE_MS, msOf, parseAt } from '../../protocol/moment.ts'
import type { Parsed } from '../../protocol/problem.ts'
import { BUCKETS } from '../../protocol/range-resources.ts'
import { seqOf } from '../../protocol/seq.ts'
import type { Head } from '../fold/books.ts'
import type { RangeQuery, TimeSpan } from './range.ts'
import { boundsOf, resolvePatternRange, resolveRange } from './range.ts'

const at = (text: string): Ms => parseAt(text) as Ms
/** A Wednesday. */
const now = at('2026-11-18T14:35:27.500Z')
const empty: Head = { seq: seqOf(0), atMs: null }

function shown(span: Parsed<TimeSpan>): string {
  return span.ok ? `${formatAt(span.value.fromMs)} ${formatAt(span.value.toMs)}` : span.problem.code
}

function range(query: RangeQuery, head: Head = empty): string {
  return shown(resolveRange(query, now, head)).replaceAll(':00.000Z', '')
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
    ['derives from from to', { to: at('2026-01-31') }, '2025-11-02T00:00 2026-01-31T00:00'],
    ['derives to from from', { from: at('2026-01-01T10:00Z') }, '2026-01-01T00:00 2026-04-01T00:00'],
    [
      'derives a to no later than the end of the present bucket',
      { from: at('2026-11-01') },
      '2026-11-01T00:00 2026-11-19T00:00',
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
    ['is refused with an unknown bucket', { bucket: 'Day' }, 'invalid-parameter'],
  ]
  for (const [name, query, expected] of table) test(name, () => assert.equal(range(query), expected))

  test('reaches to the head when the clock is behind it', () => {
    const head = { seq: seqOf(9), atMs: at('2026-11-20T08:00Z') }
    assert.equal(range({}, head), '2026-08-23T00:00 2026-11-21T00:00')
    assert.equal(range({ to: at('2026-11-21') }, head), '2026-08-23T00:00 2026-11-21T00:00')
  })

  test('may have 1,500 buckets; one more is refused with a bucket that fits', () => {
    const to = at('2026-11-01')
    const minutes = (count: number): RangeQuery => ({
      from: msOf(to - count * MINUTE_MS),
      to,
      bucket: 'minute',
    })
    const most = resolveRange(minutes(1500), now, empty)
    assert.equal(most.ok && boundsOf(most.value).length, 1500)
    const refused = resolveRange(minutes(1501), now, empty)
    assert.ok(!refused.ok)
    assert.equal(refused.problem.code, 'too-many-buckets')
    assert.deepEqual(refused.problem.members, { requested: 1501, max: 1500, bucket: 'hour' })
  })

  test('is refused without a suggestion when no bucket fits', () => {
    const refused = resolveRange({ from: msOf(0), to: at('2026-11-01') }, now, empty)
    assert.ok(!refused.ok)
    assert.deepEqual(refused.problem.members, { requested: 20758, max: 1500, bucket: null })
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
        const width = (bounds[0]?.toMs ?? 0) - (bounds[0]?.fromMs ?? 0)
        assert.ok(resolved.value.fromMs <= from && from < resolved.value.fromMs + width)
        assert.ok(resolved.value.toMs >= to && to > resolved.value.toMs - width)
        assert.equal(bounds[0]?.fromMs, resolved.value.fromMs)
        assert.equal(bounds.at(-1)?.toMs, resolved.value.toMs)
        for (const [index, one] of bounds.entries())
          assert.equal(one.fromMs, bounds[index - 1]?.toMs ?? one.fromMs)
      }),
    )
  })
})

suite('the range of patterns', () => {
  const pattern = (from: Ms | undefined, to: Ms | undefined): string =>
    shown(resolvePatternRange({ from, to }, now, empty)).replaceAll(':00.000Z', '')

  test('is 28 days up to the end of the present minute by default', () => {
    assert.equal(pattern(undefined, undefined), '2026-10-21T14:36 2026-11-18T14:36')
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

  test('does not extend beyond the present minute', () => {
    assert.equal(pattern(undefined, at('2026-11-18T14:36Z')), '2026-10-21T14:36 2026-11-18T14:36')
    assert.equal(pattern(undefined, msOf(now + HOUR_MS)), 'in-the-future')
  })
})
