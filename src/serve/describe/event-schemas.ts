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
    kind: z.string().regex(WORD).describe('Expect kinds that you do not know'),
    ...momentSchema('at', 'The moment of publication'),
    contestId: id.nullable().describe('The contest’s number; null of what is of no contest'),
    kots: amountSchema
      .nullable()
      .describe('Amount of tokens; only of a correction negative; null without an amount'),
    tx: textSchema.nullable().describe('Identifier of the blockchain transaction; null where none is named'),
  })
  .describe(
    'An event: these eight keys in this order, for ever. /api/v1/event-types/{type} has a schema for each type',
  )

export const pageBounds: z.ZodType<resources.EventsPage['page']> = z
  .strictObject({
    after: z.exactOptional(seq).describe('As it was asked; ascending only'),
    before: z.exactOptional(seq).describe('As it was asked, else the head and one; descending only'),
    limit: numberSchema.meta({ description: 'Events of a page at most', 'x-unit': 'events' }),
    count: numberSchema.meta({ description: 'Events of this page', 'x-unit': 'events' }),
    scannedTo: seq.describe('The last event’s seq when the page is full, else the last seq examined'),
    hasMore: z.boolean().describe('Only false means the end'),
    next,
  })
  .describe('Which part of the log the page is, and where the next one is')

export const eventsPageSchema: z.ZodType<resources.EventsPage> = z
  .strictObject({ events: z.array(event).describe('The events of this page'), page: pageBounds })
  .describe('A page of the log')

export const eventDetails: z.ZodType<resources.EventDetails> = z
  .strictObject({
    seq: seqAsked,
    details: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .nullable()
      .describe('Under `$defs` of the type’s schema; null when the event says nothing more'),
  })
  .describe('What the event says beyond its eight keys')

export const eventCorrectionsSchema: z.ZodType<resources.EventCorrections> = z
  .strictObject({
    asOf: asOfSchema,
    seq: seqAsked,
    correctedBy: id
      .nullable()
      .describe('Seq of the correction that took the event back; null while it stands'),
    restatedBy: id
      .nullable()
      .describe('Seq of the event that took the place of this one; null while there is none'),
  })
  .describe('What later events say of this one')

const kindRule = z.strictObject({
  kind: textSchema.describe('A fixed kind, or `*` for every other word of the operator'),
  meaning: textSchema.describe('What such an event says, in words'),
  posting: z
    .strictObject({
      from: textSchema.describe('The account that gives'),
      to: textSchema.describe('The account that receives'),
    })
    .nullable()
    .describe('What such an event moves; null where it moves nothing'),
})

const kindSeen = z.strictObject({
  kind: textSchema.describe('A kind that there has been'),
  firstSeq: id.describe('Seq of the first event of the kind'),
})

export const eventType: z.ZodType<resources.EventTypes['types'][number]> = z
  .strictObject({
    type: z.enum(EVENT_TYPES).describe('The type'),
    kinds: z.array(kindRule).describe('What the type may say, and which account gives and which receives'),
    seen: z.array(kindSeen).describe('The kinds that there have been'),
    schema: z
      .record(z.string(), z.unknown())
      .describe('JSON Schema (2020-12), as /api/v1/event-types/{type}'),
  })
  .describe('A type of event: what its kinds say and move')

export const eventTypes: z.ZodType<resources.EventTypes> = z
  .strictObject({ asOf: asOfSchema, types: z.array(eventType).describe('Every type that there is') })
  .describe('The catalogue of types of events')
