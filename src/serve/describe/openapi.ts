import {
  type Caching,
  type Endpoint,
  ENDPOINT_GROUPS,
  ENDPOINTS,
  isTableEndpoint,
  type TableEndpoint,
  tableTerms,
} from '../../protocol/endpoints/endpoints.ts'
import { type DocumentTerms, licenceOf, NOTICE, PAYOUT_MEANINGS, SUBJECT, TERMS } from './information.ts'
import { PROBLEMS } from '../../protocol/problem.ts'
import type { JsonSchema } from '../../protocol/schema.ts'
import { cachingOf, costOf, problemsOf } from './endpoint-problems.ts'
import { componentSchemas, STREAM_PARTS } from './component-schemas.ts'
import { HEADER_PARAMETERS, pathParameters, queryParameter } from './openapi-parameters.ts'
import { TABLE_COLUMNS } from './dataset-columns.ts'
import captured from './examples.json' with { type: 'json' }
import { documentReply, referTo } from './json-document.ts'
import type { EndpointId } from '../../protocol/paths.ts'
import type { RouteReply } from '../http/route.ts'

/** Captured answer about the sample log. A test compares it with a new one. */
export type Example = Readonly<{
  /** Id of the endpoint, or `problem`. */
  of: string
  request: string
  /** Media type, without parameters. */
  type: string
  value: unknown
}>

export const EXAMPLES: readonly Example[] = captured

/** Reply of `/openapi.json`, made once. */
export function openapiReply(terms: DocumentTerms): RouteReply {
  return documentReply(openapi(terms))
}

/** The OpenAPI 3.1 document of the table of endpoints. */
export function openapi({ version, licence }: DocumentTerms): JsonSchema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Daybook',
      version,
      description: `${SUBJECT}. ${TERMS} ${NOTICE}\n\n${PAYOUT_MEANINGS}`,
      ...licenceOf(licence),
    },
    servers: [{ url: '/', description: 'This service' }],
    // No key and no sign-up.
    security: [],
    tags: ENDPOINT_GROUPS.map(({ tag, description }) => ({ name: tag, description })),
    paths: Object.fromEntries(
      ENDPOINTS.map((endpoint) => [templateOf(endpoint.path), { get: operation(endpoint) }]),
    ),
    components: {
      schemas: { ...componentSchemas(), Problem: PROBLEM_SCHEMA },
      headers: HEADERS,
      responses: SHARED_RESPONSES,
    },
  }
}

/** Path in the form of OpenAPI. OpenAPI has no parts of several segments; their descriptions mention it. */
function templateOf(path: string): string {
  return path.replace('...}', '}')
}

function operation(endpoint: Endpoint): JsonSchema {
  return {
    operationId: endpoint.id,
    tags: [endpoint.tag],
    summary: endpoint.meaning,
    description: describe(endpoint),
    parameters: [
      ...pathParameters(templateOf(endpoint.path)),
      ...endpoint.parameters.map(queryParameter),
      ...(HEADER_PARAMETERS[endpoint.id] ?? []),
    ],
    responses: responsesOf(endpoint),
  }
}

/** Description of an endpoint: its problems, caching and cost. */
function describe(endpoint: Endpoint): string {
  const codes = problemsOf(endpoint).map((code) => `${PROBLEMS[code].status} \`${code}\``)
  const errors = [...codes, `${codes.length === 0 ? '' : 'and '}those of every endpoint`].join(', ')
  return `Errors: ${errors}. Caching: ${cachingOf(endpoint)}. Rate limit: ${costOf(endpoint)}.`
}

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
const PROBLEM_SCHEMA: JsonSchema = {
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
      description: 'With `range-too-long` of `/patterns`: longest range allowed',
      'x-unit': 'days',
    },
    maxContests: {
      type: 'integer',
      description: 'With `range-too-long` of `/waits`: most contests that may have closed in the range',
      'x-unit': 'contests',
    },
    from: {
      type: ['string', 'null'],
      description: 'With `range-too-long` of `/waits`: the earliest `from` that fits; null when none does',
    },
    errors: { type: 'array', description: 'Wrong parameters', items: fault },
  },
}

/** Responses of an endpoint, by status. */
function responsesOf(endpoint: Endpoint): JsonSchema {
  const { id, meaning } = endpoint
  const isMissable = problemsOf(endpoint).some((code) => PROBLEMS[code].status === 404)
  const found = { description: meaning, headers: headersOf(endpoint), content: contentOf(endpoint) }
  return {
    200: found,
    ...(id === 'archiveFile' ? { 206: partOf(found) } : {}),
    ...(endpoint.caching === 'never' ? {} : { 304: { $ref: '#/components/responses/NotModified' } }),
    // Every endpoint: one without parameters refuses any.
    400: PROBLEM_REF,
    ...(isMissable ? { 404: PROBLEM_REF } : {}),
    ...(endpoint.caching === 'never' ? {} : { 412: PROBLEM_REF }),
    ...(id === 'archiveFile' ? { 416: PROBLEM_REF } : {}),
    429: PROBLEM_REF,
    503: PROBLEM_REF,
    default: PROBLEM_REF,
  }
}

