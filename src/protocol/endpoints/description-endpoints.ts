import { z } from 'zod'
import { EVENT_TYPES } from '../rules.ts'
import { MIRROR_STATES, MIRROR_WAITS } from '../enumerations.ts'
import { origin } from './file-endpoints.ts'
import {
  asOfSchema,
  type Described,
  id,
  momentOrNull,
  now,
  numberSchema,
  seq,
  textSchema,
} from './resource-fields.ts'

// Endpoints that describe the service itself.

const count = (meaning: string) => numberSchema.meta({ description: meaning, 'x-unit': 'drafts' })

const finalitySchema = z
  .strictObject({
    asked: z
      .boolean()
      .describe('Whether this node asks the blockchain before it publishes an event with a transaction'),
    held: count('Drafts that wait: for the blockchain, or for others of their contest that do'),
    ...momentOrNull('oldestAt', 'When the oldest waiting draft was accepted; null if none waits'),
    refused: count('Waiting drafts whose transaction is final and that are refused'),
    failed: count('Drafts whose transaction failed; they are never published'),
    dropped: count('Drafts that the operator gave up; they are never published'),
    vouched: numberSchema.meta({
      description: 'Events that were published on the operator’s word in place of the blockchain’s',
      'x-unit': 'events',
    }),
  })
  .describe('What waits for the blockchain; counts and ages only')

/** Drafts that wait for the blockchain, and those that the operator decided: counts and ages only. */
export type Finality = Described<typeof finalitySchema>

const upstreamMirrorSchema = z
  .strictObject({
    of: textSchema.describe('Public address of the service that it follows'),
    state: z.enum(MIRROR_STATES).describe('As `state` of this mirror'),
    behindMs: numberSchema.meta({ description: 'Most by which it may be late', 'x-unit': 'milliseconds' }),
    ...momentOrNull(
      'provedAt',
      'When its origin last showed a checkpoint that agrees; null before the first',
    ),
  })
  .describe('A mirror between this one and the log’s own service')

/** A mirror between this one and the log’s own service, as the next mirror reports it. */
export type UpstreamMirror = Described<typeof upstreamMirrorSchema>

const mirrorSchema = z
  .strictObject({
    of: textSchema.describe('Public address of the service that this mirror follows'),
    state: z
      .enum(MIRROR_STATES)
      .describe(
        '`waiting` without contact; `stopped` for good, because the origin contradicts what it signed',
      ),
    reason: z
      .enum(MIRROR_WAITS)
      .nullable()
      .describe('Why it waits, as in PROTOCOL.md; null unless `state` is `waiting`'),
    originSeq: seq.describe('Newest seq that the origin has shown or named, proved or not'),
    behindEvents: numberSchema.meta({
      description: 'Events that the origin has shown and this mirror has not proved',
      'x-unit': 'events',
    }),
    behindMs: numberSchema.meta({
      description: 'Most by which its answers may be late; 0 while it follows and lacks nothing',
      'x-unit': 'milliseconds',
    }),
    ...momentOrNull(
      'provedAt',
      'When the origin last showed a checkpoint that agrees with all that this mirror has; null before the first',
    ),
    ...momentOrNull('contactAt', 'When the origin last answered; null before the first answer'),
    upstream: z
      .array(upstreamMirrorSchema)
      .describe('Mirrors between this one and the log’s own service, the nearest first, by their own word'),
    keys: z
      .array(textSchema.describe('Verifier key in the format of C2SP signed-note'))
      .describe('Keys by which this mirror proves the log'),
    keysFrom: z
      .enum(['operator', 'first_use'])
      .describe('Whether the mirror’s operator named the keys, or the log itself at the first use'),
    ...momentOrNull('heldAt', 'When the origin told the counts of `finality`; null before it has'),
    contradiction: textSchema
      .nullable()
      .describe('What the origin contradicts; null unless this mirror has stopped'),
  })
  .describe('This node is a mirror of another service')

/** Report of a mirror about itself. */
export type Mirror = Described<typeof mirrorSchema>

const statusSchema = z
  .strictObject({
    asOf: asOfSchema,
    now,
    head: z
      .strictObject({
        seq: seq.describe('Seq of the newest event'),
        ...momentOrNull('at', 'The moment of the newest event; null for an empty log'),
        ageMs: numberSchema.nullable().meta({
          description: 'Age of the newest event; null for an empty log',
          'x-unit': 'milliseconds',
        }),
      })
      .describe('The newest event'),
    version: textSchema.describe('Version of the software'),
    log: textSchema.describe('The log’s id'),
    origin,
    chain: textSchema.describe('Blockchain of the transactions'),
    simulated: z.boolean().describe('Whether the platform is simulated'),
    following: z
      .strictObject({
        state: z
          .enum(['leader', 'follower'])
          .describe('Whether this node writes the log; otherwise it follows'),
        behind: numberSchema.meta({
          description:
            'What this node knows to exist and lacks: events of the origin of a mirror, commits of a log on several nodes',
          'x-unit': 'events',
        }),
      })
      .describe('Whether this node keeps up with the log'),
    finality: finalitySchema,
    mirror: mirrorSchema.nullable().describe('Null on a node that is no mirror'),
  })
  .describe('The head of the log, and this node')

export type Status = Described<typeof statusSchema>

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

/** Rows of the endpoints that describe the service itself. */
export const DESCRIPTION_ENDPOINTS = {
  eventTypes: {
    meaning: 'The catalogue of types and of the kinds seen, with a JSON Schema for each type',
    answer: 'EventTypes',
    schema: eventTypesSchema,
    parameters: {},
    caching: 'revalidate',
    work: 'brief',
    page: false,
    check: { unchecked: 'it describes the program' },
  },
  eventType: {
    meaning: 'The JSON Schema of events of one type, with those of their details under `$defs`',
    answer: 'application/schema+json',
    format: 'JSON Schema 2020-12',
    parameters: {},
    caching: 'build',
    work: 'brief',
    page: false,
    check: { unchecked: 'it describes the program' },
  },
  openapi: {
    meaning: 'This interface as an OpenAPI 3.1 document',
    answer: 'OpenAPI',
    parameters: {},
    caching: 'build',
    work: 'brief',
    page: false,
    check: { unchecked: 'it describes the program' },
  },
  asyncapi: {
    meaning: 'The stream as an AsyncAPI 3.0 document',
    answer: 'AsyncAPI',
    parameters: {},
    caching: 'build',
    work: 'brief',
    page: false,
    check: { unchecked: 'it describes the program' },
  },
  status: {
    meaning: 'The head of the log and its age, the version, and whether this node keeps up',
    answer: 'Status',
    schema: statusSchema,
    parameters: {},
    caching: 'revalidate',
    work: 'brief',
    page: true,
    check: { unchecked: 'it describes the node' },
  },
} as const
