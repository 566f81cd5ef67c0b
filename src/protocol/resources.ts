import { z } from 'zod'
import { recordOf } from './brand.ts'
import { CONTEST_OUTCOMES, CONTEST_STATUSES, UNPAID_STATUSES } from './enumerations.ts'
import type { EventWire } from './event.ts'
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
  seq,
  textSchema,
} from './resource-fields.ts'
import { EVENT_TYPES, WORD } from './rules.ts'

// JSON answers of /api/v1 (spec, section 5): contests, prizes, events and the archive. Each answer is a schema, from which
// its type, its description in OpenAPI and the columns of its CSV derive. Import only types from here, unless a program
// needs the schemas: they bring zod with them. Amounts are strings with nine decimals, prices with twelve. A moment is a
// pair `x` and `xMs`. A field that does not apply is null.

const seqAsked = id.describe('The event’s seq')

/** The event, whose type is its own. It has any text as its type, because a newer service may have more types. */
export const eventSchema: z.ZodType<EventWire> = z
  .strictObject({
    seq: id.describe('Position in the log, contiguous'),
    type: z.enum(EVENT_TYPES).describe('What happened'),
    kind: z.string().regex(WORD).describe('Kind within the type. Expect unknown kinds'),
    ...momentSchema('at', 'The moment of publication'),
    contestId: id.nullable().describe('The contest’s number; null for an event of no contest'),
    kots: amountSchema
      .nullable()
      .describe('Amount of tokens; negative only in corrections; null without an amount'),
    tx: textSchema.nullable().describe('Identifier of the blockchain transaction; null when there is none'),
  })
  .describe(
    'An event: these eight keys in this order. It never changes. /api/v1/event-types/{type} has a schema for each type',
  )

export const pageBoundsSchema = z
  .strictObject({
    after: z.exactOptional(seq).describe('Exclusive lower bound; ascending pages only'),
    before: z
      .exactOptional(seq)
      .describe('Exclusive upper bound, by default head + 1; descending pages only'),
    limit: numberSchema.meta({ description: 'Most events of a page', 'x-unit': 'events' }),
    count: numberSchema.meta({ description: 'Events of this page', 'x-unit': 'events' }),
    scannedTo: seq.describe('Seq of the last event when the page is full, else the last seq examined'),
    hasMore: z.boolean().describe('False only on the last page'),
    next,
  })
  .describe('Bounds of the page, and the next page')

const detailsFields = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))

export const eventsPageSchema = z
  .strictObject({
    events: z.array(eventSchema).describe('The events of this page'),
    details: z
      .exactOptional(z.record(z.string().regex(/^[1-9][0-9]*$/), detailsFields))
      .describe('With `details=1`: details by seq, of the events that have some'),
    page: pageBoundsSchema,
  })
  .describe('A page of the log')

export type EventsPage = Described<typeof eventsPageSchema>

export const eventDetailsSchema = z
  .strictObject({
    seq: seqAsked,
    details: detailsFields
      .nullable()
      .describe('Further fields, described under `$defs` of the type’s schema; null when there are none'),
  })
  .describe('Details of an event, beside its eight keys')

/** Details of an event, each moment as a pair; null for an event without details. */
export type EventDetails = Described<typeof eventDetailsSchema>

export const eventCorrectionsSchema = z
  .strictObject({
    asOf: asOfSchema,
    seq: seqAsked,
    correctedBy: id
      .nullable()
      .describe('Seq of the correction that cancels the event; null when there is none'),
    restatedBy: id.nullable().describe('Seq of the event that replaces this one; null when there is none'),
  })
  .describe('Correction and replacement of an event')

export type EventCorrections = Described<typeof eventCorrectionsSchema>

const kindRule = z.strictObject({
  kind: textSchema.describe('A fixed kind, or `*` for any other word that the operator chooses'),
  meaning: textSchema.describe('Meaning of such an event'),
  posting: z
    .strictObject({
      from: textSchema.describe('Account that gives'),
      to: textSchema.describe('Account that receives'),
    })
    .nullable()
    .describe('Movement between accounts; null when it moves nothing'),
})

const kindSeen = z.strictObject({
  kind: textSchema.describe('A kind in the log'),
  firstSeq: id.describe('Seq of the first event of the kind'),
})

