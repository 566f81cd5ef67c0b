import { UNPAID_STATUSES } from '../../protocol/enumerations.ts'
import { detailMeaning } from '../../protocol/schema.ts'
import {
  type Column,
  EVENT_COLUMNS,
  PARQUET_FIELDS,
  TABLE_COLUMNS,
} from '../../serve/describe/dataset-columns.ts'

/** Column of a table of a book. A decimal is text, because SQLite has no exact decimals. */
type BookColumn = Readonly<{
  name: string
  type: 'INTEGER' | 'TEXT'
  meaning: string
  optional: boolean
}>

export type BookTable = Readonly<{
  name: string
  meaning: string
  columns: readonly BookColumn[]
  /** Columns of the primary key. A single integer is the row's own number. */
  key: readonly string[]
}>

const column = (
  name: string,
  type: BookColumn['type'],
  meaning: string,
  optional: 'optional' | 'always' = 'always',
): BookColumn => ({ name, type, meaning, optional: optional === 'optional' })

/** Columns of a list of the API, as in its CSV. */
function columnsOf(described: readonly Column[]): readonly BookColumn[] {
  return described.map(({ name, form, meaning, optional }) => ({
    name,
    type: form.is === 'integer' || form.is === 'boolean' ? 'INTEGER' : 'TEXT',
    meaning: form.is === 'boolean' ? `${meaning}: 1 or 0` : meaning,
    optional,
  }))
}

/** The two columns of a moment. */
function pair(name: string, meaning: string, optional: 'optional' | 'always' = 'always'): BookColumn[] {
  return [
    column(name, 'TEXT', meaning, optional),
    column(`${name}Ms`, 'INTEGER', 'The same moment in milliseconds since 1970', optional),
  ]
}

const seq = column('seq', 'INTEGER', 'Position in the log')
const contestId = column('contestId', 'INTEGER', 'The contest’s number')
const prizeKind = column('kind', 'TEXT', 'Kind of prize')
const bucket = pair('at', 'Start of the bucket')
const complete = column(
  'complete',
  'INTEGER',
  'Whether an event at or after the bucket’s end has been published: 1 or 0',
)
export const BOOK_EVENTS: BookTable = {
  name: 'events',
  meaning: 'Every event of the log, with its eight fields as published',
  columns: columnsOf(EVENT_COLUMNS).flatMap((one) =>
    one.name === 'kots'
      ? [
          one,
          column('kotsWhole', 'INTEGER', 'Whole tokens of `kots`; both parts have its sign', 'optional'),
          column('kotsBillionths', 'INTEGER', 'Billionths of a token beyond the whole ones', 'optional'),
        ]
      : [one],
  ),
  key: ['seq'],
}

export const BOOK_DETAILS: BookTable = {
  name: 'details',
  meaning: 'Details of the events that have some, a column for each member',
  columns: [
    seq,
    ...PARQUET_FIELDS.slice(EVENT_COLUMNS.length).flatMap((field) =>
      field.form.is === 'moment' ? pair(field.name, field.meaning, 'optional') : columnsOf([field]),
    ),
    column('json', 'TEXT', 'The whole object, only when it has members without a column here', 'optional'),
  ],
  key: ['seq'],
}

export const CONTESTS: BookTable = {
  name: 'contests',
  meaning: 'Contests as in `/contests`',
  columns: [
    ...columnsOf(TABLE_COLUMNS.contests),
    column('scheduledSeq', 'INTEGER', 'Seq of its `contest/scheduled`; the newest contest has the largest'),
    column('lastSeq', 'INTEGER', 'Seq of its newest event, corrections included'),
  ],
  key: ['id'],
}

export const CONTEST_PRIZES: BookTable = {
  name: 'contest_prizes',
  meaning: 'Prizes of each contest by kind, as in its ledger',
  columns: [
    contestId,
    prizeKind,
    column('owed', 'TEXT', 'Prizes of this kind owed since the start'),
    column('redeemed', 'TEXT', 'Paid part'),
    column('expired', 'TEXT', 'Expired part'),
    column('notRedeemed', 'TEXT', 'Unpaid part'),
  ],
  key: ['contestId', 'kind'],
}

export const CONTEST_POOLS: BookTable = {
  name: 'contest_pools',
  meaning: 'Amounts put into the pool of each contest and taken out, by kind, as in its ledger',
  columns: [
    contestId,
    column('direction', 'TEXT', '`in` or `out`'),
    column('kind', 'TEXT', 'Kind of event'),
    column('kots', 'TEXT', 'Tokens of this kind'),
  ],
  key: ['contestId', 'direction', 'kind'],
}

