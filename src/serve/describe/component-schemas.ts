import { z } from 'zod'
import { keysOf, recordOf } from '../../protocol/brand.ts'
import {
  contestRowSchema,
  loyaltyFileSchema,
  loyaltyRunSchema,
  plannedSchema,
  unpaidSchema,
} from '../../protocol/endpoints/contest-endpoints.ts'
import { eventTypeSchema } from '../../protocol/endpoints/description-endpoints.ts'
import { ENDPOINTS } from '../../protocol/endpoints/endpoints.ts'
import { pageBoundsSchema } from '../../protocol/endpoints/event-endpoints.ts'
import {
  bucketSchema,
  oldestWaitSchema,
  rangePresentSchema,
} from '../../protocol/endpoints/figure-endpoints.ts'
import { archiveMonthSchema, manifestSchema } from '../../protocol/endpoints/file-endpoints.ts'
import { asOfSchema, momentSchema, now, seq } from '../../protocol/endpoints/resource-fields.ts'
import type { JsonSchema } from '../../protocol/schema.ts'
import { referTo, SCHEMAS_BASE } from './json-document.ts'

type ComponentSchemas = Readonly<Record<string, JsonSchema>>

/** Schemas of shared parts of answers, and of the manifest (a file), by their names in the documents. */
const PART_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  ArchiveManifest: manifestSchema,
  AsOf: asOfSchema,
  Present: now,
  BucketWidth: bucketSchema,
  RangePresent: rangePresentSchema,
  OldestWait: oldestWaitSchema,
  ContestRow: contestRowSchema,
  PlannedMoment: plannedSchema,
  UnpaidPrize: unpaidSchema,
  LoyaltyRun: loyaltyRunSchema,
  LoyaltyFile: loyaltyFileSchema,
  PageBounds: pageBoundsSchema,
  ArchiveMonth: archiveMonthSchema,
  EventType: eventTypeSchema,
}

let made: ComponentSchemas | undefined

/** Schemas of all answers and their shared parts by name, made once. They refer to each other by `$ref`. */
export function componentSchemas(): ComponentSchemas {
  return (made ??= makeSchemas())
}

function makeSchemas(): ComponentSchemas {
  const registry = z.registry<{ id: string }>()
  for (const { answer, schema } of ENDPOINTS) {
    if (schema !== undefined) registry.add(schema, { id: answer })
  }
  for (const [id, schema] of Object.entries({ ...PART_SCHEMAS, ...STREAM_SCHEMAS })) {
    registry.add(schema, { id })
  }
  const { schemas } = z.toJSONSchema(registry, {
    uri: (id) => `${SCHEMAS_BASE}${id}`,
    override({ jsonSchema }) {
      // Extra fields are allowed, because v1 may add some.
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  })
  // These keywords belong to stand-alone schemas.
  const ofDocuments = new Set(['$schema', '$id'])
  return recordOf(keysOf(schemas), (id) =>
    Object.fromEntries(Object.entries(schemas[id] ?? {}).filter(([keyword]) => !ofDocuments.has(keyword))),
  )
}

const position = z
  .strictObject({
    seq: seq.describe('Seq of the last event scanned. Resume after it'),
    head: seq.describe('Seq of the newest event'),
    live: z.boolean().describe('Whether the whole history has been sent'),
    ...momentSchema('at', 'The present time of the server'),
  })
  .describe('Position of the stream, sent at the start, at the switch to live, and as heartbeat')

/** Schemas of positions, by their names in the documents. */
const STREAM_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  Position: position,
  PositionLine: z.strictObject({ position }).describe('A position as a line of JSON'),
}

const ID: JsonSchema = {
  id: { type: 'string', pattern: '^(?:0|[1-9][0-9]*)$', description: 'A seq. Resume after it' },
}

const message = (name: string, content: string, fields: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: {
    ...fields,
    data: {
      type: 'string',
      contentMediaType: 'application/json',
      contentSchema: referTo(name),
      description: `The ${content} as JSON`,
    },
  },
  required: [...Object.keys(fields), 'data'],
})

const retry: JsonSchema = {
  type: 'object',
  properties: {
    retry: {
      type: 'string',
      pattern: '^[1-9][0-9]*$',
      description: 'Milliseconds to wait before reconnecting; sent once at the start',
    },
  },
  required: ['retry'],
}

/** Schemas of the parts of a stream by framing. A part of Server-Sent Events is a message with its fields. */
export const STREAM_PARTS: Readonly<Record<'text/event-stream' | 'application/x-ndjson', JsonSchema>> = {
  'text/event-stream': {
    oneOf: [
      message('Event', 'event', ID),
      message('EventDetails', 'details of the next event', {
        event: { const: 'details', description: 'Type of the message; it has no `id`' },
      }),
      message('Position', 'position', {
        event: { const: 'position', description: 'Type of the message; events have none' },
        ...ID,
      }),
      retry,
    ],
  },
  'application/x-ndjson': {
    oneOf: [referTo('Event'), referTo('EventDetails'), referTo('PositionLine')],
  },
}
