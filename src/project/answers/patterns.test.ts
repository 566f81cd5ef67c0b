import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { billionths } from '../../protocol/amount.ts'
import {
  boundOf,
  DAY_MS,
  FIRST_MONDAY_MS,
  floorTo,
  MINUTE_MS,
  type Ms,
  msOf,
  parseAt,
  QUARTER_MS,
  WEEK_MS,
} from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import type { Activity, AsOfTotals, Books } from '../fold/books.ts'
import { activityByHour } from './patterns.ts'
import { emptyTally, totalsOfTally } from '../fold/tally.ts'
import { addActivity, NO_ACTIVITY } from '../fold/week-sums.ts'
import { totalsOfRows } from '../fold/unpaid.ts'

/** A play event: its moment, kind and amount, and what is paid and burned at that moment. */
type Play = Readonly<{
  atMs: Ms
  kind: string
  spent: bigint
  plays: bigint
  paid: bigint
  burned: bigint
}>

const start = parseAt('2026-03-04T10:07Z') as Ms
const moments = fc.oneof(
  fc.integer({ min: 0, max: 40 * DAY_MS }),
  fc.integer({ min: 0, max: (40 * DAY_MS) / QUARTER_MS }).map((quarter) => quarter * QUARTER_MS),
)
const logs: fc.Arbitrary<readonly Play[]> = fc
  .array(
    fc.record({
      atMs: moments.map((ms) => msOf(start + ms)),
      kind: fc.constantFrom('entry', 'vote', 'boost'),
      spent: fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
      plays: fc.bigInt({ min: -3n, max: 9n }),
      paid: fc.bigInt({ min: -5n, max: 5n }),
      burned: fc.bigInt({ min: 0n, max: 5n }),
    }),
    { maxLength: 30 },
  )
  .map((plays) => plays.toSorted((a, b) => a.atMs - b.atMs))

const minutes = fc.integer({ min: -3 * 24 * 60, max: 50 * 24 * 60 })
const spans = fc
  .tuple(minutes, minutes)
  .filter(([a, b]) => a !== b)
  .map(([a, b]) => ({
    fromMs: boundOf(start + Math.min(a, b) * MINUTE_MS),
    toMs: boundOf(start + Math.max(a, b) * MINUTE_MS),
  }))
const quarterOffsets = fc.integer({ min: -56, max: 56 }).map((quarters) => quarters * 15)
const offsets = fc.oneof(quarterOffsets, fc.integer({ min: -840, max: 840 }))

suite('patterns', () => {
  test('count every event in its hour of the week in local time', () => {
    fc.assert(
      fc.property(logs, spans, offsets, (log, span, tz) => {
        const cells = activityByHour(booksOf(log), span, tz)
        assert.deepEqual(cells.map(comparable), naive(log, span, tz).map(comparable))
      }),
    )
  })

  test('are the same with and without week-strided sums', () => {
    fc.assert(
      fc.property(logs, spans, quarterOffsets, (log, span, tz) => {
        const books = booksOf(log)
        const bare = { ...books, weekStridedActivity: () => undefined }
        assert.deepEqual(
          activityByHour(books, span, tz).map(comparable),
          activityByHour(bare, span, tz).map(comparable),
        )
      }),
    )
  })

  test('cost no more over a year than over three weeks', () => {
    const log = Array.from({ length: 52 }, (_, week) => play(start + week * WEEK_MS))
    const asked = (weeks: number): number => {
      let lookUps = 0
      const books = booksOf(log)
      const counted: Books = {
        ...books,
        totalsBefore: (ms) => ((lookUps += 1), books.totalsBefore(ms)),
        totalsBeforeEach: (bounds) => ((lookUps += bounds.length), books.totalsBeforeEach(bounds)),
        weekStridedActivity: (q) => ((lookUps += 1), books.weekStridedActivity(q)),
      }
      activityByHour(counted, { fromMs: start, toMs: boundOf(start + weeks * WEEK_MS) }, 60)
      return lookUps
    }
    assert.ok(asked(52) < asked(3) + 2 * 168, `a year took ${asked(52)} look-ups`)
  })

  test('ask for a thousand hours at once when no week-strided sums fit the offset', () => {
    const log = [play(start), play(start + 6 * WEEK_MS)]
    let queries = 0
    const books = booksOf(log)
    const counted: Books = {
      ...books,
      totalsBefore: (ms) => ((queries += 1), books.totalsBefore(ms)),
      totalsBeforeEach: (bounds) => ((queries += 1), books.totalsBeforeEach(bounds)),
    }
    const span = { fromMs: start, toMs: boundOf(start + 7 * WEEK_MS) }
    const cells = activityByHour(counted, span, 7)
    assert.deepEqual(cells.map(comparable), naive(log, span, 7).map(comparable))
    // Six weeks are 1,008 hours.
    assert.ok(queries <= 3, `${queries} queries`)
  })
})

