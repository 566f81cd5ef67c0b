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
