import { z } from 'zod'
import { keysOf, recordOf } from '../brand.ts'
import { BUCKETS, FLOW_DIVISIONS } from '../enumerations.ts'
import { TZ_MINUTES_MAX, WAIT_CONTESTS_MAX } from '../parameters.ts'
import { FORMAT, timeOf } from './endpoint-parameters.ts'
import {
  amountSchema,
  asOfSchema,
  contestId,
  type Described,
  momentOrNull,
  momentSchema,
  numberSchema,
  price,
  textSchema,
} from './resource-fields.ts'

// Endpoints that answer totals, at a moment or over a range (PROTOCOL.md, section 7). An answer is a schema: its type,
// its description in OpenAPI and the columns of its CSV derive from it.

const entries = numberSchema.describe('Plays of kind `entry`')
const plays = numberSchema.describe('Plays, each event by its count')

const flowFigures = {
  spentOnPlay: amountSchema.describe('Tokens spent on plays'),
  paidInPrizes: amountSchema.describe('Payouts without refunds and loyalty rewards'),
  burned: amountSchema.describe('Tokens burned, from the platform’s income'),
}
/** Further movements in and out of the platform, and `expired`, which moves inside it. */
const furtherFlows = {
  deposited: amountSchema.describe('Moved into the treasury from outside'),
  sponsored: amountSchema.describe('Added to the pools of contests from outside'),
  refunded: amountSchema.describe('Paid back to players out of the pools of contests'),
  withdrawn: amountSchema.describe('Moved out of the treasury'),
  expired: amountSchema.describe('Prizes that nobody redeemed, lapsed to the treasury'),
}
/** Amounts of a bucket by kind, with `by=kind`. Each has the same kinds in all buckets. */
const kindMaps = {
  spentByKind: mapOf('`spentOnPlay`', 'play'),
  paidByKind: mapOf('`paidInPrizes`', 'payout'),
  burnedByKind: mapOf('`burned`', 'burn'),
}
const paidInLoyalty = amountSchema.describe('Payouts of loyalty rewards')
const fundFigures = {
  treasury: amountSchema.describe('Balance of the treasury'),
  runningPools: amountSchema.describe('Balance of the pools of all contests'),
  loyaltyFund: amountSchema.describe('Balance of the loyalty fund'),
  prizesNotRedeemed: amountSchema.describe('Prizes owed, not paid and not expired'),
}
/** Balances at the end of a bucket of `/funds`, which is named by its start. Each description says so. */
const fundsAtEnd = {
  treasury: amountSchema.describe('Balance of the treasury at the end of the bucket'),
  runningPools: amountSchema.describe('Balance of the pools of all contests at the end of the bucket'),
  loyaltyFund: amountSchema.describe('Balance of the loyalty fund at the end of the bucket'),
  prizesNotRedeemed: amountSchema.describe('Prizes owed, not paid and not expired, at the end of the bucket'),
}

function mapOf(figure: string, type: string): z.ZodOptional<z.ZodRecord<z.ZodString, typeof amountSchema>> {
  return z
    .record(z.string(), amountSchema)
    .describe(`${figure} by kind of ${type}; only with \`by=kind\``)
    .optional()
}

const summarySchema = z
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
    paidInLoyalty,
    burned: flowFigures.burned,
    ...fundFigures,
    tokenPriceUsd: price,
    ...furtherFlows,
  })
  .describe('Counts and sums since the first event, and present balances')

export type Summary = Described<typeof summarySchema>

const NOW = 'Present that a bound of the range was derived from, floored to the minute'
/** Present of a range, with a name so that the documents define it once. */
export const rangePresentSchema = z
  .strictObject(momentSchema('at', NOW))
  .describe('Present that the answer was computed with')
const nowOrNull = rangePresentSchema
  .nullable()
  .describe('Present that the answer was computed with; null when the request gives the whole range')
