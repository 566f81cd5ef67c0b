import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { billionths, decimal, type PublicDetails, type PublicEntry } from './book.ts'
import { bucketStart, iso, weekday } from './calendar.ts'
import { contest, contestLedger, contests, schedule } from './contests.ts'
import { summary } from './figures.ts'
import { loyaltyRuns } from './loyalty.ts'
import { eventsPage } from './pages.ts'
import { patterns } from './patterns.ts'
import { payouts } from './payouts.ts'
import { flows, funds } from './series.ts'

/** Monday, the first of January 2024. */
const MONDAY = Date.UTC(2024, 0, 1)
const HOUR = 3_600_000

type Written = readonly [
  hour: number,
  name: string,
  contestId?: number | null,
  kots?: string | null,
  details?: PublicDetails,
]

/** A book from rows: the hour since Monday, type/kind, contest, amount, details. */
function bookOf(...rows: readonly Written[]): readonly PublicEntry[] {
  return rows.map(([hour, name, contestId, kots, details], index) => {
    const [type = '', kind = ''] = name.split('/')
    const atMs = MONDAY + hour * HOUR
    const amount = kots === undefined || kots === null ? null : decimal(billionths(`${kots}.000000000`))
    const at = new Date(atMs).toISOString()
    const event = {
      seq: index + 1,
      type,
      kind,
      at,
      atMs,
      contestId: contestId ?? null,
      kots: amount,
      tx: null,
    }
    return { event, details: details ?? null }
  })
}

const moment = (name: string, hour: number): PublicDetails => ({
  [name]: iso(MONDAY + hour * HOUR),
  [`${name}Ms`]: MONDAY + hour * HOUR,
})

const planned = { ...moment('opensAt', 1), ...moment('closesAt', 9) }

const SMALL = bookOf(
  [0, 'treasury/deposit', null, '1000'],
  [0, 'contest/scheduled', 7, null, { title: 'Seven', ...planned }],
  [1, 'contest/opened', 7],
  [2, 'play/entry', 7, '10', { count: 5 }],
  [3, 'play/vote', 7, '4'],
  [3, 'price/usd', null, null, { price: '0.500000000000' }],
  [4, 'pool/play_share', 7, '100'],
  [4, 'pool/sponsor', 7, '50'],
  [9, 'contest/closed', 7],
  [10, 'prize/winner', 7, '90', { ...moment('unlocksAt', 12), claim: true }],
  [10, 'prize/winner', 7, '30'],
  [26, 'payout/winner', 7, '40'],
  [27, 'burn/platform_income', null, '6'],
  [28, 'correction/play', 7, '-4', { corrects: 5 }],
)

const figuresOf = (rows: readonly { kots: string; status: string }[]): readonly string[] =>
  rows.map((row) => `${row.status} ${row.kots.slice(0, -10)}`)

