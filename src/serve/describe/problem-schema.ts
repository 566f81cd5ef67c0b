import type { JsonSchema } from '../../protocol/schema.ts'

const fault: JsonSchema = {
  type: 'object',
  required: ['parameter', 'message'],
  properties: {
    parameter: { type: 'string', description: 'The parameter at fault' },
    message: { type: 'string', description: 'What is wrong with it' },
    allowed: { type: 'array', description: 'What would be right', items: { type: 'string' } },
  },
}

/** The RFC 9457 document of every refusal. */
export const PROBLEM_SCHEMA: JsonSchema = {
  type: 'object',
  description: 'RFC 9457. Nothing of the request is repeated in it.',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: {
      type: 'string',
      format: 'uri-reference',
      description: 'Address that explains it; ends in the code',
    },
    title: { type: 'string', description: 'The problem, for people' },
    status: { type: 'integer', minimum: 400, maximum: 599, description: 'The status of the answer' },
    detail: { type: 'string', description: 'What is wrong this time, for people' },
    code: {
      type: 'string',
      pattern: '^[a-z]+(?:-[a-z]+)*$',
      description: 'Stable: what a program may rely on. Expect codes that you do not know',
    },
    head: { type: 'integer', description: 'With `cursor-ahead` and `event-not-found`: the head of the log' },
    requested: {
      type: 'integer',
      description: 'With `too-many-buckets`: how many the range would have',
      'x-unit': 'buckets',
    },
    max: {
      type: 'integer',
      description: 'With `too-many-buckets`: how many it may have',
      'x-unit': 'buckets',
    },
    bucket: {
      type: ['string', 'null'],
      description: 'With `too-many-buckets`: the narrowest bucket that would fit; null where none would',
    },
    maxDays: {
      type: 'integer',
      description: 'With `range-too-long`: how long it may be',
      'x-unit': 'days',
    },
    errors: { type: 'array', description: 'Each parameter at fault', items: fault },
  },
}
