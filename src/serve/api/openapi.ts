import { z } from 'zod'
import type { Endpoint } from '../../protocol/endpoints.ts'
import { ENDPOINTS } from '../../protocol/endpoints.ts'
import type { Form, Parameter } from '../../protocol/parameters.ts'
import { WORD } from '../../protocol/catalogue.ts'
import { JSON_TYPE } from '../projection.ts'
import type { JsonSchema } from '../../protocol/schema.ts'
import type { Route } from '../route.ts'
import { endpointRoute } from './endpoint-route.ts'
import { RESOURCE_SCHEMAS } from './resource-schemas.ts'

const INFORMATION =
  'The open book of a contest and prize platform: one append-only log of final events, and every figure ' +
  'computed from it. Read-only; no key and no sign-up; open to every site. 60 requests in any 60 seconds per ' +
  'caller address; live data comes by /api/v1/stream. The data is informational only: it is not advice, a ' +
  'forecast or an offer. Clients must tolerate new fields, types and kinds.'

/** `/openapi.json`: made once, since only another build has another. */
export function openapiRoute(version: string): Route {
  const body = Buffer.from(JSON.stringify(openapi(version)))
  return endpointRoute('openapi', () => ({
    is: 'body',
    keep: 'revalidate',
    etag: 'of-content',
    type: JSON_TYPE,
    body,
  }))
}

/** The OpenAPI 3.1 document of the table of endpoints. */
export function openapi(version: string): JsonSchema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Daybook',
      version,
      description: INFORMATION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    paths: Object.fromEntries(ENDPOINTS.map((endpoint) => [endpoint.path, { get: operation(endpoint) }])),
    components: {
      schemas: { ...schemas(), Problem: PROBLEM },
      responses: { Problem: PROBLEM_RESPONSE, NotModified: NOT_MODIFIED },
    },
  }
}

function operation(endpoint: Endpoint): JsonSchema {
  const keyed = /\{\w+\}/.test(endpoint.path)
  const streamed = endpoint.caching === 'never'
  return {
    operationId: endpoint.id,
    summary: endpoint.meaning,
    parameters: [...pathParameters(endpoint.path), ...endpoint.parameters.map(queryParameter)],
    responses: {
      200: { description: endpoint.meaning, headers: HEADERS, content: content(endpoint) },
      ...(streamed ? {} : { 304: { $ref: '#/components/responses/NotModified' } }),
      ...(endpoint.parameters.length > 0 || keyed ? { 400: PROBLEM_REF } : {}),
      ...(keyed ? { 404: PROBLEM_REF } : {}),
      429: PROBLEM_REF,
      503: PROBLEM_REF,
    },
  }
}

function content(endpoint: Endpoint): JsonSchema {
  switch (endpoint.id) {
    case 'events':
      return {
        'application/json': { schema: { $ref: '#/components/schemas/EventsPage' } },
        'text/csv': { schema: { type: 'string', description: 'RFC 4180, with `format=csv`' } },
      }
    case 'stream':
      return {
        'text/event-stream': {
          schema: {
            type: 'string',
            description:
              'Server-Sent Events. A message without a type has an event’s seq as its `id` and the event as its ' +
              '`data`. A message of type `position` says how far the log has been scanned: ' +
              '`{"seq","head","live","at","atMs"}`; it comes at once, at the switch from history to live, after ' +
              'every 1,000 events scanned without a match, and after 15 s of silence. `Last-Event-ID` beats `after`.',
          },
        },
        'application/x-ndjson': {
          schema: {
            type: 'string',
            description:
              'The same as JSON lines, for `Accept: application/x-ndjson`; a position is `{"position":{…}}`',
          },
        },
      }
    case 'openapi':
      return { 'application/json': { schema: { type: 'object' } } }
    default:
      return RESOURCE_SCHEMAS[endpoint.answer] === undefined
        ? { [endpoint.answer]: {} }
        : { 'application/json': { schema: { $ref: `#/components/schemas/${endpoint.answer}` } } }
  }
}

function queryParameter({ name, form, absent, meaning, example }: Parameter): JsonSchema {
  return {
    name,
    in: 'query',
    required: false,
    description: `${meaning}. When absent: ${absent}.`,
    ...schemaOf(form),
    example: exampleOf(form, example),
  }
}

/** The example as a value of its schema, not as it is written in an address. */
function exampleOf(form: Form, example: string): string | number | readonly string[] {
  if (form.is === 'integer') return Number(example)
  return form.is === 'list-of' ? example.split(',') : example
}

function schemaOf(form: Form): JsonSchema {
  switch (form.is) {
    case 'time':
      return {
        schema: {
          oneOf: [
            { type: 'string', description: 'ISO 8601, UTC: `2026-10-01` or `2026-10-01T12:00:00Z`' },
            { type: 'integer', minimum: 0, description: 'Milliseconds since 1970' },
          ],
        },
      }
    case 'integer':
      return { schema: { type: 'integer', minimum: form.min, maximum: form.max } }
    case 'word':
      return { schema: { type: 'string', pattern: WORD.source } }
    case 'flag':
      return { schema: { type: 'string', enum: ['1'] } }
    case 'one-of':
      return { schema: { type: 'string', enum: form.values } }
    case 'list-of':
      return {
        style: 'form',
        explode: false,
        schema: {
          type: 'array',
          uniqueItems: true,
          minItems: 1,
          items: { type: 'string', enum: form.values },
        },
      }
  }
}

const PATH_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  file: {
    type: 'string',
    description:
      '`yyyy-mm.jsonl.gz`, `yyyy-mm.details.jsonl.gz`, `yyyy-mm.json` (manifest of a closed month), or `SHA256SUMS`',
  },
}
const WHOLE: JsonSchema = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }

function pathParameters(path: string): readonly JsonSchema[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: PATH_SCHEMAS[name] ?? WHOLE,
  }))
}

function schemas(): JsonSchema {
  return Object.fromEntries(
    Object.entries(RESOURCE_SCHEMAS).map(([name, schema]) => {
      // `$schema` belongs to a document of its own. An answer may have further fields: additive inside v1.
      const { $schema: _, ...rest } = z.toJSONSchema(schema, {
        override: ({ jsonSchema }) => {
          delete jsonSchema.additionalProperties
        },
      })
      return [name, rest]
    }),
  )
}

const PROBLEM: JsonSchema = {
  type: 'object',
  description: 'RFC 9457. Nothing of the request is repeated in it.',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string', format: 'uri-reference' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', description: 'Stable: what a program may rely on' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['parameter', 'message'],
        properties: {
          parameter: { type: 'string' },
          message: { type: 'string' },
          allowed: { type: 'array', items: { type: 'string' } },
        },
      },
    },
  },
}
const PROBLEM_REF: JsonSchema = { $ref: '#/components/responses/Problem' }
const PROBLEM_RESPONSE: JsonSchema = {
  description: 'What is wrong; `Retry-After` with 429 and 503',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
}
const NOT_MODIFIED: JsonSchema = { description: 'The answer named by `If-None-Match` still holds' }

const text = (description: string): JsonSchema => ({ description, schema: { type: 'string' } })
const HEADERS: JsonSchema = {
  'Daybook-Log': text('Identifies the log: another one, or a restored one, has another'),
  'Daybook-Seq': text('The last event counted; absent from what never changes under /events'),
  ETag: text('Send it back as `If-None-Match`'),
  'RateLimit-Policy': text('The allowance: `"default";q=60;w=60`; absent from what never changes'),
  RateLimit: text('What is left of it, and the seconds until it grows'),
}
