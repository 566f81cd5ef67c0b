import type { Endpoint } from '../../protocol/endpoint.ts'
import type { JsonSchema } from '../../protocol/schema.ts'
import { RESOURCE_SCHEMAS } from './resource-schemas.ts'

/** What an endpoint may answer, by status: media types, headers, and the problems. */
export function responsesOf(endpoint: Endpoint): JsonSchema {
  const { id, path, meaning } = endpoint
  const keyed = path.includes('{')
  const whole = { description: meaning, headers: headersOf(endpoint), content: contentOf(endpoint) }
  return {
    200: whole,
    ...(id === 'archiveFile' ? { 206: partOf(whole) } : {}),
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

/** The RFC 9457 document of every refusal. */
export const PROBLEM_SCHEMA: JsonSchema = {
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

const text = (description: string): JsonSchema => ({ description, schema: { type: 'string' } })
const whole = (description: string): JsonSchema => ({ description, schema: { type: 'integer' } })

const ALWAYS: JsonSchema = {
  'Daybook-Log': text('Identifies the log: another one, or a restored one, has another'),
  'Daybook-Simulated': text('`1` where the platform is simulated; absent elsewhere'),
  'Cache-Control': text('Whether the answer may be kept: for ever, until asked again, or not at all'),
  'RateLimit-Policy': text('The allowance: `"default";q=60;w=60`; absent from what never changes'),
  RateLimit: text('What is left of it, and the seconds until it grows'),
}
const ETAG: JsonSchema = { ETag: text('Send it back as `If-None-Match`') }
const SEQ: JsonSchema = {
  'Daybook-Seq': whole(
    'The last event counted; absent from what never changes under /events, /archive and /log',
  ),
}
const ATTACHMENT: JsonSchema = { 'Content-Disposition': text('Names the file') }

const PAGE: JsonSchema = {
  Link: text('`rel="next"`: the next page, as long as there is one'),
  'Daybook-Scanned-To': whole('With `format=csv`: the page’s `scannedTo`'),
  'Daybook-Has-More': text('With `format=csv`: the page’s `hasMore`'),
  ...ATTACHMENT,
}

const MONTH: JsonSchema = {
  'Accept-Ranges': text('`bytes` of a closed month, `none` of the open one'),
  'Repr-Digest': text('SHA-256 of the whole file of a closed month (RFC 9530)'),
  'Daybook-Archive-State': text('`open` or `closed`'),
  'Daybook-Last-Seq': whole('Seq of the last event up to the file’s end'),
  ...ATTACHMENT,
}

/** Endpoints whose answers never change within a build, or for ever, and count no events. */
const WITHOUT_SEQ: ReadonlySet<string> = new Set([
  'event',
  'eventDetails',
  'openapi',
  'stream',
  'logTile',
  'logEntries',
])

function headersOf({ id, caching }: Endpoint): JsonSchema {
  return {
    ...ALWAYS,
    ...(caching === 'never' ? {} : ETAG),
    ...(WITHOUT_SEQ.has(id) ? {} : SEQ),
    ...(id === 'events' ? PAGE : {}),
    ...(id === 'archiveFile' ? MONTH : {}),
    ...(id === 'logProof' ? ATTACHMENT : {}),
  }
}

function partOf(answer: Readonly<{ headers: JsonSchema }>): JsonSchema {
  const headers = { ...answer.headers, 'Content-Range': text('Which bytes of how many') }
  return { description: 'The part asked for by `Range`', headers, content: { 'application/gzip': {} } }
}

function contentOf(endpoint: Endpoint): JsonSchema {
  switch (endpoint.id) {
    case 'events':
      return {
        'application/json': referTo('EventsPage'),
        'text/csv': { schema: { type: 'string', description: 'RFC 4180, with `format=csv`' } },
      }
    case 'archiveFile':
      return {
        'application/gzip': {},
        'application/json': referTo('ArchiveManifest'),
        'text/plain': { schema: { type: 'string', description: '`SHA256SUMS`, as `sha256sum -c` reads it' } },
      }
    case 'stream':
      return STREAM
    case 'openapi':
      return { 'application/json': { schema: { type: 'object' } } }
    default:
      return RESOURCE_SCHEMAS[endpoint.answer] === undefined
        ? { [endpoint.answer]: {} }
        : { 'application/json': referTo(endpoint.answer) }
  }
}

function referTo(name: string): JsonSchema {
  return { schema: { $ref: `#/components/schemas/${name}` } }
}

const STREAM: JsonSchema = {
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

const PROBLEM_REF: JsonSchema = { $ref: '#/components/responses/Problem' }

/** The responses that operations refer to. */
export const SHARED_RESPONSES: JsonSchema = {
  Problem: {
    description: 'What is wrong',
    headers: { ...ALWAYS, 'Retry-After': whole('Seconds, with `rate-limited`, 503 and the like') },
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  },
  NotModified: {
    description: 'The answer named by `If-None-Match` still holds',
    headers: { ...ALWAYS, ...ETAG },
  },
}
