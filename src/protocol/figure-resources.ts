import { z } from 'zod'
import { keysOf, recordOf } from './brand.ts'
import { BUCKETS } from './enumerations.ts'
import {
  amountSchema,
  asOfSchema,
  type Described,
  momentOrNull,
  momentSchema,
  numberSchema,
  price,
} from './resource-fields.ts'

// JSON answers of /api/v1 with totals, at a moment or over a range: `/summary`, `/flows`, `/funds` and `/patterns` (spec,
// section 5). As in `resources.ts`, each is a schema.

const entries = numberSchema.describe('Plays of kind `entry`')
const plays = numberSchema.describe('Plays, each event by its count')

const flowFigures = {
  spentOnPlay: amountSchema.describe('Tokens spent on plays'),
  paidInPrizes: amountSchema.describe('Payouts without refunds and loyalty rewards'),
  burned: amountSchema.describe('Tokens burned, from the platform’s income'),
}
const fundFigures = {
  treasury: amountSchema.describe('Balance of the treasury'),
  runningPools: amountSchema.describe('Balance of the pools of all contests'),
  loyaltyFund: amountSchema.describe('Balance of the loyalty fund'),
  prizesNotRedeemed: amountSchema.describe('Prizes owed, not paid and not expired'),
}
/** A bucket of `/funds` is named by its start and has the balances of its end: each description says so. */
const fundsAtEnd = {
  treasury: amountSchema.describe('Balance of the treasury at the end of the bucket'),
  runningPools: amountSchema.describe('Balance of the pools of all contests at the end of the bucket'),
  loyaltyFund: amountSchema.describe('Balance of the loyalty fund at the end of the bucket'),
  prizesNotRedeemed: amountSchema.describe('Prizes owed, not paid and not expired, at the end of the bucket'),
}

export const summarySchema = z
  .strictObject({
    asOf: asOfSchema,
    contests: z
      .strictObject({
        upcoming: numberSchema.describe('Planned contests that are not open yet'),
        running: numberSchema.describe('Contests that are open'),
        paying: numberSchema.describe('Closed or cancelled contests before `contest/paid`'),
        paid: numberSchema.describe('Contests after `contest/paid`, whatever their outcome'),
      })
      .describe('Number of contests by status'),
    entries,
    plays,
    events: numberSchema.describe('Events, corrections included'),
    payouts: numberSchema.describe('Payout events, refunds and loyalty rewards included'),
    spentOnPlay: flowFigures.spentOnPlay,
    paidInPrizes: flowFigures.paidInPrizes,
    paidInLoyalty: amountSchema.describe('Payouts of loyalty rewards'),
    burned: flowFigures.burned,
    ...fundFigures,
    tokenPriceUsd: price,
  })
  .describe('Counts and sums since the first event, and present balances')

export type Summary = Described<typeof summarySchema>

const NOW = 'Present that a bound of the range was derived from, floored to the minute'
const nowOrNull = z
  .strictObject(momentSchema('at', NOW))
  .nullable()
  .describe('Present that the answer was computed with; null when the request gives the whole range')
const range = {
  ...momentOrNull('launchedAt', 'The moment of the first event; null for an empty log'),
  ...momentSchema('from', 'Start of the range used, inclusive'),
  ...momentSchema('to', 'End of the range used, exclusive'),
}
/** A named schema: generators would make two types of one name from the parameter and the field. */
export const bucketSchema = z.enum(BUCKETS).describe('Width of a bucket')
const priceAtEnd = price.describe('The last known price at the end of the bucket; null before the first')
const bucketAt = {
  ...momentSchema('at', 'Start of the bucket'),
  complete: z.boolean().describe('Whether an event at or after the bucket’s end has been published'),
}

export const flowsSchema = z
  .strictObject({
    asOf: asOfSchema,
    now: nowOrNull,
    ...range,
    bucket: bucketSchema,
    buckets: z
      .array(z.strictObject({ ...bucketAt, ...flowFigures, tokenPriceUsd: priceAtEnd }))
      .describe('Buckets of the range, oldest first: movements in each, and the price at its end'),
    totals: z
      .strictObject(recordOf(keysOf(flowFigures), () => amountSchema.describe('Sum of the whole range')))
      .describe('Sums of all buckets'),
  })
  .describe('Movements by bucket')

export type Flows = Described<typeof flowsSchema>
export type FlowBucket = Flows['buckets'][number]
export type FlowFigures = Flows['totals']

export const fundsSchema = z
  .strictObject({
    asOf: asOfSchema,
    now: z
      .strictObject({
        ...momentOrNull('at', `${NOW}; null when the request gives the whole range`),
        ...fundFigures,
      })
      .describe('Balances after the last event counted'),
    ...range,
    bucket: bucketSchema,
    buckets: z
      .array(z.strictObject({ ...bucketAt, ...fundsAtEnd }))
      .describe('Buckets of the range, oldest first: balances at the end of each'),
  })
  .describe('Balances by bucket')

export type Funds = Described<typeof fundsSchema>
export type FundFigures = Pick<Summary, keyof typeof fundFigures>

const patternFigures = {
  ...flowFigures,
  byKind: z.record(z.string(), amountSchema).describe('Tokens spent on plays, by kind'),
  plays,
}
const hour = z
  .int()
  .min(0)
  .max(23)
  .meta({ description: 'Hour of the day, 0 to 23, in the local time of `tz`', 'x-unit': 'hours' })
const day = z.int().min(1).max(7).describe('1 = Monday to 7 = Sunday')

export const patternsSchema = z
  .strictObject({
    asOf: asOfSchema,
    now: nowOrNull,
    ...range,
    tz: numberSchema.meta({
      description: 'Minutes by which local time is ahead of UTC',
      'x-unit': 'minutes',
    }),
    byHour: z.array(z.strictObject({ hour, ...patternFigures })).describe('The 24 hours of the day'),
    byDay: z.array(z.strictObject({ day, ...patternFigures })).describe('The 7 days of the week'),
    cells: z
      .array(z.strictObject({ day, hour, ...patternFigures }))
      .describe('The 168 hours of the week, from Monday 00:00'),
  })
  .describe('Movements by hour of the day and day of the week')

export type Patterns = Described<typeof patternsSchema>
export type PatternFigures = Omit<Patterns['byHour'][number], 'hour'>

/** Span of an answer, aligned to its buckets. */
export type Span = Pick<Flows, 'from' | 'fromMs' | 'to' | 'toMs'>

/** Moment of the log's first event; null on an empty log. */
export type Launch = Pick<Flows, 'launchedAt' | 'launchedAtMs'>

/** Present that an answer was computed with, floored to the minute. */
export type Now = NonNullable<Flows['now']>

/** Range of an answer in buckets. */
export type Range = Launch & Span & Pick<Flows, 'bucket'>
