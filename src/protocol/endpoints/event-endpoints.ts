import { z } from 'zod'
import { EVENT_TYPES, WORD } from '../rules.ts'
import type { EventWire } from '../event.ts'
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, SEQ_MAX, whole } from '../parameters.ts'
import { CHAINS } from '../tx.ts'
import { AFTER, FILTER, FORMAT, DETAILS, timeOf } from './endpoint-parameters.ts'
import {
  amountSchema,
  asOfSchema,
  type Described,
  id,
  momentSchema,
  next,
  numberSchema,
  seq,
  textSchema,
} from './resource-fields.ts'

// Endpoints that answer the log’s events.

const seqAsked = id.describe('The event’s seq')

/** Schema of an event. The type may be any text, because a newer service may have more types. */
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

const eventsPageSchema = z
  .strictObject({
    events: z.array(eventSchema).describe('The events of this page'),
    details: z
      .exactOptional(z.record(z.string().regex(/^[1-9][0-9]*$/), detailsFields))
      .describe('With `details=1`: details by seq, of the events that have some'),
    page: pageBoundsSchema,
  })
  .describe('A page of the log')

export type EventsPage = Described<typeof eventsPageSchema>

const eventDetailsSchema = z
  .strictObject({
    seq: seqAsked,
    details: detailsFields
      .nullable()
      .describe('Further fields, described under `$defs` of the type’s schema; null when there are none'),
  })
  .describe('Details of an event, beside its eight keys')

/** Details of an event, each moment as a pair; null for an event without details. */
export type EventDetails = Described<typeof eventDetailsSchema>

const eventCorrectionsSchema = z
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

/** Rows of the endpoints that answer the log's events. */
export const EVENT_ENDPOINTS = {
  events: {
    meaning: 'The event log, paged and filtered, as JSON or CSV',
    answer: 'EventsPage',
    schema: eventsPageSchema,
    parameters: {
      after: AFTER,
      from: timeOf('no lower bound', 'Only events at or after this moment; with `after`, the later of both'),
      to: timeOf('no upper bound', 'Only events before this moment'),
      ...FILTER,
      // A log accepts only identifiers of its own chain.
      tx: {
        form: { is: 'tx', chains: CHAINS },
        absent: 'every transaction and none',
        meaning: 'Only events that name this transaction, written as they write it',
        example: '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW',
      },
      order: {
        form: { is: 'one-of', values: ['asc', 'desc'] },
        absent: 'asc',
        meaning: 'desc pages backwards from `before`',
        example: 'desc',
      },
      before: {
        form: whole(1, SEQ_MAX),
        absent: 'the head, with order=desc',
        meaning: 'Only events with a smaller seq; only with order=desc',
        example: '1200',
      },
      limit: {
        form: whole(1, PAGE_LIMIT_MAX),
        absent: `${PAGE_LIMIT_DEFAULT}; with format=csv everything that matches`,
        meaning: 'Events of a page',
        example: '100',
      },
      ...FORMAT,
      ...DETAILS,
    },
    problems: ['cursor-ahead', 'behind', 'too-many-exports', 'export-capacity'],
    caching: 'by-range',
    settled: 'where `hasMore` is true, descending with `before` up to the head',
    // A short page without a filter is brief: see `serve/api/events-route.ts`.
    work: 'long',
    page: true,
    check: 'compared',
  },
  event: {
    meaning: 'One event by its seq: its exact line',
    answer: 'Event',
    schema: eventSchema,
    parameters: {},
    caching: 'immutable',
    work: 'brief',
    page: true,
    check: 'compared',
  },
  eventDetails: {
    meaning: 'What an event says beyond its eight fields',
    answer: 'EventDetails',
    schema: eventDetailsSchema,
    parameters: {},
    caching: 'immutable',
    work: 'brief',
    page: false,
    check: { unchecked: 'verify reads the details that the tree covers, from the archive' },
  },
  eventCorrections: {
    meaning: 'Which event cancelled this event, and which one replaced it',
    answer: 'EventCorrections',
    schema: eventCorrectionsSchema,
    parameters: {},
    caching: 'revalidate',
    work: 'brief',
    page: false,
    check: 'recomputed',
  },
  stream: {
    meaning: 'The events pushed live as Server-Sent Events, or as JSON lines',
    answer: 'text/event-stream',
    parameters: {
      after: { ...AFTER, absent: 'live from the head' },
      lastEventId: {
        form: whole(0, SEQ_MAX),
        absent: '`after`',
        meaning:
          'The header `Last-Event-ID` as a parameter, for clients that cannot set it; it overrides `after` and `from`',
        example: '1200',
      },
      from: timeOf(
        'live from the head',
        'Only events at or after this moment; with `after`, the later of both',
      ),
      ...FILTER,
      ...DETAILS,
    },
    problems: ['cursor-ahead', 'too-many-streams', 'stream-capacity'],
    caching: 'never',
    work: 'streaming',
    page: false,
    check: { unchecked: 'it has no end; a client holds its seqs contiguous' },
  },
} as const
