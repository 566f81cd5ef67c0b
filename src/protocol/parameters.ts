import type { Chain } from './tx.ts'

/** Form of a parameter's value, with its bounds. */
export type ParameterForm =
  | Readonly<{ is: 'time' }>
  /** Integer. Messages about a wrong value name `unit`, which is what it counts. */
  | Readonly<{ is: 'integer'; min: number; max: number; unit?: string }>
  | Readonly<{ is: 'word' }>
  /** Text. Without `guarded` it may contain a wallet address, and URLs and links omit it. */
  | Readonly<{ is: 'text'; charsMax: number; guarded: boolean }>
  | Readonly<{ is: 'flag' }>
  /** Transaction identifier in the form of one of these chains. */
  | Readonly<{ is: 'tx'; chains: readonly Chain[] }>
  | Readonly<{ is: 'one-of'; values: readonly string[] }>
  /** List, with commas or as a repeated parameter: `type=a,b` or `type=a&type=b`. At most `LIST_VALUES_MAX` values. */
  | Readonly<{
      is: 'list-of'
      values: readonly string[]
      /** Values of another parameter that readers give here, with the query to use instead. */
      elsewhere?: Readonly<Record<string, string>>
    }>
  | Readonly<{ is: 'words' }>
  | Readonly<{ is: 'integers'; min: number; max: number }>

export type Parameter = Readonly<{
  name: string
  form: ParameterForm
  /** Default, in words. */
  absent: string
  meaning: string
  example: string
}>

/** A moment in a query: ISO 8601 in UTC, integer milliseconds since 1970, or a `Date`. */
export type Time = string | number | Date

/** Type of a parameter's value by its form. A list of words or integers may also be a single one. */
export type ValueOf<Form extends ParameterForm> = Form extends { is: 'time' }
  ? Time
  : Form extends { is: 'integer' }
    ? number
    : Form extends { is: 'flag' }
      ? boolean
      : Form extends { is: 'one-of'; values: readonly (infer Value)[] }
        ? Value
        : Form extends { is: 'list-of'; values: readonly (infer Value)[] }
          ? readonly Value[]
          : Form extends { is: 'words' }
            ? string | readonly string[]
            : Form extends { is: 'integers' }
              ? number | readonly number[]
              : string

/** Whether a parameter of this form takes a list, and so may be repeated. */
export function isList({ is }: ParameterForm): boolean {
  return is === 'list-of' || is === 'words' || is === 'integers'
}

export const SEQ_MAX: number = Number.MAX_SAFE_INTEGER
/** Values of a list in a query at most. */
export const LIST_VALUES_MAX = 20
/** Events in a page of `/events`: the maximum, and the default. */
export const PAGE_LIMIT_MAX = 10_000
export const PAGE_LIMIT_DEFAULT = 1_000
/** Bytes of the events and details of a page with `details=1`. A page ends before the event that would exceed them. */
export const DETAILED_PAGE_BYTES_MAX: number = 4 * 1024 * 1024
/** Most events that a page of `/events` with `nonzero` examines, counted after its other filters. */
export const EXAMINED_MAX = 20_000
/** Most rows in a page of `/contests`, `/payouts` and a contest ledger's payouts. */
export const ROWS_MAX = 10_000
/** Most rows of `/contests` that are sorted by an amount. */
export const TOP_ROWS_MAX = 100
/** Characters of a search for contests at most. */
export const SEARCH_CHARS_MAX = 100
/** Most contests that a search examines for one page. The page may have fewer rows than its limit. */
export const SEARCH_EXAMINED_MAX = 10_000
/** Entries in a calendar at most, the soonest first. */
export const CALENDAR_ENTRIES_MAX = 500
/** Most buckets in one answer of `/flows` and `/funds`. */
export const BUCKETS_MAX = 1_500
/** Amounts by kind in one answer of `/flows?by=kind` at most: its buckets times the kinds that the log has by then. */
export const KIND_AMOUNTS_MAX = 50_000
/** Contests that closed in the range of one answer of `/waits`, at most. */
export const WAIT_CONTESTS_MAX = 1_000
/** Days in one answer of `/patterns` at most. */
export const PATTERN_DAYS_MAX = 1_100
/** Largest offset of local time in `/patterns`, in minutes. */
export const TZ_MINUTES_MAX = 840
/** Characters of the longest request target: path and query. */
export const TARGET_CHARS_MAX = 4_096
/** Rate limit: requests of one address in any window. */
export const ALLOWANCE_REQUESTS = 60
export const ALLOWANCE_WINDOW_MS = 60_000

/** Form of an integer. */
export const whole = (min: number, max: number) => ({ is: 'integer', min, max }) as const
