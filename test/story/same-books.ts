import assert from 'node:assert/strict'
import type { AsOfTotals, Books, ContestFilter } from '../../src/project/fold/books.ts'
import { FIGURES, KIND_FIGURES } from '../../src/project/fold/tally.ts'
import type { UnpaidFilter, UnpaidRow } from '../../src/project/fold/unpaid.ts'
import { weekOf } from '../../src/project/fold/week-sums.ts'
import type { Entry } from '../../src/protocol/event.ts'
import {
  boundOf,
  DAY_MS,
  floorTo,
  HOUR_MS,
  MINUTE_MS,
  type Ms,
  MS_MAX,
  QUARTER_MS,
  WEEK_MS,
} from '../../src/protocol/moment.ts'
import { CONTEST_OUTCOMES, CONTEST_STATUSES } from '../../src/protocol/enumerations.ts'
import { contestIdOf, seqOf } from '../../src/protocol/seq.ts'

/** Asserts that two books give the same answers, at moments around the log's entries. */
export function assertSameBooks(actual: Books, expected: Books, entries: readonly Entry[]): void {
  assert.deepEqual(actual.head, expected.head)
  assert.equal(actual.firstAtMs, expected.firstAtMs)
  assert.deepEqual(plain(actual.totals()), plain(expected.totals()))
  for (const ms of momentsOf(entries)) {
    assert.deepEqual(plain(actual.totalsBefore(ms)), plain(expected.totalsBefore(ms)), `totals before ${ms}`)
  }
  const minutes = momentsOf(entries)
    .filter((ms) => ms % MINUTE_MS === 0)
    .toSorted((a, b) => a - b)
  for (const bounds of [minutes, minutes.slice(0, 1), []]) {
    const each = bounds.map((ms) => expected.totalsBefore(ms))
    assert.deepEqual(actual.totalsBeforeEach(bounds, true).map(plain), each.map(plain))
    assert.deepEqual(actual.totalsBeforeEach(bounds).map(plainFigures), each.map(plainFigures))
  }
  for (const q of quartersOf(entries)) {
    const ours = actual.weekStridedActivity(q)
    assert.deepEqual(ours, expected.weekStridedActivity(q), `week-strided activity of ${q}`)
  }
  assertSameListings(actual, expected, entries)
}

/** Asserts the same for the parts of the books that exist only as of the head. */
export function assertSameListings(actual: Books, expected: Books, entries: readonly Entry[]): void {
  assert.deepEqual(actual.head, expected.head)
  assert.deepEqual(plain(actual.totals()), plain(expected.totals()))
  assert.deepEqual(actual.loyalty(), expected.loyalty())
  for (const { event } of entries) {
    assert.deepEqual(actual.correction(event.seq), expected.correction(event.seq))
  }
  const every = { contestIds: null, kinds: null }
  assertSameUnpaid(actual, expected, entries, every)
  const ids = new Set(entries.flatMap(({ event }) => event.contestId ?? []))
  for (const id of [...ids, contestIdOf(999)]) {
    assert.deepEqual(actual.contest(id), expected.contest(id))
    assertSameUnpaid(actual, expected, entries, { ...every, contestIds: [id] })
    for (const [after, limit] of [
      [0, 10_000],
      [0, 1],
      [entries.length >> 1, 3],
    ] as const) {
      const asked = [id, seqOf(after), limit] as const
      assert.deepEqual(actual.payoutLines(...asked), expected.payoutLines(...asked))
    }
  }
  const kinds = ['winner', 'runner_up', 'absent']
  for (const id of ids)
    for (const kind of kinds)
      assert.equal(actual.lastPayout(id, kind), expected.lastPayout(id, kind), `${kind} of ${id}`)
  const [first, last] = [entries[0]?.event.atMs ?? boundOf(0), entries.at(-1)?.event.atMs ?? boundOf(0)]
  for (const [fromMs, toMs] of [
    [first, boundOf(last + 1)],
    [first, boundOf(Math.floor((first + last) / 2))],
  ] as const)
    for (const limit of [1, 10_000]) {
      const range = { fromMs, toMs, limit }
      assert.deepEqual(actual.closedContests(range), expected.closedContests(range))
    }
  assertSameUnpaid(actual, expected, entries, { ...every, kinds })
  assertSameUnpaid(actual, expected, entries, { kinds, contestIds: [...ids, contestIdOf(999)] })
  const all = { statuses: null, outcomes: null }
  const subsets: readonly ContestFilter[] = [
    all,
    { ...all, statuses: [] },
    ...CONTEST_STATUSES.map((status) => ({ ...all, statuses: [status] })),
    { ...all, statuses: ['running', 'paid'] },
    ...CONTEST_OUTCOMES.map((outcome) => ({ ...all, outcomes: [outcome] })),
    { statuses: ['paying', 'paid'], outcomes: [null, 'cancelled', 'owing'] },
  ]
  for (const filter of subsets) {
    for (const after of [null, ...ids, contestIdOf(999)]) {
      for (const limit of [1, 2, 10_000]) {
        const query = { ...filter, after, limit }
        assert.deepEqual(actual.contests(query), expected.contests(query))
      }
    }
  }
}

