import { z } from 'zod'
import type { JsonSchema } from '../../protocol/schema.ts'
import { momentSchema, seq } from './field-schemas.ts'
import { referTo } from './schema-reference.ts'

const position = z
  .strictObject({
    seq: seq.describe('The last event scanned: resume after it'),
    head: seq.describe('The newest event'),
    live: z.boolean().describe('Whether all of history has been sent'),
    ...momentSchema('at', 'The server’s present'),
  })
  .describe('How far the stream has come: at once, at the switch to live, and as its heartbeat')

/** What the stream says beside events, by the names that the documents give it. */
export const STREAM_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  Position: position,
  PositionLine: z.strictObject({ position }).describe('A position as a line of JSON'),
}

const message = (name: string, fields: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: {
    ...fields,
    id: { type: 'string', pattern: '^(?:0|[1-9][0-9]*)$', description: 'A seq: resume after it' },
    data: {
      type: 'string',
      contentMediaType: 'application/json',
      contentSchema: referTo(name),
      description: `The ${name.toLowerCase()} as JSON`,
    },
  },
  required: [...Object.keys(fields), 'id', 'data'],
})

const retry: JsonSchema = {
  type: 'object',
  properties: {
    retry: {
      type: 'string',
      pattern: '^[1-9][0-9]*$',
      description: 'Once at the start: milliseconds to wait before connecting again',
    },
  },
  required: ['retry'],
}

/** One part of a stream in each of its framings; of Server-Sent Events the fields of a message. */
export const STREAM_PARTS: Readonly<Record<'text/event-stream' | 'application/x-ndjson', JsonSchema>> = {
  'text/event-stream': {
    oneOf: [
      message('Event', {}),
      message('Position', {
        event: { const: 'position', description: 'Tells it from an event' },
      }),
      retry,
    ],
  },
  'application/x-ndjson': { oneOf: [referTo('Event'), referTo('PositionLine')] },
}
