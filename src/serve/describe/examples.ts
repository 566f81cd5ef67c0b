import type { JsonSchema } from '../../protocol/schema.ts'
import captured from './examples.json' with { type: 'json' }

/** A captured answer about the sample log. A test compares it with a new one. */
export type Example = Readonly<{
  /** Id of the endpoint, or `problem`. */
  of: string
  request: string
  /** Media type, without parameters. */
  type: string
  value: unknown
}>

export const EXAMPLES: readonly Example[] = captured

/** Examples of one media type of an endpoint, for OpenAPI. */
export function examplesOf(id: string, type: string): JsonSchema {
  const found = EXAMPLES.filter((example) => example.of === id && example.type === type)
  if (found.length === 0) return {}
  const named = found.map(({ request, value }, index) => [
    index === 0 ? 'sample' : `sample-${index + 1}`,
    { summary: `GET ${request}`, value },
  ])
  return { examples: Object.fromEntries(named) }
}
