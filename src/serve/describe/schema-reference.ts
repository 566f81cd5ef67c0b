import type { JsonSchema } from '../../protocol/schema.ts'

/** Path of the schemas in the documents. */
export const SCHEMAS_BASE = '#/components/schemas/'

/** A reference to a schema of the same document. */
export function referTo(name: string): JsonSchema {
  return { $ref: `${SCHEMAS_BASE}${name}` }
}
