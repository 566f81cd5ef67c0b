import { z } from 'zod'
import { WORD } from '../../protocol/catalogue.ts'
import type * as resources from '../../protocol/resources.ts'
import { EVENT_TYPES } from '../../protocol/rules.ts'
import {
  amountSchema,
  asOfSchema,
  id,
  momentSchema,
  next,
  numberSchema,
  seq,
  textSchema,
} from './field-schemas.ts'

const seqAsked = id.describe('The event’s seq')

export const event: z.ZodType<resources.ContestLedger['payouts'][number]> = z
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

export const pageBounds: z.ZodType<resources.EventsPage['page']> = z
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

export const eventsPageSchema: z.ZodType<resources.EventsPage> = z
  .strictObject({
    events: z.array(event).describe('The events of this page'),
    details: z
      .exactOptional(z.record(z.string().regex(/^[1-9][0-9]*$/), detailsFields))
      .describe('With `details=1`: details by seq, of the events that have some'),
    page: pageBounds,
  })
  .describe('A page of the log')

export const eventDetails: z.ZodType<resources.EventDetails> = z
  .strictObject({
    seq: seqAsked,
    details: detailsFields
      .nullable()
      .describe('Further fields, described under `$defs` of the type’s schema; null when there are none'),
  })
  .describe('Details of an event, beside its eight keys')

export const eventCorrectionsSchema: z.ZodType<resources.EventCorrections> = z
  .strictObject({
    asOf: asOfSchema,
    seq: seqAsked,
    correctedBy: id
      .nullable()
      .describe('Seq of the correction that cancels the event; null when there is none'),
    restatedBy: id.nullable().describe('Seq of the event that replaces this one; null when there is none'),
  })
  .describe('Correction and replacement of an event')

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

export const eventType: z.ZodType<resources.EventTypes['types'][number]> = z
  .strictObject({
    type: z.enum(EVENT_TYPES).describe('The type'),
    kinds: z.array(kindRule).describe('Allowed kinds, with their meanings and movements'),
    seen: z.array(kindSeen).describe('Kinds in the log'),
    schema: z
      .record(z.string(), z.unknown())
      .describe('JSON Schema (2020-12), the same as at /api/v1/event-types/{type}'),
  })
  .describe('A type of event and its kinds')

export const eventTypes: z.ZodType<resources.EventTypes> = z
  .strictObject({ asOf: asOfSchema, types: z.array(eventType).describe('All types') })
  .describe('The catalogue of event types')
