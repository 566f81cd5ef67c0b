import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { parseAmount } from '../../src/protocol/amount.ts'
import type { Entry } from '../../src/protocol/event.ts'
import { DAY_MS, floorTo, formatAt, MINUTE_MS, type Ms, msOf } from '../../src/protocol/moment.ts'
import type { Parsed } from '../../src/protocol/problem.ts'
import type { ContestWire } from '../../src/protocol/endpoints/contest-endpoints.ts'
import type { Flows, Summary, Waits } from '../../src/protocol/endpoints/figure-endpoints.ts'
import { BUCKETS } from '../../src/protocol/enumerations.ts'
import { isSettledBefore } from '../../src/project/answers/as-of.ts'
import type { Books } from '../../src/project/fold/books.ts'
import { flows, flowsByKind } from '../../src/project/answers/flows.ts'
import { funds } from '../../src/project/answers/funds.ts'
import { computeAnswer, openMemoryLog, prepareAnswer } from '../story/memory-log.ts'
import { patterns } from '../../src/project/answers/patterns.ts'
import { type ResolvedRange, resolvePatternRange, resolveRange } from '../../src/project/answers/range.ts'
import { waits } from '../../src/project/answers/waits.ts'
import { summary } from '../../src/project/answers/summary.ts'
import { randomLogs } from '../story/random-log.ts'

const ACTIVITY = ['spentOnPlay', 'paidInPrizes', 'burned'] as const
const IN = ['spentOnPlay', 'deposited', 'sponsored'] as const
const OUT = ['paidInPrizes', 'paidInLoyalty', 'refunded', 'burned', 'withdrawn'] as const
const FLOWS = [...IN, ...OUT, 'expired'] as const
const LEVELS = ['treasury', 'runningPools', 'loyaltyFund', 'prizesNotRedeemed'] as const

/** Two moments around the log, the earlier first. */
const moments = fc
  .tuple(fc.integer({ min: -20, max: 120 }), fc.integer({ min: 1, max: 60 }), fc.nat(DAY_MS))
  .map(([day, days, ms]) => {
    const from = Date.UTC(2026, 0, 30) + day * DAY_MS + ms
    return { from: msOf(from), to: msOf(from + days * DAY_MS - (ms % 7919)) }
  })
const ranges = fc.record({ moments, bucket: fc.constantFrom(...BUCKETS) })
const now = msOf(Date.UTC(2030, 0, 1))

function booksOf(entries: readonly Entry[]): Books {
  const log = openMemoryLog()
  for (const entry of entries) log.add(entry)
  return log.books()
}

function given<T>(answer: Parsed<T>): T {
  assert.ok(answer.ok, answer.ok ? '' : answer.problem.detail)
  return answer.value
}

const summaryAt = (books: Books, at: number): Summary => summary(books, msOf(at))
const billions = (amount: string): bigint => parseAmount(amount) as bigint

/** The range in these buckets, or in the smallest that fit. */
function rangeOf({ from, to }: Readonly<{ from: Ms; to: Ms }>, books: Books, bucket: string): ResolvedRange {
  const range = resolveRange({ from, to, bucket }, now, books)
  return range.ok ? range.value : rangeOf({ from, to }, books, range.problem.members?.['bucket'] as string)
}

function sumOf(buckets: Flows['buckets'], figure: (typeof FLOWS)[number]): bigint {
  return buckets.reduce((total, bucket) => total + billions(bucket[figure]), 0n)
}

/** Sum of amounts of a summary, of a bucket or of the totals of a range. */
function sumOfAll<Name extends string>(
  figures: Readonly<Record<Name, string>>,
  names: readonly Name[],
): bigint {
  return names.reduce((sum, name) => sum + billions(figures[name]), 0n)
}

/** Random logs of each law. Each run of the tests draws others. */
const RUNS = { numRuns: 40 }

/** Waits of the contests that closed between two moments. */
function waitsOf(books: Books, from: number, to: number): Waits {
  const span = { fromMs: floorTo(msOf(from), MINUTE_MS), toMs: floorTo(msOf(to), MINUTE_MS), nowMs: null }
  return given(waits(books, span, false))
}