/** Response headers, by name. */
const HEADERS: Readonly<Record<string, JsonSchema>> = {
  'Daybook-Log': {
    required: true,
    description: 'Id of the log; a restored log has another one',
    schema: { type: 'string', pattern: '^[0-9a-f]{32}$' },
  },
  'Daybook-Request': {
    ...text('Id of the request; the line that the service logs for it has the same'),
    required: true,
  },
  'Daybook-Mirror': text('On a mirror, the address of the service that it follows; otherwise absent'),
  'Daybook-Simulated': text('`1` when the platform is simulated; otherwise absent'),
  'Cache-Control': {
    ...text('Whether the answer may be cached: for ever, with revalidation, or not at all'),
    required: true,
  },
  'RateLimit-Policy': text('The allowance: `"default";q=60;w=60`; absent from immutable answers'),
  RateLimit: text('Rest of the allowance, and the seconds until it grows'),
  ETag: text('Validator of the answer; send it back as `If-None-Match`'),
  'Daybook-Seq': whole(
    'Seq of the last event counted; absent from immutable answers below /events, /archive and /log',
  ),
  'Content-Disposition': text('Name of the file'),
  Link: text(
    '`rel="next"`: the next page, when there is one. `rel="license"`: the licence of the data, when there is one. `rel="describedby"`, on the archive: every file and column',
  ),
  'Daybook-Scanned-To': whole(
    'With `format=csv`: the page’s `scannedTo`; without `limit`, the end of the whole file: the head of that moment',
  ),
  'Daybook-Has-More': text(
    'With `format=csv`: the page’s `hasMore`; `false` for the whole file, without `limit`',
  ),
  'Accept-Ranges': text('`bytes` for a closed month, `none` for the open one'),
  'Repr-Digest': text('SHA-256 of the whole file of a closed month (RFC 9530)'),
  'Daybook-Archive-State': text('State of the month: `open` or `closed`'),
  'Daybook-Last-Seq': whole('Seq of the last event at the end of the file'),
  'Content-Range': text('Range of the bytes sent, and the size of the file'),
  'Retry-After': whole('Seconds to wait before the next request'),
  Allow: text('Allowed methods'),
}

function text(description: string): JsonSchema {
  return { description, schema: { type: 'string' } }
}

function whole(description: string): JsonSchema {
  return { description, schema: { type: 'integer', minimum: 0 } }
}

