import { z } from 'zod'
import type { JsonSchema } from '../../protocol/schema.ts'
import { momentSchema, seq } from '../../protocol/endpoints/resource-fields.ts'
import { referTo } from './json-document.ts'

const position = z
  .strictObject({
    seq: seq.describe('Seq of the last event scanned. Resume after it'),
    head: seq.describe('Seq of the newest event'),
    live: z.boolean().describe('Whether the whole history has been sent'),
    ...momentSchema('at', 'The present time of the server'),
  })
  .describe('Position of the stream, sent at the start, at the switch to live, and as heartbeat')

/** Schemas of positions, by their names in the documents. */
export const STREAM_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
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

/** Schemas of the parts of a stream by framing. Of Server-Sent Events, a part is a message with its fields. */
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