function play(atMs: number, kind = 'entry'): Play {
  return { atMs: msOf(atMs), kind, spent: 5n, plays: 1n, paid: 0n, burned: 0n }
}

/** Minimal books that walk the whole log for each query. */
function booksOf(log: readonly Play[]): Books {
  const head = { seq: seqOf(log.length), atMs: log.at(-1)?.atMs ?? null }
  const settledTo = head.atMs === null ? -Infinity : floorTo(head.atMs, WEEK_MS, FIRST_MONDAY_MS)
  return {
    head,
    firstAtMs: log[0]?.atMs ?? null,
    totals: () => totalsOf(log),
    totalsBefore: (ms) => totalsOf(log.filter((one) => one.atMs < ms)),
    totalsBeforeEach: (bounds) => bounds.map((ms) => totalsOf(log.filter((one) => one.atMs < ms))),
    weekStridedActivity(q) {
      assert.equal(q % QUARTER_MS, 0)
      if (q >= settledTo) return undefined
      let sum = NO_ACTIVITY
      for (let at = q; at > (log[0]?.atMs ?? at); at = boundOf(at - WEEK_MS)) {
        for (const one of log) if (one.atMs < at) sum = addActivity(sum, activityOf(one))
      }
      return sum
    },
    contest: () => undefined,
    contests: () => [],
    findContests: () => ({ contests: [], next: null }),
    closedContests: () => [],
    lastPayout: () => null,
    payoutLines: () => [],
    unpaid: () => [],
    unpaidTotals: (_contestId, now) => totalsOfRows([], now),
    loyalty: () => [],
    correction: () => undefined,
  }
}

function totalsOf(log: readonly Play[]): AsOfTotals {
  const tally = emptyTally()
  for (const { kind, spent, plays, paid, burned } of log) {
    tally.figures.plays += plays
    tally.figures.paidInPrizes += paid
    tally.figures.burned += burned
    tally.figures.spentOnPlay += billionths(spent)
    const { spentOnPlay } = tally.byKind
    spentOnPlay.set(kind, (spentOnPlay.get(kind) ?? 0n) + spent)
  }
  const head = { seq: seqOf(log.length), atMs: log.at(-1)?.atMs ?? null }
  return { seq: head.seq, head: () => head, totals: totalsOfTally(tally) }
}

function naive(
  log: readonly Play[],
  span: Readonly<{ fromMs: Ms; toMs: Ms }>,
  tz: number,
): readonly Activity[] {
  const cells = Array.from({ length: 168 }, () => NO_ACTIVITY)
  for (const one of log) {
    if (one.atMs < span.fromMs || one.atMs >= span.toMs) continue
    const local = new Date(one.atMs + tz * MINUTE_MS)
    const cell = ((local.getUTCDay() + 6) % 7) * 24 + local.getUTCHours()
    cells[cell] = addActivity(cells[cell] as Activity, activityOf(one))
  }
  return cells
}

function activityOf({ kind, spent, plays, paid, burned }: Play): Activity {
  return { plays, spentOnPlay: spent, paidInPrizes: paid, burned, spentByKind: new Map([[kind, spent]]) }
}

/** Removes kinds without spending. */
function comparable({ spentByKind, ...figures }: Activity): unknown {
  const spent = [...spentByKind]
    .filter(([, amount]) => amount !== 0n)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return { ...figures, spent }
}