/** Asserts the same unpaid prizes: whole, in pages from any place, and summed at every change of a status. */
function assertSameUnpaid(
  actual: Books,
  expected: Books,
  entries: readonly Entry[],
  filter: UnpaidFilter,
): void {
  for (const [after, limit] of [
    [0, 10_000],
    [0, 1],
    [entries.length >> 1, 3],
  ] as const) {
    const query = { ...filter, after, limit }
    assert.deepEqual(actual.unpaid(query), expected.unpaid(query))
  }
  for (const now of presents(expected.unpaid({ ...filter, after: 0, limit: 10_000 }))) {
    const totals = expected.unpaidTotals(filter, now)
    assert.deepEqual(actual.unpaidTotals(filter, now), totals, `of ${JSON.stringify(filter)} at ${now}`)
  }
}

/** Whole minutes just before and after each change of an unpaid prize's status, and some far from all. */
function presents(rows: readonly UnpaidRow[]): ReadonlySet<Ms> {
  const moments = rows.flatMap(({ terms: { unlocksAt, reviewUntil } }) =>
    [unlocksAt ?? [], reviewUntil ?? []].flat(),
  )
  const around = moments.flatMap((ms) =>
    [-HOUR_MS, -MINUTE_MS, 0, MINUTE_MS, DAY_MS].map((away) =>
      floorTo(boundOf(Math.max(0, ms + away)), MINUTE_MS),
    ),
  )
  return new Set([boundOf(0), floorTo(MS_MAX, MINUTE_MS), ...around])
}

/** Totals without functions, so that they can be compared. */
function plain({ seq, head, totals }: AsOfTotals): unknown {
  const kinds = KIND_FIGURES.map((figure) => [...totals.byKind(figure)])
  return { ...plainFigures({ seq, head, totals }), kinds }
}

/** The same without the sums by kind. */
function plainFigures({ seq, head, totals }: AsOfTotals): object {
  const figures = FIGURES.map((name) => [name, totals.figure(name), totals.amount(name)])
  return { seq, head: head(), figures }
}

/** Moments around every event: its own, a millisecond to each side, its minute, and the edges of its week. */
export function momentsOf(entries: readonly Entry[]): readonly Ms[] {
  const around = entries.flatMap(({ event: { atMs } }) => {
    const minute = floorTo(atMs, MINUTE_MS)
    return [
      atMs - 1,
      atMs,
      atMs + 1,
      minute,
      minute + MINUTE_MS,
      minute + 30_001,
      weekOf(atMs),
      weekOf(atMs) + WEEK_MS,
    ]
  })
  return [...new Set([0, ...around])].map(boundOf)
}

/** The quarter hour of every event and the next, in every week from before the first event to the last. */
function quartersOf(entries: readonly Entry[]): readonly Ms[] {
  const first = entries[0]?.event.atMs
  const last = entries.at(-1)?.event.atMs
  if (first === undefined || last === undefined) return [boundOf(0)]
  const inWeek = new Set(
    entries.flatMap(({ event: { atMs } }) => {
      const quarter = floorTo(atMs, QUARTER_MS) - weekOf(atMs)
      return [quarter, (quarter + QUARTER_MS) % WEEK_MS]
    }),
  )
  const weeks: number[] = []
  for (let week = weekOf(first) - WEEK_MS; week <= weekOf(last) + WEEK_MS; week += WEEK_MS) weeks.push(week)
  // A long log is sampled: every week, with different quarter hours in each.
  const offsets = [0, WEEK_MS - QUARTER_MS, ...inWeek]
  return weeks.flatMap((week, index) =>
    offsets
      .filter((_, place) => weeks.length < 12 || (place + index) % 7 === 0)
      .map((offset) => boundOf(week + offset)),
  )
}
