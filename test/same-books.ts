import assert from 'node:assert/strict'
import type { AsOfTotals, Books } from '../src/project/books.ts'
import { FIGURES } from '../src/project/tally.ts'
import { weekOf } from '../src/project/week-sums.ts'
import type { Entry } from '../src/protocol/event.ts'
import type { Ms } from '../src/protocol/moment.ts'
import { boundOf, floorTo, MINUTE_MS, QUARTER_MS, WEEK_MS } from '../src/protocol/moment.ts'
import { CONTEST_STATUSES } from '../src/protocol/resources.ts'
import { contestIdOf, seqOf } from '../src/protocol/seq.ts'

/** What two books are asked before they are taken for the same; `entries` are the log's, for moments worth asking. */
export function assertSameBooks(actual: Books, expected: Books, entries: readonly Entry[]): void {
  assert.deepEqual(actual.head, expected.head)
  assert.equal(actual.firstAtMs, expected.firstAtMs)
  assert.deepEqual(plain(actual.totals()), plain(expected.totals()))
  for (const ms of momentsOf(entries)) {
    assert.deepEqual(plain(actual.totalsBefore(ms)), plain(expected.totalsBefore(ms)), `totals before ${ms}`)
  }
  for (const q of quartersOf(entries)) {
    const ours = actual.weekStridedActivity(q)
    assert.deepEqual(ours, expected.weekStridedActivity(q), `week-strided activity of ${q}`)
  }
  assertSameListings(actual, expected, entries)
}

/** The part of the books that is kept as of the head alone. */
export function assertSameListings(actual: Books, expected: Books, entries: readonly Entry[]): void {
  assert.deepEqual(actual.head, expected.head)
  assert.deepEqual(plain(actual.totals()), plain(expected.totals()))
  assert.deepEqual(actual.loyalty(), expected.loyalty())
  assert.deepEqual(actual.openLots(null), expected.openLots(null))
  const ids = new Set(entries.flatMap(({ event }) => event.contestId ?? []))
  for (const id of [...ids, contestIdOf(999)]) {
    assert.deepEqual(actual.contest(id), expected.contest(id))
    assert.deepEqual(actual.openLots(id), expected.openLots(id))
    for (const [after, limit] of [
      [0, 10_000],
      [0, 1],
      [entries.length >> 1, 3],
    ] as const) {
      const asked = [id, seqOf(after), limit] as const
      assert.deepEqual(actual.payoutLines(...asked), expected.payoutLines(...asked))
    }
  }
  const subsets = [null, [], ...CONTEST_STATUSES.map((status) => [status]), ['running', 'paid'] as const]
  for (const statuses of subsets) {
    for (const after of [null, ...ids, contestIdOf(999)]) {
      for (const limit of [1, 2, 10_000]) {
        const query = { statuses, after, limit }
        assert.deepEqual(actual.contests(query), expected.contests(query))
      }
    }
  }
}

/** Totals without their look-ups, so that they can be compared. */
function plain({ head, totals }: AsOfTotals): unknown {
  const figures = FIGURES.map((name) => [name, totals.figure(name), totals.amount(name)])
  return { head: { ...head }, figures, kinds: [...totals.spentByKind()] }
}

/** Around every event: itself, a millisecond to each side, its minute, and the edges of its week. */
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

/** The quarter of every event and the next one, in every week from the one before the first event to the last. */
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
  // Of a long log a part is asked: every week, and of each week other quarters.
  const offsets = [0, WEEK_MS - QUARTER_MS, ...inWeek]
  return weeks.flatMap((week, index) =>
    offsets
      .filter((_, place) => weeks.length < 12 || (place + index) % 7 === 0)
      .map((offset) => boundOf(week + offset)),
  )
}
