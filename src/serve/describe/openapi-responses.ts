import type { Caching, Endpoint } from '../../protocol/endpoints/endpoint.ts'
import type { EndpointId } from '../../protocol/paths.ts'
import type { JsonSchema } from '../../protocol/schema.ts'
import { examplesOf } from './examples.ts'
import { resourceSchema } from './resource-schemas.ts'
import { referTo } from './schema-reference.ts'
import { STREAM_PARTS } from './stream-schemas.ts'

/** What an endpoint may answer, by status: media types, headers, and the problems. */
export function responsesOf(endpoint: Endpoint): JsonSchema {
  const { id, path, meaning } = endpoint
  const keyed = path.includes('{')
  const found = { description: meaning, headers: headersOf(endpoint), content: contentOf(endpoint) }
  return {
    200: found,
    ...(id === 'archiveFile' ? { 206: partOf(found) } : {}),
    ...(endpoint.caching === 'never' ? {} : { 304: { $ref: '#/components/responses/NotModified' } }),
    // Everywhere: an address without parameters refuses each.
    400: PROBLEM_REF,
    ...(keyed ? { 404: PROBLEM_REF } : {}),
    ...(id === 'archiveFile' ? { 416: PROBLEM_REF } : {}),
    429: PROBLEM_REF,
    503: PROBLEM_REF,
    default: PROBLEM_REF,
  }
}