export const eventTypeSchema = z
  .strictObject({
    type: z.enum(EVENT_TYPES).describe('The type'),
    kinds: z.array(kindRule).describe('Allowed kinds, with their meanings and movements'),
    seen: z.array(kindSeen).describe('Kinds in the log'),
    schema: z
      .record(z.string(), z.unknown())
      .describe('JSON Schema (2020-12), the same as at /api/v1/event-types/{type}'),
  })
  .describe('A type of event and its kinds')

export const eventTypesSchema = z
  .strictObject({ asOf: asOfSchema, types: z.array(eventTypeSchema).describe('All types') })
  .describe('The catalogue of event types')

export type EventTypes = Described<typeof eventTypesSchema>

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

export const contestRowSchema = z.strictObject(fields).describe('A contest: its terms, status and sums')

export type ContestWire = Described<typeof contestRowSchema>

export const contestSchema = z
  .strictObject({ asOf: asOfSchema, ...fields })
  .describe('A contest: its terms, status and sums')

export type Contest = Described<typeof contestSchema>

export const contestsSchema = z
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

export const ledgerSchema = z
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

export const scheduleSchema = z
  .strictObject({
    asOf: asOfSchema,
    opens: z.array(plannedSchema).describe('Planned openings, earliest first'),
    closes: z.array(plannedSchema).describe('Planned closings, earliest first'),
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

export const payoutsSchema = z
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

export const loyaltyRunsSchema = z
  .strictObject({ asOf: asOfSchema, runs: z.array(loyaltyRunSchema).describe('Rewarded months') })
  .describe('The loyalty rewards of all months')

export type LoyaltyRuns = Described<typeof loyaltyRunsSchema>

const events = numberSchema.describe('Events of the month')
const firstSeq = id.nullable().describe('Seq of the month’s first event; null without events')
const lastSeq = id.nullable().describe('Seq of the month’s last event; null without events')

export const archiveMonthSchema = z
  .strictObject({
    month,
    state: z.enum(['open', 'closed']).describe('A closed month never changes'),
    url: textSchema.describe('Path of the month’s events file'),
    detailsUrl: textSchema.describe('Path of the month’s details file'),
    bytes: bytesSchema.nullable().describe('Size of the events file; null while open'),
    events,
    firstSeq,
    lastSeq,
    sha256: textSchema.nullable().describe('SHA-256 of the events file, in hex; null while open'),
    linesSha256: textSchema
      .nullable()
      .describe('SHA-256 of the month’s lines, unpacked, in hex; null while open'),
  })
  .describe('A month of the archive')

export type ArchiveMonth = Described<typeof archiveMonthSchema>

export const archiveIndexSchema = z
  .strictObject({
    months: z.array(archiveMonthSchema).describe('All months since the first event, oldest first'),
  })
  .describe('The months of the archive')

export type ArchiveIndex = Described<typeof archiveIndexSchema>

/** Size and digest of a file, or of its unpacked lines. */
const digestOf = (what: string) => ({
  bytes: bytesSchema.describe(`Size of ${what}`),
  sha256: textSchema.describe(`SHA-256 of ${what}, in hex`),
})

export const manifestSchema = z
  .strictObject({
    month,
    firstSeq,
    lastSeq,
    events,
    firstIndex: seq.nullable().describe('Index of the first leaf; null in a month without events'),
    size: numberSchema.describe('Size of the log’s tree at the end of the month'),
    root: z.base64().describe('Root of that tree'),
    checkpoint: textSchema.describe('Signed checkpoint of that tree'),
    lines: z.strictObject(digestOf('the uncompressed events')).describe('The uncompressed events'),
    gzip: z.strictObject(digestOf('the events file')).describe('The events file as served'),
    details: z
      .strictObject({
        ...digestOf('the details file'),
        lines: z.strictObject(digestOf('the uncompressed details')).describe('The uncompressed details'),
      })
      .describe('The details file as served'),
  })
  .describe('The manifest of a closed month, which never changes')

export type ArchiveManifest = Described<typeof manifestSchema>

/** Size and SHA-256 (hex) of a file or of its unpacked lines. */
export type Digest = ArchiveManifest['gzip']
