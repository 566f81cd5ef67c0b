import type { JsonSchema } from '../../protocol/schema.ts'

const fault: JsonSchema = {
  type: 'object',
  required: ['parameter', 'message'],
  properties: {
    parameter: { type: 'string', description: 'Name of the parameter' },
    message: { type: 'string', description: 'Error of the parameter' },
    allowed: { type: 'array', description: 'Allowed values', items: { type: 'string' } },
  },
}

/** Schema of a problem (RFC 9457). */
export const PROBLEM_SCHEMA: JsonSchema = {
  type: 'object',
  description: 'A problem (RFC 9457). It repeats no value of the request.',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: {
      type: 'string',
      format: 'uri-reference',
      description: 'Path of the explanation; ends with the code',
    },
    title: { type: 'string', description: 'Short description of the problem' },
    status: { type: 'integer', minimum: 400, maximum: 599, description: 'HTTP status of the answer' },
    detail: { type: 'string', description: 'Description of this occurrence' },
    code: {
      type: 'string',
      pattern: '^[a-z]+(?:-[a-z]+)*$',
      description: 'Stable code for programs. Expect unknown codes',
    },
    head: { type: 'integer', description: 'With `cursor-ahead` and `event-not-found`: the head of the log' },
    witnessedSeq: {
      type: ['integer', 'null'],
      description:
        'With `not-witnessed`: last event of the newest witnessed checkpoint; null when there is none',
    },
    requested: {
      type: 'integer',
      description: 'With `too-many-buckets`: number of buckets in the range',
      'x-unit': 'buckets',
    },
    max: {
      type: 'integer',
      description: 'With `too-many-buckets`: most buckets allowed',
      'x-unit': 'buckets',
    },
    bucket: {
      type: ['string', 'null'],
      description: 'With `too-many-buckets`: the narrowest bucket that fits; null when none does',
    },
    maxDays: {
      type: 'integer',
      description: 'With `range-too-long`: longest range allowed',
      'x-unit': 'days',
    },
    errors: { type: 'array', description: 'Wrong parameters', items: fault },
  },
}
