import { z } from 'zod'
import { recordOf } from '../../protocol/brand.ts'
import type * as resources from '../../protocol/resources.ts'
import { UNPAID_STATUSES } from '../../protocol/resources.ts'
import {
  amountSchema,
  asOfSchema,
  bytesSchema,
  contestId,
  id,
  momentSchema,
  momentOrNull,
  month,
  next,
  now,
  numberSchema,
  textSchema,
} from './field-schemas.ts'

export const unpaid: z.ZodType<resources.Unpaid> = z
  .strictObject({
    contestId,
    kind: textSchema.describe('The kind of prize'),
    kots: amountSchema.describe(
      'What of the prize is still to be paid; negative where more was paid than won',
    ),
    status: z.enum(UNPAID_STATUSES).describe('What the prize waits for'),
    ...momentOrNull('unlocksAt', 'Before it nothing of the prize is paid; null where nothing is locked'),
    ...momentOrNull('reviewUntil', 'Until then the prize is looked at again; null without a review'),
    ...momentSchema('availableAt', 'The later of `unlocksAt` and `reviewUntil`, else when the prize was won'),
  })
  .describe('What of one kind of prize of a contest is unpaid on the same terms')

export const payoutsSchema: z.ZodType<resources.Payouts> = z
  .strictObject({
    asOf: asOfSchema,
    now,
    unpaid: z.array(unpaid).describe('The unpaid prizes of this page'),
    totals: z
      .strictObject(
        recordOf(UNPAID_STATUSES, () => amountSchema.describe('Sum of this status, of all pages')),
      )
      .describe('All that is unpaid, by status'),
    next,
  })
  .describe('Prizes won and not yet paid')

export const loyaltyFile: z.ZodType<resources.LoyaltyFile> = z
  .strictObject({
    seq: id.describe('Seq of the event that published the file'),
    digest: textSchema.describe('`sha256:` and the file’s digest in hex'),
    bytes: bytesSchema.nullable().describe('Size of the file; null where it was not said'),
    url: textSchema.nullable().describe('Where the file is; null where that was not said'),
    ...momentSchema('at', 'When the file was published'),
  })
  .describe('A published file of a loyalty reward')

export const loyaltyRun: z.ZodType<resources.LoyaltyRun> = z
  .strictObject({
    month: month.describe('The month that is rewarded'),
    ...momentOrNull('paysAt', 'When the rewards are planned to be paid; null while they are not'),
    input: loyaltyFile.nullable().describe('What the rewards were computed from; null until published'),
    output: loyaltyFile.nullable().describe('What was computed: the rewards; null until published'),
    recipients: numberSchema.nullable().describe('How many are rewarded; null until there is an output'),
    total: amountSchema.nullable().describe('All rewards of the month; null until there is an output'),
    paid: amountSchema.describe('What of the rewards was paid'),
    notPaid: amountSchema
      .nullable()
      .describe('What of the rewards is still to be paid; null until there is an output'),
    payouts: numberSchema.describe('Payouts made, corrected ones not counted'),
  })
  .describe('The loyalty reward of a month')

export const loyaltyRunsSchema: z.ZodType<resources.LoyaltyRuns> = z
  .strictObject({ asOf: asOfSchema, runs: z.array(loyaltyRun).describe('The months that are rewarded') })
  .describe('The loyalty rewards of all months')