export const PRIZES: BookTable = {
  name: 'prizes',
  meaning:
    'Each prize with its unpaid rest. A payout beyond all prizes of its kind has a row too, below zero',
  columns: [
    seq,
    contestId,
    prizeKind,
    ...pair('at', 'When the prize was won'),
    column('kots', 'TEXT', 'Tokens won; zero once the prize is corrected'),
    column('unpaid', 'TEXT', 'Tokens neither paid nor expired; negative when overpaid'),
    ...pair('unlocksAt', detailMeaning('unlocksAt'), 'optional'),
    ...pair('reviewUntil', 'End of the review of the prize; `unpaid` has later holds too', 'optional'),
    column('claim', 'INTEGER', `${detailMeaning('claim')}: 1 or 0`),
    column('heldFrom', 'INTEGER', 'Seq after which holds apply to this prize'),
  ],
  key: ['seq'],
}

export const PRIZE_PAYMENTS: BookTable = {
  name: 'prize_payments',
  meaning: 'Parts of prizes that payouts and expiries took, in the order in which prizes become available',
  columns: [
    column('seq', 'INTEGER', 'Seq of the payout or expiry'),
    column('prize', 'INTEGER', 'Seq of the prize'),
    column('kots', 'TEXT', 'Tokens taken from this prize'),
  ],
  key: ['seq', 'prize'],
}

export const HOLDS: BookTable = {
  name: 'holds',
  meaning: 'The newest review hold of each contest and kind of prize',
  columns: [
    contestId,
    prizeKind,
    column('seq', 'INTEGER', 'Seq of the hold'),
    ...pair('reviewUntil', detailMeaning('reviewUntil')),
  ],
  key: ['contestId', 'kind'],
}

export const LOYALTY_RUNS: BookTable = {
  name: 'loyalty_runs',
  meaning: 'Loyalty rewards by month, as in the CSV of `/loyalty/runs`',
  columns: columnsOf(TABLE_COLUMNS.loyaltyRuns),
  key: ['month'],
}

const flowsBy = (per: 'day' | 'month', period: string): BookTable => ({
  name: `flows_by_${per}`,
  meaning: `Movements in each ${period}, as in \`/flows?bucket=${per}\``,
  columns: columnsOf(TABLE_COLUMNS.flows),
  key: ['atMs'],
})

export const FLOWS_BY = { day: flowsBy('day', 'UTC day'), month: flowsBy('month', 'calendar month') } as const

export const KINDS_BY_MONTH: BookTable = {
  name: 'kinds_by_month',
  meaning: 'Movements in each calendar month by kind, as in `/flows?bucket=month&by=kind`',
  columns: [
    ...bucket,
    column('figure', 'TEXT', 'spentOnPlay, paidInPrizes or burned'),
    column('kind', 'TEXT', 'Kind of play, of payout or of burn'),
    column('kots', 'TEXT', 'Tokens of this kind in the month; absent rows are zero'),
  ],
  key: ['atMs', 'figure', 'kind'],
}

export const FUNDS_BY_DAY: BookTable = {
  name: 'funds_by_day',
  meaning: 'Balances at the end of each UTC day, as in `/funds?bucket=day`',
  columns: columnsOf(TABLE_COLUMNS.funds),
  key: ['atMs'],
}

export const UNPAID_BY_DAY: BookTable = {
  name: 'unpaid_by_day',
  meaning:
    'Unpaid prizes at the end of each UTC day, by their status one millisecond before it; in a day that is not over, at the newest event',
  columns: [
    ...bucket,
    complete,
    column('prizesNotRedeemed', 'TEXT', 'Prizes owed, not paid and not expired: the sum of the others'),
    ...UNPAID_STATUSES.map((status) => column(status, 'TEXT', `Unpaid prizes that are \`${status}\``)),
  ],
  key: ['atMs'],
}

/** Tables of the log and of what follows from it. */
export const BOOK_TABLES: readonly BookTable[] = [
  BOOK_EVENTS,
  BOOK_DETAILS,
  CONTESTS,
  CONTEST_PRIZES,
  CONTEST_POOLS,
  PRIZES,
  PRIZE_PAYMENTS,
  HOLDS,
  LOYALTY_RUNS,
  FLOWS_BY.day,
  FLOWS_BY.month,
  KINDS_BY_MONTH,
  FUNDS_BY_DAY,
  UNPAID_BY_DAY,
]
