import { z } from 'zod'
import { assert } from '../../protocol/brand.ts'
import type { Endpoint } from '../../protocol/endpoint.ts'
import { ENDPOINTS } from '../../protocol/endpoints.ts'
import type { Form, Parameter } from '../../protocol/parameters.ts'
import { WORD } from '../../protocol/catalogue.ts'
import { JSON_TYPE } from '../projection.ts'
import type { JsonSchema } from '../../protocol/schema.ts'
import type { Route } from '../route.ts'
import { endpointRoute } from './endpoint-route.ts'
import { PROBLEM_SCHEMA, responsesOf, SHARED_RESPONSES } from './openapi-responses.ts'
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
    paths: Object.fromEntries(
      ENDPOINTS.map((endpoint) => [templateOf(endpoint.path), { get: operation(endpoint) }]),
    ),
    components: {
      schemas: { ...schemas(), Problem: PROBLEM_SCHEMA },
      responses: SHARED_RESPONSES,
    },
  }
}

/** A path as OpenAPI writes it, which knows no part of several segments: such a part says so in its description. */
function templateOf(path: string): string {
  return path.replace('...}', '}')
}

function operation(endpoint: Endpoint): JsonSchema {
  return {
    operationId: endpoint.id,
    summary: endpoint.meaning,
    parameters: [
      ...pathParameters(templateOf(endpoint.path)),
      ...endpoint.parameters.map(queryParameter),
      ...(HEADER_PARAMETERS[endpoint.id] ?? []),
    ],
    responses: responsesOf(endpoint),
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

const WHOLE: JsonSchema = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }
const PATH_PARAMETERS: Readonly<Record<string, JsonSchema>> = {
  id: { description: 'The contest’s number', schema: WHOLE, example: 1 },
  seq: { description: 'The event’s seq', schema: WHOLE, example: 1 },
  file: {
    description:
      '`yyyy-mm.jsonl.gz`, `yyyy-mm.details.jsonl.gz`, `yyyy-mm.json` (manifest of a closed month), or `SHA256SUMS`',
    schema: { type: 'string' },
    example: '2026-10.jsonl.gz',
  },
  level: {
    description: 'Level of the tree: 0 has the leaf hashes, each further one the roots of full tiles below',
    schema: { type: 'integer', minimum: 0, maximum: 63 },
    example: 0,
  },
  tile: {
    description:
      'The tile’s number in groups of three digits, all but the last behind an x, then `.p/` and the width of a ' +
      'partial one: `273`, `x001/x234/067`, `273.p/112`. Its slashes are not encoded',
    schema: { type: 'string' },
    example: '000.p/1',
  },
}

function pathParameters(path: string): readonly JsonSchema[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const described = PATH_PARAMETERS[name]
    assert(described !== undefined, `the path parameter ${name} is described`)
    return { name, in: 'path', required: true, ...described }
  })
}

const HEADER_PARAMETERS: Readonly<Record<string, readonly JsonSchema[]>> = {
  stream: [
    {
      name: 'Last-Event-ID',
      in: 'header',
      description:
        'Seq of the last message taken in, as a browser sends it when it connects again; beats `after`',
      schema: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      example: 1200,
    },
  ],
  archiveFile: [
    {
      name: 'Range',
      in: 'header',
      description: 'One range of bytes of a file of a closed month',
      schema: { type: 'string' },
      example: 'bytes=0-1023',
    },
  ],
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
