import type { Endpoint as Row } from '../../protocol/endpoints/endpoint.ts'
import { endpointOf } from '../../protocol/endpoints/endpoints.ts'
import type { EndpointId } from '../../protocol/paths.ts'

/** What the reference shows of the OpenAPI document. */
export type ApiDocument = Readonly<{
  info: Readonly<{ version: string }>
  tags: readonly Readonly<{ name: string; description: string }>[]
  paths: Readonly<Record<string, Readonly<{ get: Operation }>>>
  components: Readonly<{ schemas: Readonly<Record<string, ValueSchema>> }>
}>

/** An endpoint as the document has it. */
export type Operation = Readonly<{
  operationId: EndpointId
  tags: readonly string[]
  summary: string
  description: string
  parameters: readonly ApiParameter[]
  responses: Readonly<Record<string, ApiResponse>>
}>

/** An endpoint with the path that the document has it under. */
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
export type Media = Readonly<{
  schema?: ValueSchema
  /** Of a stream: what its parts are. */
  'x-itemSchema'?: unknown
  examples?: Readonly<Record<string, ApiExample>>
}>

type ApiResponse = Readonly<{ content?: Readonly<Record<string, Media>> }>

/** An answer as it came: `summary` is its request, `GET /api/v1/…`. */
export type ApiExample = Readonly<{ summary: string; value: unknown }>

export function endpointsOf({ paths }: ApiDocument): readonly DocumentedEndpoint[] {
  return Object.entries(paths).map(([path, { get }]) => ({ path, ...get }))
}

/** The row of the table of endpoints that the document has it from. */
export function rowOf({ operationId }: Operation): Row {
  return endpointOf(operationId)
}

/** How the value of a parameter is written. */
export function formOf({ type, enum: values, oneOf, items }: ValueSchema): string {
  if (oneOf !== undefined) return 'moment'
  if (values !== undefined) return values.length === 1 ? `only ${values.join()}` : 'one word'
  if (items?.enum !== undefined) return 'words, with commas'
  return type === 'integer' ? 'whole number' : 'text'
}

/** What a value may be at least and at most, or which words there are; null where any will do. */
export function valueBoundsOf({
  enum: values,
  items,
  minimum,
  maximum,
  maxLength,
}: ValueSchema): string | null {
  const words = values ?? items?.enum
  if (words !== undefined) return words.length === 1 ? null : words.join(', ')
  if (maxLength !== undefined) return `${maxLength} characters`
  if (minimum === undefined || maximum === undefined) return null
  return maximum === Number.MAX_SAFE_INTEGER ? `from ${minimum}` : `${minimum} to ${maximum}`
}

/** A parameter's meaning, and what holds when it is absent: the document has both in one sentence. */
export function meaningOf({ description, in: place }: ApiParameter): readonly [string, string] {
  const [meaning = '', absent] = description.replace(/\.$/, '').split('. When absent: ')
  return [meaning, absent ?? (place === 'path' ? 'none: it is needed' : 'not sent')]
}

/** The example of a parameter as it is written in an address. */
export function exampleIn({ example = '' }: ApiParameter): string {
  return typeof example === 'object' ? example.join(',') : String(example)
}

/** What an endpoint answers, by media type. */
export function mediaOf({ responses }: Operation): readonly (readonly [type: string, media: Media])[] {
  return Object.entries(responses['200']?.content ?? {})
}

/** The first example of an endpoint's answer, with its media type. */
export function exampleOf(operation: Operation): (ApiExample & Readonly<{ type: string }>) | undefined {
  return mediaOf(operation).flatMap(([type, { examples = {} }]) =>
    Object.values(examples).map((example) => ({ ...example, type })),
  )[0]
}

/** The request of an endpoint's example; of an endpoint that has none its path, with the examples of its parts. */
export function requestOf(endpoint: DocumentedEndpoint): string {
  const example = exampleOf(endpoint)
  if (example !== undefined) return example.summary.replace(/^GET /, '')
  return endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    String(endpoint.parameters.find((one) => one.name === name)?.example ?? ''),
  )
}
