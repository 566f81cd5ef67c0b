/** What the reference shows of the OpenAPI document. */
export type ApiDocument = Readonly<{
  info: Readonly<{ version: string }>
  tags: readonly Readonly<{ name: string; description: string }>[]
  paths: Readonly<Record<string, Readonly<{ get: Operation }>>>
}>

/** An endpoint as the document has it. */
export type Operation = Readonly<{
  operationId: string
  tags: readonly string[]
  summary: string
  parameters: readonly ApiParameter[]
  responses: Readonly<Record<string, ApiResponse>>
}>

export type ApiParameter = Readonly<{
  name: string
  in: 'query' | 'path' | 'header'
  description: string
  schema: ValueSchema
  example?: string | number | readonly string[]
}>

export type ValueSchema = Readonly<{
  type?: string
  enum?: readonly string[]
  minimum?: number
  maximum?: number
  maxLength?: number
  oneOf?: readonly unknown[]
  items?: Readonly<{ enum?: readonly string[] }>
}>

type ApiResponse = Readonly<{
  content?: Readonly<Record<string, Readonly<{ examples?: Readonly<Record<string, ApiExample>> }>>>
}>

/** An answer as it came: `summary` is its request, `GET /api/v1/…`. */
export type ApiExample = Readonly<{ summary: string; value: unknown }>

/** The values that a parameter may have, in words. */
export function formOf({ type, enum: values, minimum, maximum, oneOf, items }: ValueSchema): string {
  if (oneOf !== undefined) return 'moment in UTC, or milliseconds since 1970'
  if (values !== undefined) return `one of ${values.join(', ')}`
  if (items?.enum !== undefined) return `list, with commas, of ${items.enum.join(', ')}`
  if (type !== 'integer' || minimum === undefined || maximum === undefined) return 'text'
  return maximum === Number.MAX_SAFE_INTEGER
    ? `whole number from ${minimum} on`
    : `whole number, ${minimum} to ${maximum}`
}

/** The first example of an endpoint's answer, with its media type. */
export function exampleOf({ responses }: Operation): (ApiExample & Readonly<{ type: string }>) | undefined {
  return Object.entries(responses['200']?.content ?? {}).flatMap(([type, { examples = {} }]) =>
    Object.values(examples).map((example) => ({ ...example, type })),
  )[0]
}

/** The request of an endpoint's example; of an endpoint that has none its path, with the examples of its parts. */
export function requestOf(path: string, operation: Operation): string {
  const example = exampleOf(operation)
  if (example !== undefined) return example.summary.replace(/^GET /, '')
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    String(operation.parameters.find((one) => one.name === name)?.example ?? ''),
  )
}