suite('the oracle', () => {
  test('reads and writes amounts of any size', () => {
    for (const text of ['0.000000000', '-0.000000001', '123456789012345678901.000000009']) {
      assert.equal(decimal(billionths(text)), text)
    }
    assert.throws(() => billionths('-0.000000000'))
    assert.throws(() => billionths('1.0'))
  })

  test('counts days by itself and agrees with the calendar of Date', () => {
    for (let day = -1000; day < 40_000; day += 17) {
      const ms = day * 86_400_000 + 12_345_678
      assert.equal(iso(ms), new Date(ms).toISOString())
      assert.equal(weekday(ms), new Date(ms).getUTCDay() || 7)
    }
    assert.equal(bucketStart(MONDAY + 100 * HOUR, 'week'), MONDAY)
  })

  test('folds the headline figures up to a moment', () => {
    const then = summary(SMALL, MONDAY + 4 * HOUR)
    assert.equal(then.asOf.seq, 8)
    assert.deepEqual(then.contests, { upcoming: 0, running: 1, paying: 0, paid: 0 })
    assert.deepEqual([then.entries, then.plays, then.events, then.payouts], [5, 6, 8, 0])
    assert.deepEqual([then.spentOnPlay, then.runningPools], ['14.000000000', '150.000000000'])
    assert.equal(then.treasury, '914.000000000')
    const now = summary(SMALL)
    assert.deepEqual([now.plays, now.spentOnPlay, now.events], [5, '10.000000000', 14])
    assert.deepEqual([now.prizesNotRedeemed, now.runningPools], ['80.000000000', '30.000000000'])
    assert.deepEqual([now.treasury, now.burned, now.payouts], ['904.000000000', '6.000000000', 1])
    assert.equal(now.tokenPriceUsd, '0.500000000000')
    assert.equal(summary(SMALL, MONDAY - 1).asOf.seq, 0)
  })

  test('shows a contest, its ledger and its position in the list', () => {
    const row = contest(SMALL, 7)
    assert.deepEqual([row.status, row.pool, row.entries, row.plays], ['paying', '150.000000000', 5, 5])
    assert.deepEqual([row.prizesOwed, row.prizesRedeemed], ['120.000000000', '40.000000000'])
    const ledger = contestLedger(SMALL, 7)
    assert.deepEqual(ledger.pool.in, { play_share: '100.000000000', sponsor: '50.000000000' })
    assert.deepEqual(ledger.pool.out, { winner: '120.000000000' })
    assert.equal(ledger.pool.balance, '30.000000000')
    assert.deepEqual(
      ledger.payouts.map((event) => event.seq),
      [12],
    )
    assert.equal(contests(SMALL, ['closed']).contests.length, 1)
    assert.equal(contests(SMALL, ['running']).contests.length, 0)
  })

  test('consumes prizes by when they became available, then by seq', () => {
    // The second prize is available at once, so it goes first. The other ten come from the prize that unlocks later.
    const rows = payouts(SMALL, MONDAY + 11 * HOUR).unpaid
    assert.deepEqual(figuresOf(rows), ['locked 80'])
    assert.deepEqual(figuresOf(payouts(SMALL, MONDAY + 12 * HOUR).unpaid), ['awaiting_claim 80'])
    assert.deepEqual(payouts(SMALL, MONDAY, { contestIds: [8] }).unpaid, [])
  })

  test('returns the amounts of a corrected payout to the prizes', () => {
    const book = bookOf(
      [0, 'prize/winner', 1, '10', moment('unlocksAt', 5)],
      [0, 'prize/winner', 1, '10', moment('unlocksAt', 3)],
      [1, 'payout/winner', 1, '15'],
      [2, 'payout/winner', 1, '1'],
      [3, 'correction/payout', 1, '-15', { corrects: 3 }],
    )
    assert.deepEqual(figuresOf(payouts(book.slice(0, 4), MONDAY + 9 * HOUR).unpaid), ['payable 4'])
    assert.deepEqual(figuresOf(payouts(book, MONDAY + 9 * HOUR).unpaid), ['payable 9', 'payable 10'])
  })

  test('moves payments of a corrected prize to the next prizes, present or future', () => {
    const book = bookOf(
      [0, 'prize/winner', 1, '10'],
      [0, 'prize/winner', 1, '4'],
      [1, 'payout/winner', 1, '9'],
      [2, 'correction/prize', 1, '-10', { corrects: 1 }],
      [3, 'prize/winner', 1, '20'],
    )
    const late = MONDAY + 9 * HOUR
    assert.deepEqual(figuresOf(payouts(book.slice(0, 4), late).unpaid), ['overpaid -5'])
    assert.equal(payouts(book.slice(0, 4), late).totals.overpaid, '-5.000000000')
    assert.deepEqual(figuresOf(payouts(book, late).unpaid), ['payable 15'])
  })

  test('moves the review of unpaid prizes only', () => {
    const book = bookOf(
      [0, 'prize/winner', 1, '10'],
      [0, 'prize/voter_share', 1, '10'],
      [1, 'hold/winner', 1, null, moment('reviewUntil', 8)],
    )
    const rows = payouts(book, MONDAY + 7 * HOUR).unpaid
    assert.deepEqual(figuresOf(rows), ['in_review 10', 'payable 10'])
    assert.deepEqual(figuresOf(payouts(book, MONDAY + 8 * HOUR).unpaid), ['payable 10', 'payable 10'])
  })

  test('puts flows and levels into buckets, corrections at their own moment', () => {
    const byDay = flows(SMALL, MONDAY + 1, MONDAY + 24 * HOUR + 1, 'day')
    assert.deepEqual(
      byDay.buckets.map((bucket) => [
        bucket.spentOnPlay,
        bucket.paidInPrizes,
        bucket.burned,
        bucket.complete,
      ]),
      [
        ['14.000000000', '0.000000000', '0.000000000', true],
        ['-4.000000000', '40.000000000', '6.000000000', false],
      ],
    )
    assert.equal(byDay.totals.spentOnPlay, '10.000000000')
    const levels = funds(SMALL, MONDAY, MONDAY + 48 * HOUR, 'day')
    assert.deepEqual(
      levels.buckets.map((bucket) => [bucket.treasury, bucket.prizesNotRedeemed]),
      [
        ['914.000000000', '120.000000000'],
        ['904.000000000', '80.000000000'],
      ],
    )
    assert.equal(levels.now.treasury, '904.000000000')
  })

  test('groups by the hour and day of the local time', () => {
    const west = patterns(SMALL, MONDAY, MONDAY + 48 * HOUR, -180)
    const cell = (day: number, hour: number) =>
      west.cells.find((each) => each.day === day && each.hour === hour)
    assert.equal(cell(7, 23)?.spentOnPlay, '10.000000000')
    assert.equal(cell(1, 0)?.spentOnPlay, '4.000000000')
    assert.deepEqual(cell(1, 0)?.byKind, { entry: '0.000000000', vote: '4.000000000' })
    assert.equal(west.byHour[23]?.paidInPrizes, '40.000000000')
    assert.equal(west.byDay[6]?.plays, 5)
  })

  test('pages forwards and backwards and states how far it has scanned', () => {
    const page = eventsPage(SMALL, { types: ['play'], limit: 1 })
    assert.deepEqual([page.count, page.scannedTo, page.hasMore], [1, 4, true])
    const rest = eventsPage(SMALL, { types: ['play'], after: 5 })
    assert.deepEqual([rest.count, rest.scannedTo, rest.hasMore], [0, 14, false])
    const back = eventsPage(SMALL, { order: 'desc', before: 14, limit: 3, nonzero: true })
    assert.deepEqual(
      back.events.map((event) => event.seq),
      [13, 12, 11],
    )
    assert.deepEqual([back.scannedTo, back.hasMore], [11, true])
  })

  test('lists planned contests and each month of the loyalty reward', () => {
    const digest = `sha256:${'0'.repeat(64)}`
    const book = bookOf(
      [0, 'contest/scheduled', 1, null, planned],
      [0, 'loyalty/accrual', null, '9'],
      [0, 'loyalty/scheduled', null, null, { month: '2023-12', ...moment('paysAt', 5) }],
      [0, 'loyalty/scheduled', null, null, { month: '2024-01', ...moment('paysAt', 50) }],
      [1, 'loyalty/output', null, '8', { month: '2023-12', digest, recipients: 3 }],
      [2, 'payout/loyalty', null, '5', { month: '2023-12' }],
    )
    assert.equal(schedule(book).nextLoyaltyPayment?.month, '2024-01')
    assert.equal(schedule(book).opens[0]?.atMs, MONDAY + HOUR)
    const [january, december] = loyaltyRuns(book).runs
    assert.deepEqual([january?.month, january?.total, january?.notPaid], ['2024-01', null, null])
    assert.deepEqual(
      [december?.paid, december?.notPaid, december?.payouts],
      ['5.000000000', '3.000000000', 1],
    )
  })
})
