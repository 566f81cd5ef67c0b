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
    kind: textSchema.describe('Kind of prize'),
    kots: amountSchema.describe('Unpaid amount; negative when more was paid than owed'),
    status: z.enum(UNPAID_STATUSES).describe('Reason why the prize is unpaid'),
    ...momentOrNull('unlocksAt', 'Earliest moment of a payment; null when the prize is not locked'),
    ...momentOrNull('reviewUntil', 'End of the review; null without a review'),
    ...momentSchema('availableAt', 'The later of `unlocksAt` and `reviewUntil`, else when the prize was won'),
  })
  .describe('Unpaid prizes of one kind and contest with the same terms')

export const payoutsSchema: z.ZodType<resources.Payouts> = z
  .strictObject({
    asOf: asOfSchema,
    now,
    unpaid: z.array(unpaid).describe('The unpaid prizes of this page'),
    totals: z
      .strictObject(
        recordOf(UNPAID_STATUSES, () => amountSchema.describe('Sum of this status over all pages')),
      )
      .describe('Unpaid amounts by status'),
    next,
  })
  .describe('Unpaid prizes')

export const loyaltyFile: z.ZodType<resources.LoyaltyFile> = z
  .strictObject({
    seq: id.describe('Seq of the event that published the file'),
    digest: textSchema.describe('`sha256:` and the digest of the file in hex'),
    bytes: bytesSchema.nullable().describe('Size of the file; null when unknown'),
    url: textSchema.nullable().describe('URL of the file; null when unknown'),
    ...momentSchema('at', 'When the file was published'),
  })
  .describe('A published file of a loyalty reward')

export const loyaltyRun: z.ZodType<resources.LoyaltyRun> = z
  .strictObject({
    month: month.describe('The rewarded month'),
    ...momentOrNull('paysAt', 'Planned moment of payment; null while none is planned'),
    input: loyaltyFile.nullable().describe('Input of the computation; null until published'),
    output: loyaltyFile.nullable().describe('Output of the computation, the rewards; null until published'),
    recipients: numberSchema.nullable().describe('Number of recipients; null until there is an output'),
    total: amountSchema.nullable().describe('Sum of the rewards; null until there is an output'),
    paid: amountSchema.describe('Paid part of the rewards'),
    notPaid: amountSchema.nullable().describe('Unpaid part of the rewards; null until there is an output'),
    payouts: numberSchema.describe('Number of payouts, without corrected ones'),
  })
  .describe('The loyalty reward of a month')

export const loyaltyRunsSchema: z.ZodType<resources.LoyaltyRuns> = z
  .strictObject({ asOf: asOfSchema, runs: z.array(loyaltyRun).describe('Rewarded months') })
  .describe('The loyalty rewards of all months')
