import type { AsOf } from './resources.ts'

// JSON answers of /api/v1 over a range of time: `/flows`, `/funds` and `/patterns` (spec, section 5, "Time ranges").

type Amount = string
type Price = string

export const BUCKETS = ['minute', 'hour', 'day', 'week', 'month'] as const
export type Bucket = (typeof BUCKETS)[number]

/** Span of an answer, aligned to its buckets. */
export type Span = Readonly<{ from: string; fromMs: number; to: string; toMs: number }>

/** Moment of the log's first event; null on an empty log. */
export type Launch = Readonly<{ launchedAt: string | null; launchedAtMs: number | null }>

/** Present that an answer was computed with, floored to the minute. */
export type Now = Readonly<{ at: string; atMs: number }>

/** Range of an answer in buckets. */
export type Range = Launch & Span & Readonly<{ bucket: Bucket }>

export type FlowFigures = Readonly<{ spentOnPlay: Amount; paidInPrizes: Amount; burned: Amount }>

export type FlowBucket = Readonly<{
  at: string
  atMs: number
  complete: boolean
  tokenPriceUsd: Price | null
}> &
  FlowFigures

export type Flows = Range &
  Readonly<{
    asOf: AsOf
    /** Null when the request gives the whole range. */
    now: Now | null
    buckets: readonly FlowBucket[]
    totals: FlowFigures
  }>

export type FundFigures = Readonly<{
  treasury: Amount
  runningPools: Amount
  loyaltyFund: Amount
  prizesNotRedeemed: Amount
}>

type FundBucket = Readonly<{ at: string; atMs: number; complete: boolean }> & FundFigures

/** Present balances. The moment is null when the request gives the whole range. */
type FundsNow = Readonly<{ at: string | null; atMs: number | null }> & FundFigures

export type Funds = Range & Readonly<{ asOf: AsOf; now: FundsNow; buckets: readonly FundBucket[] }>

export type PatternFigures = Readonly<{
  spentOnPlay: Amount
  byKind: Readonly<Record<string, Amount>>
  paidInPrizes: Amount
  burned: Amount
  plays: number
}>

export type Patterns = Launch &
  Span &
  Readonly<{
    asOf: AsOf
    /** Null when the request gives the whole range. */
    now: Now | null
    tz: number
    byHour: readonly (Readonly<{ hour: number }> & PatternFigures)[]
    /** 1 = Monday to 7 = Sunday. */
    byDay: readonly (Readonly<{ day: number }> & PatternFigures)[]
    cells: readonly (Readonly<{ day: number; hour: number }> & PatternFigures)[]
  }>