function headers(...names: readonly string[]): JsonSchema {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

const ALWAYS = [
  'Daybook-Log',
  'Daybook-Mirror',
  'Daybook-Simulated',
  'Cache-Control',
  'Link',
  'RateLimit-Policy',
  'RateLimit',
]
const PAGE = ['Daybook-Scanned-To', 'Daybook-Has-More', 'Content-Disposition']
const MONTH = [
  'Accept-Ranges',
  'Repr-Digest',
  'Daybook-Archive-State',
  'Daybook-Last-Seq',
  'Content-Disposition',
]

/** Cache policies of answers without `Daybook-Seq`, which never change, or only with the build. */
const WITHOUT_SEQ: ReadonlySet<Caching> = new Set<Caching>(['immutable', 'build', 'never'])

function headersOf({ id, caching }: Endpoint): JsonSchema {
  return headers(
    ...ALWAYS,
    ...(caching === 'never' ? [] : ['ETag']),
    ...(WITHOUT_SEQ.has(caching) ? [] : ['Daybook-Seq']),
    ...(id === 'events' ? PAGE : []),
    ...(isTableEndpoint(id) ? ['Content-Disposition'] : []),
    ...(id === 'archiveFile' ? MONTH : []),
    ...(id === 'logProof' ? ['Content-Disposition'] : []),
  )
}

function partOf(answer: Readonly<{ headers: JsonSchema }>): JsonSchema {
  return {
    description: 'The bytes requested by `Range`',
    headers: { ...answer.headers, ...headers('Content-Range') },
    content: { 'application/gzip': {}, 'application/vnd.apache.parquet': {} },
  }
}

/** Schema and examples of each media type of an endpoint. */
function contentOf(endpoint: Endpoint): JsonSchema {
  const schemas = Object.entries(schemasOf(endpoint))
  return Object.fromEntries(
    schemas.map(([type, media]) => [type, { ...media, ...examplesOf(endpoint.id, type) }]),
  )
}

function schemasOf(endpoint: Endpoint): Readonly<Record<string, JsonSchema>> {
  return SEVERAL_MEDIA[endpoint.id] ?? schemaOfAnswer(endpoint)
}

function schemaOfAnswer({
  id,
  answer,
  schema,
  format,
  meaning,
}: Endpoint): Readonly<Record<string, JsonSchema>> {
  if (schema !== undefined) {
    const json = { 'application/json': { schema: referTo(answer) } }
    return isTableEndpoint(id) ? { ...json, 'text/csv': { schema: csvSchema(id) } } : json
  }
  const isFile = answer.includes('/')
  if (!isFile) return { 'application/json': { schema: { type: 'object', description: meaning } } }
  if (format === undefined) return { [answer]: {} }
  return {
    [answer]: { schema: { type: answer.endsWith('json') ? 'object' : 'string', description: format } },
  }
}

function csvSchema(id: TableEndpoint): JsonSchema {
  const { row, divided } = tableTerms(id)
  const named = (columns: readonly string[]): string => columns.map((name) => `\`${name}\``).join(', ')
  const columns = named(TABLE_COLUMNS[id].map(({ name }) => name))
  const other =
    divided === undefined ? '' : `. With ${divided.by} a row is ${divided.row}: ${named(divided.columns)}`
  return {
    type: 'string',
    description: `RFC 4180, with \`format=csv\` or \`Accept: text/csv\`. A row is ${row}. Columns: ${columns}${other}`,
  }
}

// Schema of the parts of a stream. OpenAPI 3.2 has `itemSchema` for it; 3.1 has no equivalent.
const STREAM: Readonly<Record<keyof typeof STREAM_PARTS, JsonSchema>> = {
  'text/event-stream': {
    schema: {
      type: 'string',
      description:
        'Server-Sent Events. A message without a type is an event, with its seq as `id` and its line as `data`. ' +
        'A message of type `position`, `{"seq","head","live","at","atMs"}`, tells how far the log is scanned. It ' +
        'comes at the start, at the switch from history to live, after every 1,000 events scanned without a ' +
        'match, and after 15 s without a message. With `details=1` a message of type `details`, which has no `id`, ' +
        'comes just before its event. `Last-Event-ID` takes precedence over `lastEventId`, and both over `after`.',
    },
    'x-itemSchema': STREAM_PARTS['text/event-stream'],
  },
  'application/x-ndjson': {
    schema: {
      type: 'string',
      description:
        'JSON lines with the same content, where `Accept` prefers `application/x-ndjson`; a position is `{"position":{…}}`, ' +
        'and details are `{"seq":N,"details":{…}}`',
    },
    'x-itemSchema': STREAM_PARTS['application/x-ndjson'],
  },
}

const WHOLE_CSV =
  'RFC 4180, with `format=csv` or `Accept: text/csv`. Without `limit` it is whole: everything that matches, up to the ' +
  'head of that moment, in chunks. An incomplete answer has no last chunk. With `limit` it is a page. `details=1` adds a last column ' +
  '`details` with JSON.'

/** Endpoints that answer in several media types. */
const SEVERAL_MEDIA: Readonly<Partial<Record<EndpointId, Readonly<Record<string, JsonSchema>>>>> = {
  events: {
    'application/json': { schema: referTo('EventsPage') },
    'text/csv': { schema: { type: 'string', description: WHOLE_CSV } },
  },
  archiveFile: {
    'application/gzip': {},
    'application/vnd.apache.parquet': {},
    'application/json': { schema: referTo('ArchiveManifest') },
    'text/plain': { schema: { type: 'string', description: '`SHA256SUMS`, for `sha256sum -c`' } },
  },
  stream: STREAM,
}

const PROBLEM_TYPE = 'application/problem+json'
const PROBLEM_REF: JsonSchema = { $ref: '#/components/responses/Problem' }

/** Responses that operations refer to. */
const SHARED_RESPONSES: JsonSchema = {
  Problem: {
    description: 'A problem',
    headers: headers(...ALWAYS, 'Daybook-Request', 'Retry-After', 'Allow', 'Accept-Ranges', 'Content-Range'),
    content: {
      [PROBLEM_TYPE]: { schema: referTo('Problem'), ...examplesOf('problem', PROBLEM_TYPE) },
    },
  },
  NotModified: {
    description: 'The answer is unchanged since the one that `If-None-Match` names; it has the same headers',
    headers: headers(...ALWAYS, 'ETag', 'Daybook-Seq', ...PAGE, ...MONTH),
  },
}

/** Examples of one media type of an endpoint, for OpenAPI. */
function examplesOf(id: string, type: string): JsonSchema {
  const found = EXAMPLES.filter((example) => example.of === id && example.type === type)
  if (found.length === 0) return {}
  const named = found.map(({ request, value }, index) => [
    index === 0 ? 'sample' : `sample-${index + 1}`,
    { summary: `GET ${request}`, value },
  ])
  return { examples: Object.fromEntries(named) }
}
