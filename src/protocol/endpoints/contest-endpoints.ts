import { z } from 'zod'
import { recordOf } from '../brand.ts'
import { CONTEST_OUTCOMES, CONTEST_SORTS, CONTEST_STATUSES, UNPAID_STATUSES } from '../enumerations.ts'
import { SEARCH_CHARS_MAX, SEQ_MAX, TOP_ROWS_MAX } from '../parameters.ts'
import { eventSchema } from './event-endpoints.ts'
import { FORMAT, PAGING } from './endpoint-parameters.ts'
import {
  amountSchema,
  asOfSchema,
  bytesSchema,
  contestId,
  type Described,
  id,
  momentOrNull,
  momentSchema,
  month,
  next,
  now,
  numberSchema,
  textSchema,
} from './resource-fields.ts'

// Endpoints about contests, the schedule, prizes and loyalty rewards (PROTOCOL.md, section 7).

const title = textSchema.nullable().describe('The contest’s title; null when it has none')

const fields = {
  id: contestId,
  title,
  status: z.enum(CONTEST_STATUSES).describe('Status of the contest'),
  ...momentSchema('opensAt', 'Planned opening of the contest'),
  ...momentOrNull('closesAt', 'Planned closing of the contest; null while no end is announced'),
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

export const contestRowSchema = z.strictObject(fields).describe('A contest: its terms, status and sums')

export type ContestWire = Described<typeof contestRowSchema>

const contestSchema = z
  .strictObject({ asOf: asOfSchema, ...fields })
  .describe('A contest: its terms, status and sums')

export type Contest = Described<typeof contestSchema>

const contestsSchema = z
  .strictObject({
    asOf: asOfSchema,
    contests: z.array(contestRowSchema).describe('The contests of this page'),
    next,
  })
  .describe('Contests, newest first')

export type Contests = Described<typeof contestsSchema>

const prizeLineSchema = z.strictObject({
  kind: textSchema.describe('Kind of prize'),
  owed: amountSchema.describe('Prizes of this kind owed since the start'),
  redeemed: amountSchema.describe('Paid part'),
  expired: amountSchema.describe('Expired part'),
  notRedeemed: amountSchema.describe('Unpaid part'),
})

export type PrizeLine = Described<typeof prizeLineSchema>

const ledgerSchema = z
  .strictObject({
    asOf: asOfSchema,
    contest: contestRowSchema.describe('The contest, as in the list of contests'),
    pool: z
      .strictObject({
        in: z.record(z.string(), amountSchema).describe('Tokens put in, by kind'),
        out: z.record(z.string(), amountSchema).describe('Tokens taken out, by kind'),
        balance: amountSchema.describe('Balance of the pool'),
      })
      .describe('The contest’s pool'),
    prizes: z.array(prizeLineSchema).describe('Prizes by kind'),
    payouts: z.array(eventSchema).describe('Payouts of the contest, with refunds and corrections of both'),
    next,
  })
  .describe('The ledger of one contest')

export type ContestLedger = Described<typeof ledgerSchema>

export const plannedSchema = z
  .strictObject({ contestId, title, ...momentSchema('at', 'Planned moment of opening or closing') })
  .describe('A planned moment of a contest')

export type Planned = Described<typeof plannedSchema>

const scheduleSchema = z
  .strictObject({
    asOf: asOfSchema,
    opens: z.array(plannedSchema).describe('Planned openings, earliest first'),
    closes: z
      .array(plannedSchema)
      .describe('Planned closings, earliest first; none of a contest without an announced end'),
    nextLoyaltyPayment: z
      .strictObject({
        month: month.describe('The rewarded month'),
        ...momentSchema('at', 'Planned moment of the payment'),
      })
      .nullable()
      .describe('The next payment of loyalty rewards; null while none is planned'),
  })
  .describe('Planned moments that have not happened, also past ones')

export type Schedule = Described<typeof scheduleSchema>

export const unpaidSchema = z
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

export type Unpaid = Described<typeof unpaidSchema>

const payoutsSchema = z
  .strictObject({
    asOf: asOfSchema,
    now,
    unpaid: z.array(unpaidSchema).describe('The unpaid prizes of this page'),
    totals: z
      .strictObject(
        recordOf(UNPAID_STATUSES, () => amountSchema.describe('Sum of this status over all pages')),
      )
      .describe('Unpaid amounts by status'),
    next,
  })
  .describe('Unpaid prizes')

export type Payouts = Described<typeof payoutsSchema>

export const loyaltyFileSchema = z
  .strictObject({
    seq: id.describe('Seq of the event that published the file'),
    digest: textSchema.describe('`sha256:` and the digest of the file in hex'),
    bytes: bytesSchema.nullable().describe('Size of the file; null when unknown'),
    url: textSchema.nullable().describe('URL of the file; null when unknown'),
    ...momentSchema('at', 'When the file was published'),
  })
  .describe('A published file of a loyalty reward')

/** Published input or output of a loyalty reward. */
export type LoyaltyFile = Described<typeof loyaltyFileSchema>

export const loyaltyRunSchema = z
  .strictObject({
    month: month.describe('The rewarded month'),
    ...momentOrNull('paysAt', 'Planned moment of payment; null while none is planned'),
    input: loyaltyFileSchema.nullable().describe('Input of the computation; null until published'),
    output: loyaltyFileSchema
      .nullable()
      .describe('Output of the computation, the rewards; null until published'),
    recipients: numberSchema.nullable().describe('Number of recipients; null until there is an output'),
    total: amountSchema.nullable().describe('Sum of the rewards; null until there is an output'),
    paid: amountSchema.describe('Paid part of the rewards'),
    notPaid: amountSchema.nullable().describe('Unpaid part of the rewards; null until there is an output'),
    payouts: numberSchema.describe('Number of payouts, without corrected ones'),
  })
  .describe('The loyalty reward of a month')

export type LoyaltyRun = Described<typeof loyaltyRunSchema>

const loyaltyRunsSchema = z
  .strictObject({ asOf: asOfSchema, runs: z.array(loyaltyRunSchema).describe('Rewarded months') })
  .describe('The loyalty rewards of all months')

export type LoyaltyRuns = Described<typeof loyaltyRunsSchema>

/** Rows of the endpoints about contests, the schedule and prizes. */
export const CONTEST_ENDPOINTS = {
  contests: {
    meaning: 'All contests since launch, newest first; searched by title and sorted',
    answer: 'Contests',
    schema: contestsSchema,
    parameters: {
      status: {
        form: {
          is: 'list-of',
          values: [...CONTEST_STATUSES, 'closed'],
          elsewhere: { cancelled: 'outcome=cancelled', owing: 'outcome=owing', lapsed: 'outcome=lapsed' },
        },
        absent: 'every status',
        meaning: 'Only contests of these statuses; closed = paying and paid',
        example: 'running,paying',
      },
      outcome: {
        form: { is: 'list-of', values: CONTEST_OUTCOMES },
        absent: 'every outcome and none',
        meaning: 'Only contests that came to this; `cancelled` from `contest/cancelled` on',
        example: 'owing,lapsed',
      },
      q: {
        form: { is: 'text', charsMax: SEARCH_CHARS_MAX, guarded: true },
        absent: 'every title',
        meaning:
          'Only contests with all these words, or their beginnings, in the title; case and accents are ignored',
        example: 'daily sketch',
      },
      sort: {
        form: { is: 'one-of', values: CONTEST_SORTS },
        absent: 'newest',
        meaning: `closesAt: soonest first, without an announced end last; pool and prizesNotRedeemed: largest first, without \`after\` and with \`limit\` up to ${TOP_ROWS_MAX}`,
        example: 'closesAt',
      },
      ...PAGING,
    },
    table: { list: 'contests', row: 'a contest' },
    caching: 'revalidate',
    work: 'long',
    page: true,
    check: 'recomputed',
  },
  contest: {
    meaning: 'One contest',
    answer: 'Contest',
    schema: contestSchema,
    parameters: {},
    caching: 'revalidate',
    work: 'brief',
    // The page of its ledger shows all of it.
    page: false,
    check: 'recomputed',
  },
  contestLedger: {
    meaning: 'One contest: its pool, each kind of prize owed and redeemed, each payout with its transaction',
    answer: 'ContestLedger',
    schema: ledgerSchema,
    parameters: PAGING,
    table: { list: 'payouts', row: 'a payout event of the contest' },
    caching: 'revalidate',
    work: 'long',
    page: true,
    check: 'recomputed',
  },
  schedule: {
    meaning: 'Planned contest opens and closes, and the next loyalty payment',
    answer: 'Schedule',
    schema: scheduleSchema,
    parameters: {},
    caching: 'revalidate',
    work: 'long',
    page: true,
    check: 'recomputed',
  },
  scheduleCalendar: {
    meaning: 'The schedule as an iCalendar feed',
    answer: 'text/calendar',
    format: 'iCalendar (RFC 5545)',
    parameters: {},
    caching: 'revalidate',
    work: 'long',
    page: false,
    check: { unchecked: 'the schedule in another form' },
  },
  payouts: {
    meaning: 'Prizes won and not yet paid, with when each becomes available',
    answer: 'Payouts',
    schema: payoutsSchema,
    parameters: {
      contestId: {
        form: { is: 'integers', min: 1, max: SEQ_MAX },
        absent: 'every contest',
        meaning: 'Only prizes of these contests',
        example: '42,43',
      },
      kind: {
        form: { is: 'words' },
        absent: 'every kind',
        meaning: 'Only prizes of these kinds',
        example: 'winner,runner_up',
      },
      ...PAGING,
    },
    table: { list: 'unpaid', row: 'an unpaid prize' },
    caching: 'revalidate',
    work: 'long',
    page: true,
    check: 'recomputed',
  },
  loyaltyRuns: {
    meaning: 'Each month’s loyalty reward with the digests of its input and output',
    answer: 'LoyaltyRuns',
    schema: loyaltyRunsSchema,
    parameters: FORMAT,
    table: { list: 'runs', row: 'a month' },
    caching: 'revalidate',
    work: 'brief',
    page: true,
    check: 'recomputed',
  },
} as const
