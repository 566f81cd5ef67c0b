/**
 * A short history of rare cases: corrections of every type, prizes cancelled after payment, holds on half-paid prizes,
 * restated events, a cancelled contest, several events in one millisecond. Each row: minute since the start, type/kind,
 * contest, amount, details. Its position from 1 is its seq.
 */
type Row = readonly [
  minute: number,
  name: string,
  contestId: number | null,
  kots: string | null,
  details?: Readonly<Record<string, unknown>>,
]

/** A Saturday two days before the end of a month, so that the story crosses the end of a week and of a month. */
const START_MS = Date.UTC(2025, 7, 30)
const MINUTE_MS = 60_000
const DAY = 1440
const DIGEST = `sha256:${'7'.repeat(64)}`

const on = (minute: number): string => new Date(START_MS + minute * MINUTE_MS).toISOString()

const planned = { opensAt: on(10), closesAt: on(DAY) }

const ROWS: readonly Row[] = [
  [0, 'treasury/deposit', null, '1000'],
  [0, 'price/usd', null, null, { price: '0.10' }],
  [0, 'contest/scheduled', 1, null, { title: 'One', ...planned }],
  [1, 'contest/scheduled', 2, null, { ...planned }],
  [10, 'contest/opened', 1, null],
  [11, 'play/entry', 1, '10', { count: 3 }],
  [11, 'play/vote', 1, '0.000000001'],
  [11, 'play/vote', 1, '5'],
  [12, 'correction/play', 1, '-10', { corrects: 6, reason: 'counted twice' }],
  [12, 'play/entry', 1, '9', { count: 2, restates: 6 }],
  [13, 'price/usd', null, null, { price: '0.20' }],
  [14, 'correction/price', null, null, { corrects: 11 }],
  [15, 'pool/play_share', 1, '300'],
  [15, 'pool/sponsor', 1, '50'],
  [16, 'correction/pool', 1, '-50', { corrects: 14 }],
  [16, 'burn/platform_income', null, '20'],
  [17, 'correction/burn', null, '-20', { corrects: 16 }],
  [18, 'pool/sponsor', 2, '40'],
  [19, 'contest/cancelled', 2, null, { reason: 'no entries' }],
  [20, 'payout/refund', 2, '25'],
  [21, 'correction/payout', 2, '-25', { corrects: 20 }],
  [22, 'payout/refund', 2, '40'],
  [23, 'contest/paid', 2, null],
  [DAY, 'contest/closed', 1, null],
  [DAY, 'prize/winner', 1, '40', { unlocksAt: on(DAY + 50), claim: true }],
  [DAY, 'prize/winner', 1, '30', { unlocksAt: on(DAY + 20), reviewUntil: on(DAY + 40) }],
  [DAY, 'prize/winner', 1, '20', { reviewUntil: on(DAY + 30) }],
  [DAY, 'prize/runner_up', 1, '12', { winners: 3 }],
  [DAY, 'prize/runner_up', 1, '8', { winners: 2 }],
  [DAY + 1, 'payout/winner', 1, '35'],
  [DAY + 2, 'hold/winner', 1, null, { reviewUntil: '2999-01-01T00:00:00.000Z' }],
  [DAY + 3, 'payout/winner', 1, '20'],
  [DAY + 4, 'correction/payout', 1, '-35', { corrects: 30 }],
  [DAY + 5, 'correction/prize', 1, '-30', { corrects: 26 }],
  [DAY + 6, 'payout/runner_up', 1, '15'],
  [DAY + 7, 'correction/prize', 1, '-12', { corrects: 28 }],
  [DAY + 8, 'payout/winner', 1, '1'],
  [DAY + 9, 'expiry/winner', 1, '4'],
  [DAY + 10, 'correction/expiry', 1, '-4', { corrects: 38 }],
  [2 * DAY, 'treasury/withdrawal', null, '3'],
  [2 * DAY, 'correction/treasury', null, '-3', { corrects: 40 }],
  [2 * DAY, 'trade/buy', null, '77'],
  [2 * DAY, 'correction/trade', null, '-77', { corrects: 42 }],
  [3 * DAY, 'loyalty/scheduled', null, null, { month: '2025-08', paysAt: on(4 * DAY) }],
  [3 * DAY, 'loyalty/scheduled', null, null, { month: '2025-09', paysAt: on(34 * DAY) }],
  [3 * DAY, 'loyalty/accrual', null, '60'],
  [3 * DAY, 'loyalty/accrual', null, '6'],
  [3 * DAY, 'correction/loyalty', null, '-6', { corrects: 47 }],
  [3 * DAY, 'loyalty/input', null, null, { month: '2025-08', digest: DIGEST, bytes: 10 }],
  [3 * DAY, 'loyalty/output', null, '50', { month: '2025-08', digest: DIGEST, recipients: 4 }],
  [3 * DAY, 'correction/loyalty', null, '-50', { corrects: 50 }],
  [3 * DAY, 'loyalty/output', null, '45', { month: '2025-08', digest: DIGEST, recipients: 3, restates: 50 }],
  [4 * DAY, 'payout/loyalty', null, '30', { month: '2025-08' }],
  [4 * DAY, 'correction/payout', null, '-30', { corrects: 53 }],
  [5 * DAY, 'contest/scheduled', 3, null, { ...planned, closesAt: on(9 * DAY) }],
  [5 * DAY, 'contest/rescheduled', 3, null, { opensAt: on(8 * DAY), closesAt: on(10 * DAY) }],
  [6 * DAY, 'prize/runner_up', 1, '4'],
  [6 * DAY, 'correction/payout', 1, '-15', { corrects: 35 }],
  [6 * DAY, 'contest/renamed', 1, null, { title: 'First', reason: 'Another contest has this title' }],
  [6 * DAY, 'contest/renamed', 1, null, { title: 'The first' }],
  [6 * DAY, 'contest/renamed', 2, null, { title: 'Second' }],
  [7 * DAY, 'contest/scheduled', 4, null, { title: 'Daily', ...planned }],
  [7 * DAY, 'contest/opened', 4, null],
  [7 * DAY, 'pool/top_up', 4, '30'],
  [7 * DAY, 'prize/daily', 4, '10', { claim: true }],
  [7 * DAY, 'prize/daily', 4, '10', { unlocksAt: on(8 * DAY) }],
  [7 * DAY + 1, 'hold/daily', 4, null, { reviewUntil: on(9 * DAY) }],
  [7 * DAY + 2, 'payout/daily', 4, '12'],
  [7 * DAY + 3, 'expiry/daily', 4, '3'],
  [7 * DAY + 4, 'payout/refund', 4, '1'],
  [8 * DAY, 'contest/cancelled', 4, null],
  [8 * DAY, 'payout/refund', 4, '9'],
  [8 * DAY, 'payout/daily', 4, '5'],
  [8 * DAY, 'contest/paid', 4, null],
  [8 * DAY, 'contest/scheduled', 5, null, { title: 'Endless', opensAt: on(9 * DAY) }],
  [8 * DAY, 'contest/rescheduled', 5, null, { opensAt: on(10 * DAY) }],
  [8 * DAY, 'contest/scheduled', 6, null, { title: 'Open', opensAt: on(9 * DAY) }],
  [9 * DAY, 'contest/opened', 6, null],
  [9 * DAY, 'contest/rescheduled', 6, null, { opensAt: on(9 * DAY), closesAt: on(30 * DAY) }],
]

/** 64 bytes in base58. The digit 1 is a zero byte, so only the last byte differs. */
const transaction = (index: number): string =>
  '1'.repeat(63) + '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'.charAt(index % 32)

/** Drafts of the rows, each a line in the form of `daybook import`. */
export const CORNER_DRAFTS: readonly string[] = ROWS.map(
  ([minute, name, contestId, kots, details], index) => {
    const [type, kind] = name.split('/')
    return JSON.stringify({
      at: on(minute),
      type,
      kind,
      ...(contestId === null ? {} : { contestId }),
      ...(kots === null ? {} : { kots }),
      ...(type === 'payout' ? { tx: transaction(index) } : {}),
      ...(details === undefined ? {} : { details }),
    })
  },
)

/**
 * Rows after which the service is compared: a payout is corrected, a prize is corrected, a prize is overpaid, less so,
 * all is settled, a contest is renamed, one that has paid while it ran is cancelled, one without an announced end opens.
 */
export const CORNERS: readonly number[] = [33, 34, 36, 57, 58, 70, 77, ROWS.length]
