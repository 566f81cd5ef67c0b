import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import type { ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { openapi } from '../../src/serve/describe/openapi.ts'

type Json = Readonly<Record<string, unknown>>
type Part = Readonly<{ schema?: Json; 'x-itemSchema'?: Json }>
type Header = Readonly<{ schema: Json; required?: boolean }>
type Described = Readonly<{
  headers?: Readonly<Record<string, unknown>>
  content?: Readonly<Record<string, Part>>
}>
type Document = Readonly<{
  paths: Readonly<
    Record<string, Readonly<{ get: Readonly<{ responses: Record<string, Described & { $ref?: string }> }> }>>
  >
  components: Readonly<{
    headers: Readonly<Record<string, Header>>
    responses: Readonly<Record<string, Described>>
  }>
}>

/** An answer of the API, from any client of the tests. */
export type DescribedAnswer = Readonly<{
  method: string
  /** Path and query. */
  target: string
  status: number
  headers: Headers
  /** Body of an answer in JSON. */
  text?: string
}>

/** Headers that an answer may have only when the OpenAPI document describes them. */
const DESCRIBED_HEADERS =
  /^(?:daybook-.*|ratelimit.*|etag|link|retry-after|accept-ranges|content-range|content-disposition|repr-digest|allow)$/
const JSON_BODY = /^application\/(?:[a-z]+\+)?json$/
const ITSELF = 'https://daybook.test/openapi.json'

/** The document with extra fields forbidden. The published one allows them, because v1 may add fields. */
function withoutExtraFields(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutExtraFields)
  if (Object(part) !== part) return part
  const entries = Object.entries(Object(part)).map(([key, value]) =>
    key === 'examples' || key === 'example' ? [key, value] : [key, withoutExtraFields(value)],
  )
  const isObject = entries.some(([key]) => key === 'properties')
  return Object.fromEntries(isObject ? [['additionalProperties', false], ...entries] : entries)
}

const document = JSON.parse(JSON.stringify(openapi({ version: '0.0.0', licence: null }))) as Document
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
ajv.addSchema({ $id: ITSELF, ...Object(withoutExtraFields(document)) })
const compiled = new Map<string, ValidateFunction>()

/** Asserts that a value fits the schema at a place of the document. */
function assertFits(value: unknown, place: readonly string[], of: string): void {
  const pointer = place.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
  let validate = compiled.get(pointer)
  if (validate === undefined) {
    validate = ajv.compile({ $ref: `${ITSELF}#/${encodeURI(pointer)}` })
    compiled.set(pointer, validate)
  }
  assert.ok(validate(value), `${of} is not as described: ${ajv.errorsText(validate.errors)}`)
}

/** Path templates, the most specific first: `/tile/entries/…` before `/tile/{level}/…`. */
const TEMPLATES = Object.keys(document.paths)
  .toSorted((a, b) => a.split('{').length - b.split('{').length)
  .map((template) => {
    // `{tile}` may have several segments, which OpenAPI cannot express.
    const pattern = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'tile' ? '.+' : '[^/]+'))
    return { template, form: new RegExp(`^${pattern.replaceAll('.json', '\\.json')}$`, 'u') }
  })

const problemPlace = ['components', 'responses', 'Problem']

/** Description of an answer with this status at this path. Undescribed paths answer only problems. */
function describedAt(path: string, status: number): Readonly<{ place: readonly string[]; is: Described }> {
  const template = TEMPLATES.find(({ form }) => form.test(path))?.template
  const responses = template === undefined ? undefined : document.paths[template]?.get.responses
  const key = responses?.[status] === undefined ? 'default' : String(status)
  const found = responses?.[key]
  if (template === undefined || found === undefined) {
    assert.ok(status >= 400, `${status} for ${path}, which is not described`)
    return { place: problemPlace, is: document.components.responses['Problem'] ?? {} }
  }
  const name = found.$ref?.replace('#/components/responses/', '')
  if (name === undefined) return { place: ['paths', template, 'get', 'responses', key], is: found }
  return { place: ['components', 'responses', name], is: document.components.responses[name] ?? {} }
}

/** Asserts that an answer of the API fits the OpenAPI document: its status, headers, and JSON body. */
export function assertDescribed({ method, target, status, headers, text }: DescribedAnswer): void {
  const path = target.split('?', 1)[0] ?? ''
  if (!path.startsWith('/api/v1/') || method === 'OPTIONS') return
  const what = `${method} ${path}: ${status}`
  const { place, is } = describedAt(path, status)
  assertHeadersDescribed(headers, is, what)
  const type = headers.get('content-type')?.split(';', 1)[0]
  if (type === undefined) {
    assert.ok(is.content === undefined, `${what} has a media type`)
    return
  }
  assert.ok(is.content?.[type] !== undefined, `${what} is described as ${type}`)
  if (method === 'HEAD' || text === undefined || !JSON_BODY.test(type)) return
  assertFits(JSON.parse(text), [...place, 'content', type, 'schema'], what)
}

function assertHeadersDescribed(
  headers: Headers,
  { headers: described = {} }: Described,
  what: string,
): void {
  const names = new Map(Object.keys(described).map((name) => [name.toLowerCase(), name]))
  for (const [lower, value] of headers) {
    const name = names.get(lower)
    if (name === undefined) {
      assert.ok(!DESCRIBED_HEADERS.test(lower), `the header ${lower} of ${what} is described`)
      continue
    }
    const isNumber = document.components.headers[name]?.schema['type'] === 'integer'
    assertFits(
      isNumber ? Number(value) : value,
      ['components', 'headers', name, 'schema'],
      `${name} of ${what}`,
    )
  }
  for (const [name, lower] of [...names].map(([key, each]) => [each, key] as const)) {
    const isRequired = document.components.headers[name]?.required === true
    assert.ok(!isRequired || headers.has(lower), `${what} has the header ${name}`)
  }
}

/** Asserts that a message or JSON line of a stream fits the OpenAPI document. */
export function assertStreamPartDescribed(message: Readonly<Record<string, string>>): void {
  const place = ['paths', '/api/v1/stream', 'get', 'responses', '200', 'content']
  const isLine = Object.keys(message).join('') === 'data'
  const type = isLine ? 'application/x-ndjson' : 'text/event-stream'
  const { data } = message
  assertFits(
    isLine ? JSON.parse(data ?? '') : message,
    [...place, type, 'x-itemSchema'],
    'a part of the stream',
  )
  if (isLine || data === undefined) return
  const name = { position: 'Position', details: 'EventDetails' }[message['event'] ?? ''] ?? 'Event'
  assertFits(JSON.parse(data), ['components', 'schemas', name], 'the data of a message')
}

/** `fetch` that asserts that the response fits the OpenAPI document. */
export async function fetchDescribed(url: string | URL, init: RequestInit = {}): Promise<Response> {
  // A test may compute for longer than the keep-alive time. This lets it notice that its connection has ended.
  await setImmediate()
  const response = await fetch(url, init)
  const { pathname, search } = new URL(url)
  const { status, headers } = response
  const isJson = JSON_BODY.test(headers.get('content-type')?.split(';', 1)[0] ?? '')
  const text = isJson ? await response.clone().text() : undefined
  assertDescribed({
    method: init.method ?? 'GET',
    target: `${pathname}${search}`,
    status,
    headers,
    ...(text === undefined ? {} : { text }),
  })
  return response
}