const range = {
  ...momentOrNull('launchedAt', 'The moment of the first event; null for an empty log'),
  ...momentSchema('from', 'Start of the range used, inclusive'),
  ...momentSchema('to', 'End of the range used, exclusive'),
}
/** Named schema. Without a name, generators make two types, one for the parameter and one for the field. */
export const bucketSchema = z.enum(BUCKETS).describe('Width of a bucket')
const priceAtEnd = price.describe('The last known price at the end of the bucket; null before the first')
const bucketAt = {
  ...momentSchema('at', 'Start of the bucket'),
  complete: z.boolean().describe('Whether an event at or after the bucket’s end has been published'),
}

const flowsSchema = z
  .strictObject({
    asOf: asOfSchema,
    now: nowOrNull,
    ...range,
    bucket: bucketSchema,
    buckets: z
      .array(
        z.strictObject({
          ...bucketAt,
          ...flowFigures,
          tokenPriceUsd: priceAtEnd,
          ...furtherFlows,
          paidInLoyalty,
          ...kindMaps,
        }),
      )
      .describe('Buckets of the range, oldest first: movements in each, and the price at its end'),
    totals: z
      .strictObject(
        recordOf(keysOf({ ...flowFigures, ...furtherFlows, paidInLoyalty }), () =>
          amountSchema.describe('Sum of the whole range'),
        ),
      )
      .describe('Sums of all buckets'),
  })
  .describe('Movements by bucket')

export type Flows = Described<typeof flowsSchema>
export type FlowBucket = Flows['buckets'][number]
export type FlowFigures = Flows['totals']

const fundsSchema = z
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

const patternsSchema = z
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

const span = (meaning: string) =>
  z
    .int()
    .nullable()
    .meta({ description: `${meaning}; null when none is paid`, 'x-unit': 'milliseconds' })
/** Contest of a wait, with a name so that the documents define it once. */
export const oldestWaitSchema = z
  .strictObject({ contestId, ...momentSchema('closedAt', 'When it closed') })
  .describe('The contest that has waited longest')
const waitFields = {
  paid: numberSchema.describe('Contests that are paid, none of whose prizes expired'),
  p50Ms: span('Longest time from close to paid of the faster half of them'),
  p90Ms: span('Longest time from close to paid of the fastest nine of ten'),
  maxMs: span('Longest time from close to paid'),
  waiting: numberSchema.describe('Contests whose prizes are not all paid'),
  oldest: oldestWaitSchema.nullable().describe('The contest that has waited longest; null when none waits'),
}

const waitsSchema = z
  .strictObject({
    asOf: asOfSchema,
    now: nowOrNull,
    ...range,
    contests: z
      .strictObject({
        closed: numberSchema.describe('Contests that closed in the range: the sum of the four below'),
        paid: numberSchema.describe('Contests of outcome `paid`'),
        expired: numberSchema.describe(
          'Contests of outcome `lapsed`: all is settled, and some prizes expired',
        ),
        cancelled: numberSchema.describe('Contests that were cancelled, at that moment'),
        waiting: numberSchema.describe('Contests without an outcome, and those of outcome `owing`'),
      })
      .describe('Number of contests that closed in the range, by what became of them'),
    all: z.strictObject(waitFields).describe('Times from the close of a contest to its `contest/paid`'),
    kinds: z
      .array(z.strictObject({ kind: textSchema.describe('Kind of prize'), ...waitFields }))
      .describe(
        'The same by kind of prize: times from the close to the last payout of the kind, 0 if that was before the close',
      ),
  })
  .describe('Times from the close of contests until they were paid')

export type Waits = Described<typeof waitsSchema>
export type WaitFigures = Waits['all']

/** Span of an answer, aligned to its buckets. */
export type Span = Pick<Flows, 'from' | 'fromMs' | 'to' | 'toMs'>

/** Moment of the log's first event; null on an empty log. */
export type Launch = Pick<Flows, 'launchedAt' | 'launchedAtMs'>

/** Time at which an answer was computed, floored to the minute. */
export type Now = NonNullable<Flows['now']>

/** Range of an answer in buckets. */
export type Range = Launch & Span & Pick<Flows, 'bucket'>

