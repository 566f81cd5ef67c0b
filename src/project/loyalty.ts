import type { Amount } from '../protocol/amount.ts'
import type { Month, Ms } from '../protocol/moment.ts'
import type { Seq } from '../protocol/seq.ts'

/** One published half of a loyalty run: what went in, or what came out. */
export type LoyaltyHalf = Readonly<{
  seq: Seq
  atMs: Ms
  digest: string
  bytes: number | null
  url: string | null
}>

/** The loyalty reward of one month as of the head; what a correction cancelled is gone from it. */
export type LoyaltyState = Readonly<{
  month: Month
  scheduled: Readonly<{ seq: Seq; paysAt: Ms }> | null
  input: LoyaltyHalf | null
  output: (LoyaltyHalf & Readonly<{ recipients: number; total: Amount }>) | null
  paid: Amount
  payouts: number
}>

export function emptyLoyalty(month: Month, paid: Amount): LoyaltyState {
  return { month, scheduled: null, input: null, output: null, paid, payouts: 0 }
}
