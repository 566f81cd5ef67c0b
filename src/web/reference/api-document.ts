import { type Endpoint as Row, endpointOf } from '../../protocol/endpoints/endpoints.ts'
import type { EndpointId } from '../../protocol/paths.ts'
import { LIST_NOTE } from '../../serve/describe/openapi-parameters.ts'
import { SECOND_MS } from '../../protocol/moment.ts'
import { ALLOWANCE_REQUESTS, ALLOWANCE_WINDOW_MS } from '../../protocol/parameters.ts'
import { type ProblemCode, PROBLEMS } from '../../protocol/problem.ts'
import {
  cachingOf,
  COMMON_PROBLEMS,
  costOf,
  problemsOf,
  PUBLIC_PROBLEMS,
} from '../../serve/describe/endpoint-problems.ts'
import { askEndpoint } from '../frame/linked-answers.ts'
import type { LinkedAnswer, View } from '../frame/page.ts'
import { prose } from '../markup/prose.ts'
import { type Html, html } from '../markup/html.ts'

/** Parts of the OpenAPI document that the reference shows. */
export type ApiDocument = Readonly<{
  info: Readonly<{ version: string }>
  tags: readonly Readonly<{ name: string; description: string }>[]
  paths: Readonly<Record<string, Readonly<{ get: Operation }>>>
  components: Readonly<{ schemas: Readonly<Record<string, ValueSchema>> }>
}>

/** Endpoint in the document. */
export type Operation = Readonly<{
  operationId: EndpointId
  tags: readonly string[]
  summary: string
  description: string
  parameters: readonly ApiParameter[]
  responses: Readonly<Record<string, ApiResponse>>
}>

/** Endpoint with its path. */
export type DocumentedEndpoint = Operation & Readonly<{ path: string }>

export type ApiParameter = Readonly<{
  name: string
  in: 'query' | 'path' | 'header'
  description: string
  schema: ValueSchema
  example?: string | number | readonly string[]
}>

export type ValueSchema = Readonly<{
  $ref?: string
  type?: string | readonly string[]
  description?: string
  const?: string
  enum?: readonly string[]
  pattern?: string
  contentEncoding?: string
  minimum?: number
  maximum?: number
  maxLength?: number
  oneOf?: readonly ValueSchema[]
  anyOf?: readonly ValueSchema[]
  items?: ValueSchema
  properties?: Readonly<Record<string, ValueSchema>>
  required?: readonly string[]
  additionalProperties?: ValueSchema
  'x-unit'?: string
}>

/** One media type of an answer. */
type Media = Readonly<{
  schema?: ValueSchema
  /** Schema of the parts of a stream. */
  'x-itemSchema'?: unknown
  examples?: Readonly<Record<string, ApiExample>>
}>

type ApiResponse = Readonly<{ content?: Readonly<Record<string, Media>> }>

/** Captured answer. `summary` is its request, `GET /api/v1/…`. */
type ApiExample = Readonly<{ summary: string; value: unknown }>

/** The OpenAPI document of this service. */
export async function askDocument(asking: Pick<View, 'ask'>): Promise<LinkedAnswer<ApiDocument>> {
  const { address, answer } = await askEndpoint(asking, 'openapi')
  return { address, answer: Object(answer) }
}

export function endpointsOf({ paths }: ApiDocument): readonly DocumentedEndpoint[] {
  return Object.entries(paths).map(([path, { get }]) => ({ path, ...get }))
}

/** Row of an operation in the table of endpoints. */
export function rowOf({ operationId }: Operation): Row {
  return endpointOf(operationId)
}

/** Table whose cells are Markdown, the same on the page and in the Markdown of the reference. */
export type DocumentTable = Readonly<{ head: readonly string[]; rows: readonly (readonly string[])[] }>

/** The parameters of an endpoint. */
export function parameterTable({ parameters }: Operation): DocumentTable {
  const rows = parameters.map((parameter) => {
    const { name, in: place, schema, description } = parameter
    // The document has the meaning and the default in one text.
    const [meaning = '', absent] = description
      .replace(LIST_NOTE, '')
      .replace(/\.$/, '')
      .split('. When absent: ')
    return [
      `\`${name}\`${place === 'query' ? '' : ` (${place})`}`,
      formOf(schema),
      absent ?? (place === 'path' ? 'none: it is needed' : 'not sent'),
      valueBoundsOf(schema),
      `\`${exampleIn(parameter)}\``,
      meaning,
    ]
  })
  return { head: ['Parameter', 'Type', 'Default', 'Bounds', 'Example', 'Meaning'], rows }
}

