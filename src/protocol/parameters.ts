import { BUCKETS } from './resources.ts'
import { EVENT_TYPES } from './rules.ts'
import type { Chain } from './tx.ts'

/** How the value of a parameter is written, with its bounds. */
export type ParameterForm =
  | Readonly<{ is: 'time' }>
  | Readonly<{ is: 'integer'; min: number; max: number }>
  | Readonly<{ is: 'word' }>
  /** Unless it is `guarded` it may hold a wallet address, and then stands in no address and no link. */
  | Readonly<{ is: 'text'; charsMax: number; guarded: boolean }>
  | Readonly<{ is: 'flag' }>
  /** A transaction as one of these chains writes it. */
  | Readonly<{ is: 'tx'; chains: readonly Chain[] }>
  | Readonly<{ is: 'one-of'; values: readonly string[] }>
  | Readonly<{ is: 'list-of'; values: readonly string[] }>

export type Parameter = Readonly<{
  name: string
  form: ParameterForm
  /** What holds when the parameter is absent, in words. */
  absent: string
  meaning: string
  example: string
}>

export const SEQ_MAX: number = Number.MAX_SAFE_INTEGER
/** Events a page of `/events` holds at most, and when nothing is said. */
export const PAGE_LIMIT_MAX = 10_000
export const PAGE_LIMIT_DEFAULT = 1_000
/** Entries a page of `/events` examines before it ends, perhaps short. */
export const PAGE_SCAN_MAX = 20_000
/** Rows of `/contests`, `/payouts` and a contest ledger's payouts on one page. */
export const ROWS_MAX = 10_000
/** Entries of a calendar: of more, the soonest. */
export const CALENDAR_ENTRIES_MAX = 500
/** Buckets of one answer of `/flows` and `/funds`. */
export const BUCKETS_MAX = 1_500
/** Days of one answer of `/patterns`. */
export const PATTERN_DAYS_MAX = 1_100
/** Minutes by which `/patterns` may shift local time. */
export const TZ_MINUTES_MAX = 840
/** Characters of a request's target: its path and its query. */
export const TARGET_CHARS_MAX = 4_096
/** Requests of one caller address in any window. */
export const ALLOWANCE_REQUESTS = 60
export const ALLOWANCE_WINDOW_MS = 60_000

export const whole = (min: number, max: number): ParameterForm => ({ is: 'integer', min, max })

export const timeOf = (name: string, absent: string, meaning: string): Parameter => ({
  name,
  form: { is: 'time' },
  absent,
  meaning,
  example: '2026-10-01T00:00:00Z',
})

export const AFTER: Parameter = {
  name: 'after',
  form: whole(0, SEQ_MAX),
  absent: '0: from the beginning',
  meaning: 'Only events with a greater seq',
  example: '1200',
}

export const FILTERS: readonly Parameter[] = [
  {
    name: 'type',
    form: { is: 'list-of', values: EVENT_TYPES },
    absent: 'every type',
    meaning: 'Only events of these types, comma-separated',
    example: 'payout,burn',
  },
  {
    name: 'kind',
    form: { is: 'word' },
    absent: 'every kind',
    meaning: 'Only events of this kind',
    example: 'winner',
  },
  {
    name: 'contestId',
    form: whole(1, SEQ_MAX),
    absent: 'every contest and none',
    meaning: 'Only events of this contest',
    example: '42',
  },
  {
    name: 'nonzero',
    form: { is: 'flag' },
    absent: 'events without an amount too',
    meaning: '1: only events that carry an amount other than zero',
    example: '1',
  },
]

export const PAGING: readonly Parameter[] = [
  { ...AFTER, absent: 'the first page', meaning: 'Rows after this cursor; take it from `next`' },
  {
    name: 'limit',
    form: whole(1, ROWS_MAX),
    absent: String(ROWS_MAX),
    meaning: 'Rows of a page',
    example: '100',
  },
]

export const RANGE: readonly Parameter[] = [
  timeOf(
    'from',
    'as many buckets before `to` as the default range of the bucket has',
    'Start of the range, inclusive',
  ),
  timeOf(
    'to',
    'the end of the present bucket, or as far after `from` as the default range is long, whichever is earlier',
    'End of the range, exclusive',
  ),
  {
    name: 'bucket',
    form: { is: 'one-of', values: BUCKETS },
    absent: 'day',
    meaning: 'Width of a bucket, aligned to UTC; weeks begin on Monday',
    example: 'hour',
  },
]