suite('the laws', () => {
  test('waits of ranges side by side add up, and count each contest of /contests by its outcome', () => {
    fc.assert(
      fc.property(randomLogs, moments, fc.integer({ min: 1, max: 90 }), (entries, { from, to }, days) => {
        const books = booksOf(entries)
        const end = to + days * DAY_MS
        const [first, second, whole] = [
          waitsOf(books, from, to),
          waitsOf(books, to, end),
          waitsOf(books, from, end),
        ]
        const counts = ({ contests, all }: Waits): readonly number[] => [
          ...Object.values(contests),
          all.paid,
          all.waiting,
        ]
        assert.deepEqual(
          counts(whole),
          counts(first).map((count, index) => count + (counts(second)[index] ?? 0)),
        )
        assert.equal(whole.all.maxMs ?? 0, Math.max(first.all.maxMs ?? 0, second.all.maxMs ?? 0))
        const { closed, ...results } = waitsOf(books, 0, Date.UTC(2030, 0)).contests
        const listed = books.contests({ statuses: null, outcomes: null, after: null, limit: 10_000 })
        const ended = listed.filter(({ closedAt }) => closedAt !== null)
        const of = (...outcomes: readonly ContestWire['outcome'][]): number =>
          ended.filter(({ outcome }) => outcomes.includes(outcome)).length
        assert.equal(closed, ended.length)
        assert.deepEqual(results, {
          paid: of('paid'),
          expired: of('lapsed'),
          cancelled: of('cancelled'),
          waiting: of(null, 'owing'),
        })
        for (const { p50Ms, p90Ms, maxMs, paid } of [whole.all, ...whole.kinds]) {
          assert.equal(p50Ms === null, paid === 0)
          assert.ok((p50Ms ?? 0) <= (p90Ms ?? 0) && (p90Ms ?? 0) <= (maxMs ?? 0))
        }
      }),
      RUNS,
    )
  })

  test('flows over [from, to) are the summary at to − 1 ms less the summary at from − 1 ms', () => {
    fc.assert(
      fc.property(randomLogs, ranges, (entries, asked) => {
        const books = booksOf(entries)
        const range = rangeOf(asked.moments, books, asked.bucket)
        const answer = flows(books, range)
        const [before, after] = [summaryAt(books, range.fromMs - 1), summaryAt(books, range.toMs - 1)]
        for (const figure of FLOWS) {
          assert.equal(billions(answer.totals[figure]), billions(after[figure]) - billions(before[figure]))
          assert.equal(billions(answer.totals[figure]), sumOf(answer.buckets, figure))
        }
        assert.equal(answer.buckets.at(-1)?.tokenPriceUsd, after.tokenPriceUsd)
        assert.deepEqual(answer.asOf, after.asOf)
      }),
      RUNS,
    )
  })

  test('all that came in less all that went out is all that is held, right after each event', () => {
    fc.assert(
      fc.property(randomLogs, (entries) => {
        const log = openMemoryLog()
        for (const entry of entries) {
          log.add(entry)
          const all = summary(log.books(), null)
          assert.equal(sumOfAll(all, IN) - sumOfAll(all, OUT), sumOfAll(all, LEVELS), `seq ${all.events}`)
        }
      }),
      RUNS,
    )
  })

  test('the same in each bucket is the change of all that is held', () => {
    fc.assert(
      fc.property(randomLogs, ranges, (entries, asked) => {
        const books = booksOf(entries)
        const range = rangeOf(asked.moments, books, asked.bucket)
        const levels = funds(books, range).buckets
        let held = sumOfAll(summaryAt(books, range.fromMs - 1), LEVELS)
        for (const [index, bucket] of flows(books, range).buckets.entries()) {
          const after = sumOfAll(levels[index] ?? assert.fail(), LEVELS)
          assert.equal(sumOfAll(bucket, IN) - sumOfAll(bucket, OUT), after - held, bucket.at)
          held = after
        }
      }),
      RUNS,
    )
  })

  test('the sums of the summary are those of a fold that only reads the events', () => {
    fc.assert(
      fc.property(randomLogs, (entries) => {
        const sums = new Map<string, bigint>()
        for (const { event, details } of entries) {
          const { type, kind } = entries[(details?.corrects ?? event.seq) - 1]?.event ?? event
          const name = `${type}/${kind}`
          sums.set(name, (sums.get(name) ?? 0n) + (event.kots ?? 0n))
        }
        const of = (chosen: RegExp): bigint =>
          [...sums].reduce((total, [name, amount]) => (chosen.test(name) ? total + amount : total), 0n)
        const all = summary(booksOf(entries), null)
        assert.deepEqual(
          FLOWS.map((figure) => [figure, billions(all[figure])]),
          [
            ['spentOnPlay', of(/^play\//)],
            ['deposited', of(/^treasury\/deposit$/)],
            ['sponsored', of(/^pool\/sponsor$/)],
            ['paidInPrizes', of(/^payout\/(?!(?:refund|loyalty)$)/)],
            ['paidInLoyalty', of(/^payout\/loyalty$/)],
            ['refunded', of(/^payout\/refund$/)],
            ['burned', of(/^burn\//)],
            ['withdrawn', of(/^treasury\/withdrawal$/)],
            ['expired', of(/^expiry\//)],
          ],
        )
      }),
      RUNS,
    )
  })

  test('amounts by kind add up to the figure of each bucket, and all else is the same', () => {
    fc.assert(
      fc.property(randomLogs, ranges, (entries, asked) => {
        const books = booksOf(entries)
        const range = rangeOf(asked.moments, books, asked.bucket)
        const plain = flows(books, range)
        const { buckets, ...divided } = given(flowsByKind(books, range))
        const sums = buckets.map(({ spentByKind = {}, paidByKind = {}, burnedByKind = {}, ...bucket }) => {
          assert.equal(billions(bucket.spentOnPlay), sumOfAll(spentByKind, Object.keys(spentByKind)))
          assert.equal(billions(bucket.paidInPrizes), sumOfAll(paidByKind, Object.keys(paidByKind)))
          assert.equal(billions(bucket.burned), sumOfAll(burnedByKind, Object.keys(burnedByKind)))
          return bucket
        })
        assert.deepEqual({ ...divided, buckets: sums }, plain)
      }),
      RUNS,
    )
  })

  test('a level at a bucket’s end is the summary’s 1 ms before it', () => {
    fc.assert(
      fc.property(randomLogs, ranges, fc.nat(), (entries, asked, pick) => {
        const books = booksOf(entries)
        const { buckets, now: levels, toMs } = funds(books, rangeOf(asked.moments, books, asked.bucket))
        const index = pick % buckets.length
        const bucket = buckets[index]
        assert.ok(bucket !== undefined)
        const end = buckets[index + 1]?.atMs ?? toMs
        const then = summaryAt(books, end - 1)
        const present = summary(books, null)
        for (const level of LEVELS) {
          assert.equal(bucket[level], then[level])
          assert.equal(levels[level], present[level])
        }
      }),
      RUNS,
    )
  })

  test('minute buckets add up to hours, hours to days, days to weeks and months', () => {
    const steps = [
      ['minute', 'hour'],
      ['hour', 'day'],
      ['day', 'week'],
      ['day', 'month'],
    ] as const
    fc.assert(
      fc.property(randomLogs, fc.constantFrom(...steps), fc.nat(), (entries, [narrow, wide], pick) => {
        fc.pre(entries.length > 0)
        const books = booksOf(entries)
        const at = (entries[pick % entries.length] as Entry).event.atMs
        const range = given(resolveRange({ from: at, to: msOf(at + 1), bucket: wide }, now, books))
        const parts = flows(books, { ...range, bucket: narrow })
        assert.deepEqual(parts.totals, flows(books, range).totals)
        for (const figure of FLOWS) {
          assert.equal(sumOf(parts.buckets, figure), billions(flows(books, range).buckets[0]?.[figure] ?? ''))
        }
      }),
      RUNS,
    )
  })

  test('patterns’ cells add up to the flows of the same range, by hour and by day too', () => {
    const offsets = fc.oneof(
      fc.integer({ min: -56, max: 56 }).map((n) => n * 15),
      fc.integer({ min: -840, max: 840 }),
    )
    fc.assert(
      fc.property(randomLogs, moments, offsets, (entries, asked, tz) => {
        const books = booksOf(entries)
        const range = rangeOf(asked, books, 'hour')
        const span = given(resolvePatternRange({ from: range.fromMs, to: range.toMs }, now, books))
        const answer = patterns(books, span, tz)
        const { totals } = flows(books, range)
        const plays = summaryAt(books, range.toMs - 1).plays - summaryAt(books, range.fromMs - 1).plays
        for (const part of [answer.cells, answer.byHour, answer.byDay]) {
          for (const figure of ACTIVITY) {
            assert.equal(
              part.reduce((sum, cell) => sum + billions(cell[figure]), 0n),
              billions(totals[figure]),
            )
          }
          assert.equal(
            part.reduce((sum, cell) => sum + cell.plays, 0),
            plays,
          )
        }
        const byKind = answer.cells.flatMap((cell) => Object.values(cell.byKind))
        assert.equal(
          byKind.reduce((sum, spent) => sum + billions(spent), 0n),
          billions(totals.spentOnPlay),
        )
      }),
      RUNS,
    )
  })

  test('a contest’s outcome follows from its ledger by kind, whose lines add up to its prizes', () => {
    fc.assert(
      fc.property(randomLogs, (entries) => {
        const books = booksOf(entries)
        for (const one of given(computeAnswer(books, 'contests')).contests) {
          const { contest, prizes } = given(
            computeAnswer(books, 'contestLedger', { segments: { id: `${one.id}` } }),
          )
          assert.deepEqual(contest, one)
          const sumIn = (column: 'owed' | 'redeemed' | 'expired' | 'notRedeemed'): bigint =>
            prizes.reduce((sum, line) => sum + billions(line[column]), 0n)
          const [owed, redeemed, expired] = [sumIn('owed'), sumIn('redeemed'), sumIn('expired')]
          assert.deepEqual(
            [one.prizesOwed, one.prizesRedeemed, one.prizesExpired, one.prizesNotRedeemed].map(billions),
            [owed, redeemed, expired, owed - redeemed - expired],
          )
          assert.equal(one.outcome === 'cancelled', one.cancelledAt !== null)
          if (one.cancelledAt !== null) continue
          assert.equal(one.outcome === null, one.paidAt === null)
          if (one.paidAt === null) continue
          const isOwed = prizes.some(({ notRedeemed }) => billions(notRedeemed) > 0n)
          assert.equal(one.outcome, isOwed ? 'owing' : expired > 0n ? 'lapsed' : 'paid')
        }
      }),
      // Rarer than other cases: a kind of prize is overpaid while another is unpaid.
      { numRuns: 150 },
    )
  })

  test('the sum of all accounts is zero', () => {
    fc.assert(
      fc.property(randomLogs, moments, (entries, { from }) => {
        const { totals } = booksOf(entries).totalsBefore(from)
        const inside = LEVELS.map((level) => totals.figure(level))
        const outside = [totals.figure('players'), totals.figure('burned'), totals.figure('world')]
        assert.equal(
          [...inside, ...outside].reduce((sum, balance) => sum + balance, 0n),
          0n,
        )
      }),
      RUNS,
    )
  })

  test('the summary as of a moment is the summary of a log that ends there', () => {
    fc.assert(
      fc.property(randomLogs, fc.nat(), fc.integer({ min: -2, max: 2 }), (entries, pick, ms) => {
        fc.pre(entries.length > 0)
        const at = msOf((entries[pick % entries.length] as Entry).event.atMs + ms)
        const then = entries.filter(({ event }) => event.atMs <= at)
        assert.deepEqual(summaryAt(booksOf(entries), at), summary(booksOf(then), null))
      }),
      RUNS,
    )
  })

  test('a settled answer never changes', () => {
    fc.assert(
      fc.property(randomLogs, fc.nat(), ranges, (entries, cut, asked) => {
        fc.pre(entries.length > 0)
        const earlier = booksOf(entries.slice(0, 1 + (cut % entries.length)))
        const present = booksOf(entries)
        const range = rangeOf(asked.moments, earlier, asked.bucket)
        if (isSettledBefore(earlier.head, range.toMs)) {
          assert.deepEqual(flows(present, range), flows(earlier, range))
          assert.deepEqual(patterns(present, range, 60), patterns(earlier, range, 60))
        }
        const { from } = asked.moments
        if (given(prepareAnswer(earlier, 'summary', { query: `at=${from}` })).freshness === 'settled') {
          assert.deepEqual(summaryAt(present, from), summaryAt(earlier, from), formatAt(from))
        }
      }),
      RUNS,
    )
  })
})