/** Form of a parameter's values in words. */
function formOf({ type, enum: values, oneOf, items }: ValueSchema): string {
  if (oneOf !== undefined) return linkTo('moment')
  if (values !== undefined) return values.length === 1 ? `only ${values.join()}` : 'one word'
  if (items?.enum !== undefined) return 'words, with commas'
  return type === 'integer' ? 'whole number' : 'text'
}

/** Bounds or choices of a value in words; a dash without any. */
function valueBoundsOf({ enum: values, items, minimum, maximum, maxLength }: ValueSchema): string {
  const words = values ?? items?.enum
  if (words !== undefined) return words.length === 1 ? '–' : words.join(', ')
  if (maxLength !== undefined) return `${maxLength} characters`
  if (minimum === undefined || maximum === undefined) return '–'
  return maximum === Number.MAX_SAFE_INTEGER ? `from ${minimum}` : `${minimum} to ${maximum}`
}

/** Element id of a part that several answers share, and a link to it. */
export const anchorOf = (name: string): string => `of-${name}`
export const linkTo = (name: string): string => `[${name}](#${anchorOf(name)})`

/** Example of a parameter as written in a URL. */
export function exampleIn({ example = '' }: ApiParameter): string {
  return typeof example === 'object' ? example.join(',') : String(example)
}

/** Answers of an endpoint by media type. */
export function mediaOf({ responses }: Operation): readonly (readonly [type: string, media: Media])[] {
  return Object.entries(responses['200']?.content ?? {})
}

/** First example of an endpoint's answer, with its media type. */
export function exampleOf(operation: Operation): (ApiExample & Readonly<{ type: string }>) | undefined {
  return mediaOf(operation).flatMap(([type, { examples = {} }]) =>
    Object.values(examples).map((example) => ({ ...example, type })),
  )[0]
}

/** Path of an example request. Without an example answer, the path is made from the examples of its parameters. */
export function requestOf(endpoint: DocumentedEndpoint): string {
  const example = exampleOf(endpoint)
  if (example !== undefined) return example.summary.replace(/^GET /, '')
  return endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    String(endpoint.parameters.find((one) => one.name === name)?.example ?? ''),
  )
}

/** Terms of an endpoint: its problems, caching and cost. */
export function endpointTerms(endpoint: DocumentedEndpoint): Html {
  const row = rowOf(endpoint)
  const codes = problemsOf(row)
  return html`<p class="quiet">
    Errors:
    ${codes.length === 0 ? null : html`${codes.map((code) => html`${PROBLEMS[code].status} <code>${code}</code>, `)}and`}
    <a href="#problems">those of every endpoint</a>. <a href="#kept">Caching</a>: ${prose(cachingOf(row))}.
    <a href="#kept">Rate limit</a>: ${costOf(row)}.
  </p>`
}

/** Paragraphs about caching and the rate limit, as Markdown. */
export const CACHING_AND_COSTS: readonly string[] = [
  'Answers that never change are `public, max-age=31536000, immutable`. Others are ' +
    '`public, max-age=0, must-revalidate`: send their `ETag` back as `If-None-Match`, and you get 304 without a ' +
    'body while nothing has changed. Errors and streams are `no-store`.',
  `Each address has ${ALLOWANCE_REQUESTS} requests in any ${ALLOWANCE_WINDOW_MS / SECOND_MS} seconds, unless the ` +
    'operator says otherwise: `RateLimit-Policy` has the allowance of this service. Refused requests and 304 count ' +
    'too. `RateLimit: "default";r=59;t=1` on an answer says that 59 are left, and that one more comes in a second. ' +
    'When none is left, the answer is 429, and `Retry-After` says how many seconds to wait.',
]

/** Paragraph about problems in general, as Markdown. */
export const PROBLEMS_INTRODUCTION: string =
  'An error is `application/problem+json` (RFC 9457), is never cached, and repeats no value that was sent. ' +
  `Programs use its \`code\`. Every endpoint may answer: ${COMMON_PROBLEMS.map((code) => `\`${code}\``).join(', ')}.`

/** Problems of the public API. `named` writes each code in the format of the document. */
export function problemTable(named: (code: ProblemCode) => string): DocumentTable {
  const rows = PUBLIC_PROBLEMS.map((code) => [
    named(code),
    String(PROBLEMS[code].status),
    PROBLEMS[code].title,
  ])
  return { head: ['Code', 'Status', 'What is wrong'], rows }
}
