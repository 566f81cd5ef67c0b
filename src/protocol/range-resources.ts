import type { AsOf } from './resources.ts'

// JSON answers of /api/v1 over a range of time: `/flows`, `/funds` and `/patterns` (spec, section 5, "Time ranges").

type Amount = string
type Price = string

export const BUCKETS = ['minute', 'hour', 'day', 'week'] as const
export type Bucket = (typeof BUCKETS)[number]

/** Range of an answer, aligned to its buckets. */
export type Range = Readonly<{ from: string; fromMs: number; to: string; toMs: number; bucket: Bucket }>

export type FlowFigures = Readonly<{ spentOnPlay: Amount; paidInPrizes: Amount; burned: Amount }>

export type FlowBucket = Readonly<{
  at: string
  atMs: number
  complete: boolean
  tokenPriceUsd: Price | null
}> &
  FlowFigures

export type Flows = Range & Readonly<{ asOf: AsOf; buckets: readonly FlowBucket[]; totals: FlowFigures }>

export type FundFigures = Readonly<{
  treasury: Amount
  runningPools: Amount
  loyaltyFund: Amount
  prizesNotRedeemed: Amount
}>

type FundBucket = Readonly<{ at: string; atMs: number; complete: boolean }> & FundFigures

export type Funds = Range & Readonly<{ asOf: AsOf; now: FundFigures; buckets: readonly FundBucket[] }>

export type PatternFigures = Readonly<{
  spentOnPlay: Amount
  byKind: Readonly<Record<string, Amount>>
  paidInPrizes: Amount
  burned: Amount
  plays: number
}>

export type Patterns = Readonly<{
  asOf: AsOf
  from: string
  fromMs: number
  to: string
  toMs: number
  tz: number
  byHour: readonly (Readonly<{ hour: number }> & PatternFigures)[]
  /** 1 = Monday to 7 = Sunday. */
  byDay: readonly (Readonly<{ day: number }> & PatternFigures)[]
  cells: readonly (Readonly<{ day: number; hour: number }> & PatternFigures)[]
}>
