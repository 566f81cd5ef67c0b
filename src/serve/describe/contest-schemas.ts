import { z } from 'zod'
import type * as resources from '../../protocol/resources.ts'
import { CONTEST_STATUSES } from '../../protocol/resources.ts'
import { event } from './event-schemas.ts'
import { amount, asOf, contestId, month, moment, momentOrNull, next, number, text } from './field-schemas.ts'

const title = text.nullable().describe('The contest’s title; null where it has none')

const fields = {
  id: contestId,
  title,
  status: z.enum(CONTEST_STATUSES).describe('How far the contest has come'),
  ...moment('opensAt', 'When the contest is planned to open'),
  ...moment('closesAt', 'When the contest is planned to close'),
  ...momentOrNull('openedAt', 'When the contest opened; null until then'),
  ...momentOrNull('closedAt', 'When the contest closed; null until then'),
  ...momentOrNull('paidAt', 'When all had been paid; null until then'),
  pool: amount.describe('What has been put into the contest’s pool'),
  entries: number.describe('Plays of kind `entry`'),
  plays: number.describe('Plays, each event by its count'),
  spentOnPlay: amount.describe('All that was spent on plays'),
  prizesOwed: amount.describe('All prizes that were won'),
  prizesRedeemed: amount.describe('What of the prizes was paid: payouts but refunds'),
  prizesNotRedeemed: amount.describe('Won, not paid and not lapsed'),
}

export const contestRow: z.ZodType<resources.ContestWire> = z
  .strictObject(fields)
  .describe('A contest: its terms, how far it has come, and its sums')

export const contest: z.ZodType<resources.Contest> = z
  .strictObject({ asOf, ...fields })
  .describe('A contest: its terms, how far it has come, and its sums')

export const contests: z.ZodType<resources.Contests> = z
  .strictObject({ asOf, contests: z.array(contestRow).describe('The contests of this page'), next })
  .describe('Contests, the newest first')

const prizeLine = z.strictObject({
  kind: text.describe('The kind of prize'),
  owed: amount.describe('All that was won of this kind'),
  redeemed: amount.describe('What of that was paid'),
  expired: amount.describe('What of that has lapsed'),
  notRedeemed: amount.describe('What of that is still to be paid'),
})

export const ledger: z.ZodType<resources.ContestLedger> = z
  .strictObject({
    asOf,
    contest: contestRow.describe('The contest as in the list'),
    pool: z
      .strictObject({
        in: z.record(z.string(), amount).describe('What was put in, by kind'),
        out: z.record(z.string(), amount).describe('What was taken out, by kind'),
        balance: amount.describe('What is left in the pool'),
      })
      .describe('The contest’s pool'),
    prizes: z.array(prizeLine).describe('What was won, kind by kind'),
    payouts: z.array(event).describe('The contest’s payouts, refunds and corrections of both included'),
    next,
  })
  .describe('The books of one contest')

export const planned: z.ZodType<resources.Planned> = z
  .strictObject({ contestId, title, ...moment('at', 'When the contest is planned to open or close') })
  .describe('A planned moment of a contest')

export const schedule: z.ZodType<resources.Schedule> = z
  .strictObject({
    asOf,
    opens: z.array(planned).describe('Planned opens, the next first'),
    closes: z.array(planned).describe('Planned closes, the next first'),
    nextLoyaltyPayment: z
      .strictObject({
        month: month.describe('The month that is rewarded'),
        ...moment('at', 'When the payment is planned'),
      })
      .nullable()
      .describe('The next payment of loyalty rewards; null while none is planned'),
  })
  .describe('What is planned, also where its time has passed')