/** What each header of an answer says, by name. */
export const HEADERS: Readonly<Record<string, JsonSchema>> = {
  'Daybook-Log': {
    required: true,
    description: 'Identifies the log: another one, or a restored one, has another',
    schema: { type: 'string', pattern: '^[0-9a-f]{32}$' },
  },
  'Daybook-Simulated': text('`1` where the platform is simulated; absent elsewhere'),
  'Cache-Control': {
    ...text('Whether the answer may be kept: for ever, until asked again, or not at all'),
    required: true,
  },
  'RateLimit-Policy': text('The allowance: `"default";q=60;w=60`; absent from what never changes'),
  RateLimit: text('What is left of it, and the seconds until it grows'),
  ETag: text('Send it back as `If-None-Match`'),
  'Daybook-Seq': whole(
    'The last event counted; absent from what never changes under /events, /archive and /log',
  ),
  'Content-Disposition': text('Names the file'),
  Link: text('`rel="next"`: the next page, as long as there is one'),
  'Daybook-Scanned-To': whole('With `format=csv`: the page’s `scannedTo`'),
  'Daybook-Has-More': text('With `format=csv`: the page’s `hasMore`'),
  'Accept-Ranges': text('`bytes` of a closed month, `none` of the open one'),
  'Repr-Digest': text('SHA-256 of the whole file of a closed month (RFC 9530)'),
  'Daybook-Archive-State': text('`open` or `closed`'),
  'Daybook-Last-Seq': whole('Seq of the last event up to the file’s end'),
  'Content-Range': text('Which bytes of how many'),
  'Retry-After': whole('Seconds after which to ask again'),
  Allow: text('The methods that are answered'),
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

const ALWAYS = ['Daybook-Log', 'Daybook-Simulated', 'Cache-Control', 'RateLimit-Policy', 'RateLimit']
const PAGE = ['Link', 'Daybook-Scanned-To', 'Daybook-Has-More', 'Content-Disposition']
const MONTH = [
  'Accept-Ranges',
  'Repr-Digest',
  'Daybook-Archive-State',
  'Daybook-Last-Seq',
  'Content-Disposition',
]

/** How answers are kept that count no events: they never change, or with the program alone. */
const WITHOUT_SEQ: ReadonlySet<Caching> = new Set<Caching>(['immutable', 'build', 'never'])

function headersOf({ id, caching }: Endpoint): JsonSchema {
  return headers(
    ...ALWAYS,
    ...(caching === 'never' ? [] : ['ETag']),
    ...(WITHOUT_SEQ.has(caching) ? [] : ['Daybook-Seq']),
    ...(id === 'events' ? PAGE : []),
    ...(id === 'archiveFile' ? MONTH : []),
    ...(id === 'logProof' ? ['Content-Disposition'] : []),
  )
}

function partOf(answer: Readonly<{ headers: JsonSchema }>): JsonSchema {
  return {
    description: 'The part asked for by `Range`',
    headers: { ...answer.headers, ...headers('Content-Range') },
    content: { 'application/gzip': {} },
  }
}

/** What each media type of an endpoint's answers holds. */
function contentOf(endpoint: Endpoint): JsonSchema {
  const schemas = Object.entries(schemasOf(endpoint))
  return Object.fromEntries(
    schemas.map(([type, media]) => [type, { ...media, ...examplesOf(endpoint.id, type) }]),
  )
}

function schemasOf(endpoint: Endpoint): Readonly<Record<string, JsonSchema>> {
  return SEVERAL_MEDIA[endpoint.id] ?? schemaOfAnswer(endpoint)
}

function schemaOfAnswer({ answer, format, meaning }: Endpoint): Readonly<Record<string, JsonSchema>> {
  if (resourceSchema(answer) !== undefined) return { 'application/json': { schema: referTo(answer) } }
  const isFile = answer.includes('/')
  if (!isFile) return { 'application/json': { schema: { type: 'object', description: meaning } } }
  if (format === undefined) return { [answer]: {} }
  return {
    [answer]: { schema: { type: answer.endsWith('json') ? 'object' : 'string', description: format } },
  }
}

// OpenAPI 3.2 calls the schema of a stream's parts `itemSchema`; 3.1 has no word for it.
const STREAM: Readonly<Record<keyof typeof STREAM_PARTS, JsonSchema>> = {
  'text/event-stream': {
    schema: {
      type: 'string',
      description:
        'Server-Sent Events. A message without a type has an event’s seq as its `id` and the event as its ' +
        '`data`. A message of type `position` says how far the log has been scanned: ' +
        '`{"seq","head","live","at","atMs"}`; it comes at once, at the switch from history to live, after ' +
        'every 1,000 events scanned without a match, and after 15 s of silence. `Last-Event-ID` beats `after`.',
    },
    'x-itemSchema': STREAM_PARTS['text/event-stream'],
  },
  'application/x-ndjson': {
    schema: {
      type: 'string',
      description:
        'The same as JSON lines, for `Accept: application/x-ndjson`; a position is `{"position":{…}}`',
    },
    'x-itemSchema': STREAM_PARTS['application/x-ndjson'],
  },
}

/** Endpoints that answer in several media types. */
const SEVERAL_MEDIA: Readonly<Partial<Record<EndpointId, Readonly<Record<string, JsonSchema>>>>> = {
  events: {
    'application/json': { schema: referTo('EventsPage') },
    'text/csv': { schema: { type: 'string', description: 'RFC 4180, with `format=csv`' } },
  },
  archiveFile: {
    'application/gzip': {},
    'application/json': { schema: referTo('ArchiveManifest') },
    'text/plain': { schema: { type: 'string', description: '`SHA256SUMS`, as `sha256sum -c` reads it' } },
  },
  stream: STREAM,
}

const PROBLEM_TYPE = 'application/problem+json'
const PROBLEM_REF: JsonSchema = { $ref: '#/components/responses/Problem' }

/** The responses that operations refer to. */
export const SHARED_RESPONSES: JsonSchema = {
  Problem: {
    description: 'What is wrong',
    headers: headers(...ALWAYS, 'Retry-After', 'Allow', 'Accept-Ranges', 'Content-Range'),
    content: {
      [PROBLEM_TYPE]: { schema: referTo('Problem'), ...examplesOf('problem', PROBLEM_TYPE) },
    },
  },
  NotModified: {
    description: 'The answer named by `If-None-Match` still holds; with the headers of that answer',
    headers: headers(...ALWAYS, 'ETag', 'Daybook-Seq', ...PAGE, ...MONTH),
  },
}
