import { z } from 'zod'
import type * as resources from '../../protocol/resources.ts'
import { CONTEST_OUTCOMES, CONTEST_STATUSES } from '../../protocol/resources.ts'
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

const title = textSchema.nullable().describe('The contest’s title; null when it has none')

const fields = {
  id: contestId,
  title,
  status: z.enum(CONTEST_STATUSES).describe('Status of the contest'),
  ...momentSchema('opensAt', 'Planned opening of the contest'),
  ...momentSchema('closesAt', 'Planned closing of the contest'),
  ...momentOrNull('openedAt', 'When the contest opened; null until then'),
  ...momentOrNull('closedAt', 'When the contest closed or was cancelled; null until then'),
  ...momentOrNull('paidAt', 'Moment of `contest/paid`, whatever the outcome; null until then'),
  pool: amountSchema.describe('Tokens put into the contest’s pool'),
  entries: numberSchema.describe('Plays of kind `entry`'),
  plays: numberSchema.describe('Plays, each event by its count'),
  spentOnPlay: amountSchema.describe('Tokens spent on plays'),
  prizesOwed: amountSchema.describe('Prizes owed since the start, paid ones included'),
  prizesRedeemed: amountSchema.describe('Paid prizes: payouts without refunds'),
  prizesExpired: amountSchema.describe('Prizes that lapsed before they were claimed'),
  prizesNotRedeemed: amountSchema.describe('Prizes owed, not paid and not expired'),
  outcome: z
    .enum(CONTEST_OUTCOMES)
    .nullable()
    .describe(
      'What the contest came to; null while prizes may still be paid. `cancelled`: from `contest/cancelled` on. After `contest/paid` `owing`: a correction left prizes of some kind unpaid; else `lapsed`: all is settled, and some prizes expired; else `paid`',
    ),
  ...momentOrNull('cancelledAt', 'When the contest was cancelled; null if it was not'),
}

export const contestRow: z.ZodType<resources.ContestWire> = z
  .strictObject(fields)
  .describe('A contest: its terms, status and sums')

export const contestSchema: z.ZodType<resources.Contest> = z
  .strictObject({ asOf: asOfSchema, ...fields })
  .describe('A contest: its terms, status and sums')

export const contestsSchema: z.ZodType<resources.Contests> = z
  .strictObject({
    asOf: asOfSchema,
    contests: z.array(contestRow).describe('The contests of this page'),
    next,
  })
  .describe('Contests, newest first')

const prizeLine = z.strictObject({
  kind: textSchema.describe('Kind of prize'),
  owed: amountSchema.describe('Prizes of this kind owed since the start'),
  redeemed: amountSchema.describe('Paid part'),
  expired: amountSchema.describe('Expired part'),
  notRedeemed: amountSchema.describe('Unpaid part'),
})

export const ledger: z.ZodType<resources.ContestLedger> = z
  .strictObject({
    asOf: asOfSchema,
    contest: contestRow.describe('The contest, as in the list of contests'),
    pool: z
      .strictObject({
        in: z.record(z.string(), amountSchema).describe('Tokens put in, by kind'),
        out: z.record(z.string(), amountSchema).describe('Tokens taken out, by kind'),
        balance: amountSchema.describe('Balance of the pool'),
      })
      .describe('The contest’s pool'),
    prizes: z.array(prizeLine).describe('Prizes by kind'),
    payouts: z.array(event).describe('Payouts of the contest, with refunds and corrections of both'),
    next,
  })
  .describe('The ledger of one contest')

export const planned: z.ZodType<resources.Planned> = z
  .strictObject({ contestId, title, ...momentSchema('at', 'Planned moment of opening or closing') })
  .describe('A planned moment of a contest')

export const scheduleSchema: z.ZodType<resources.Schedule> = z
  .strictObject({
    asOf: asOfSchema,
    opens: z.array(planned).describe('Planned openings, earliest first'),
    closes: z.array(planned).describe('Planned closings, earliest first'),
    nextLoyaltyPayment: z
      .strictObject({
        month: month.describe('The rewarded month'),
        ...momentSchema('at', 'Planned moment of the payment'),
      })
      .nullable()
      .describe('The next payment of loyalty rewards; null while none is planned'),
  })
  .describe('Planned moments that have not happened, also past ones')
