import type { JsonSchema } from '../../protocol/schema.ts'
import captured from './examples.json' with { type: 'json' }

/** An answer of the sample as it came: a test asks again for each and holds it to what is here. */
export type Example = Readonly<{
  /** The endpoint's id, or `problem`. */
  of: string
  request: string
  /** Its media type, without parameters. */
  type: string
  value: unknown
}>

export const EXAMPLES: readonly Example[] = captured

/** The examples of one media type of an endpoint, as OpenAPI writes them. */
export function examplesOf(id: string, type: string): JsonSchema {
  const found = EXAMPLES.filter((example) => example.of === id && example.type === type)
  if (found.length === 0) return {}
  const named = found.map(({ request, value }, index) => [
    index === 0 ? 'sample' : `sample-${index + 1}`,
    { summary: `GET ${request}`, value },
  ])
  return { examples: Object.fromEntries(named) }
}
