import { z } from 'zod'
import type * as resources from '../../protocol/resources.ts'
import { CONTEST_STATUSES } from '../../protocol/resources.ts'
import { event } from './event-schemas.ts'
import {
  amountSchema,
  asOfSchema,
  contestId,
  month,
  momentSchema,
  momentOrNull,
  next,
  numberSchema,
  textSchema,
} from './field-schemas.ts'

const title = textSchema.nullable().describe('The contest’s title; null where it has none')

const fields = {
  id: contestId,
  title,
  status: z.enum(CONTEST_STATUSES).describe('How far the contest has come'),
  ...momentSchema('opensAt', 'When the contest is planned to open'),
  ...momentSchema('closesAt', 'When the contest is planned to close'),
  ...momentOrNull('openedAt', 'When the contest opened; null until then'),
  ...momentOrNull('closedAt', 'When the contest closed; null until then'),
  ...momentOrNull('paidAt', 'When all had been paid; null until then'),
  pool: amountSchema.describe('What has been put into the contest’s pool'),
  entries: numberSchema.describe('Plays of kind `entry`'),
  plays: numberSchema.describe('Plays, each event by its count'),
  spentOnPlay: amountSchema.describe('All that was spent on plays'),
  prizesOwed: amountSchema.describe('All prizes that were won'),
  prizesRedeemed: amountSchema.describe('What of the prizes was paid: payouts but refunds'),
  prizesNotRedeemed: amountSchema.describe('Won, not paid and not lapsed'),
}

export const contestRow: z.ZodType<resources.ContestWire> = z
  .strictObject(fields)
  .describe('A contest: its terms, how far it has come, and its sums')

export const contestSchema: z.ZodType<resources.Contest> = z
  .strictObject({ asOf: asOfSchema, ...fields })
  .describe('A contest: its terms, how far it has come, and its sums')

export const contestsSchema: z.ZodType<resources.Contests> = z
  .strictObject({
    asOf: asOfSchema,
    contests: z.array(contestRow).describe('The contests of this page'),
    next,
  })
  .describe('Contests, the newest first')

const prizeLine = z.strictObject({
  kind: textSchema.describe('The kind of prize'),
  owed: amountSchema.describe('All that was won of this kind'),
  redeemed: amountSchema.describe('What of that was paid'),
  expired: amountSchema.describe('What of that has lapsed'),
  notRedeemed: amountSchema.describe('What of that is still to be paid'),
})

export const ledger: z.ZodType<resources.ContestLedger> = z
  .strictObject({
    asOf: asOfSchema,
    contest: contestRow.describe('The contest as in the list'),
    pool: z
      .strictObject({
        in: z.record(z.string(), amountSchema).describe('What was put in, by kind'),
        out: z.record(z.string(), amountSchema).describe('What was taken out, by kind'),
        balance: amountSchema.describe('What is left in the pool'),
      })
      .describe('The contest’s pool'),
    prizes: z.array(prizeLine).describe('What was won, kind by kind'),
    payouts: z.array(event).describe('The contest’s payouts, refunds and corrections of both included'),
    next,
  })
  .describe('The books of one contest')

export const planned: z.ZodType<resources.Planned> = z
  .strictObject({ contestId, title, ...momentSchema('at', 'When the contest is planned to open or close') })
  .describe('A planned moment of a contest')

export const scheduleSchema: z.ZodType<resources.Schedule> = z
  .strictObject({
    asOf: asOfSchema,
    opens: z.array(planned).describe('Planned opens, the next first'),
    closes: z.array(planned).describe('Planned closes, the next first'),
    nextLoyaltyPayment: z
      .strictObject({
        month: month.describe('The month that is rewarded'),
        ...momentSchema('at', 'When the payment is planned'),
      })
      .nullable()
      .describe('The next payment of loyalty rewards; null while none is planned'),
  })
  .describe('What is planned, also where its time has passed')