const RANGE = {
  from: timeOf(
    '360 minutes, 168 hours, 90 days, 52 weeks or 36 months before `to`, but not before the first event’s bucket',
    'Start of the range, inclusive',
  ),
  to: timeOf('the end of the present bucket', 'End of the range, exclusive'),
  bucket: {
    form: { is: 'one-of', values: BUCKETS },
    absent: 'day',
    meaning: 'Width of a bucket, aligned to UTC; weeks begin on Monday, months on their first day',
    example: 'hour',
  },
} as const

/** Rows of the endpoints that answer totals over a range or at a moment. */
export const FIGURE_ENDPOINTS = {
  summary: {
    meaning: 'Headline figures, now or as of a past moment',
    answer: 'Summary',
    schema: summarySchema,
    parameters: {
      at: timeOf('now', 'The state with all events up to this moment, as known then'),
    },
    caching: 'by-range',
    settled: 'with `at` before the newest event',
    work: 'brief',
    page: true,
    check: 'recomputed',
  },
  flows: {
    meaning:
      'Spent on play, paid in prizes, burned, what else came in and went out, and the token price, per bucket',
    answer: 'Flows',
    schema: flowsSchema,
    parameters: {
      ...RANGE,
      by: {
        form: { is: 'one-of', values: FLOW_DIVISIONS },
        absent: 'no amounts by kind',
        meaning: 'kind: with the amounts of each kind of play, of payout and of burn in each bucket',
        example: 'kind',
      },
      ...FORMAT,
    },
    table: {
      list: 'buckets',
      row: 'a bucket',
      divided: {
        by: '`by=kind`',
        row: 'a kind of play, payout or burn in a bucket',
        columns: ['bucket', 'figure', 'kind', 'kots'],
      },
    },
    caching: 'by-range',
    settled: 'once an event at or after the range’s end is published',
    work: 'long',
    page: true,
    check: 'recomputed',
  },
  funds: {
    meaning: 'Treasury, running pools, loyalty fund and prizes not redeemed: now and as a history',
    answer: 'Funds',
    schema: fundsSchema,
    parameters: { ...RANGE, ...FORMAT },
    table: { list: 'buckets', row: 'a bucket' },
    caching: 'revalidate',
    work: 'long',
    page: true,
    check: 'recomputed',
  },
  waits: {
    meaning: 'How long contests took from their close until they were paid, and which still wait',
    answer: 'Waits',
    schema: waitsSchema,
    parameters: {
      from: timeOf(
        `90 days before \`to\`, but not before the first event’s minute, nor before the newest ${WAIT_CONTESTS_MAX} contests`,
        'Start of the range in which contests closed, inclusive, floored to the minute',
      ),
      to: timeOf('the end of the present minute', 'End of that range, exclusive, ceiled to the minute'),
      ...FORMAT,
    },
    table: { list: 'kinds', row: 'a kind of prize' },
    problems: ['range-too-long'],
    caching: 'revalidate',
    work: 'long',
    page: true,
    check: 'recomputed',
  },
  patterns: {
    meaning: 'Game activity by hour of day and day of week',
    answer: 'Patterns',
    schema: patternsSchema,
    parameters: {
      from: timeOf(
        '28 days before `to`, but not before the first event’s minute',
        'Start of the range, inclusive, floored to the minute',
      ),
      to: timeOf('the end of the present minute', 'End of the range, exclusive, ceiled to the minute'),
      tz: {
        form: { is: 'integer', min: -TZ_MINUTES_MAX, max: TZ_MINUTES_MAX, unit: 'whole minutes' },
        absent: '0',
        meaning: 'Minutes by which local time is ahead of UTC',
        example: '120',
      },
      ...FORMAT,
    },
    table: {
      list: 'cells',
      row: 'an hour of the week with its figures, then each kind of play in that hour',
    },
    caching: 'by-range',
    settled: 'once an event at or after the range’s end is published',
    work: 'long',
    page: true,
    check: 'recomputed',
  },
} as const
