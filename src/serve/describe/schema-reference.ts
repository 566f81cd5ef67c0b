import type { JsonSchema } from '../../protocol/schema.ts'

/** Where the documents keep their schemas. */
export const SCHEMAS_BASE = '#/components/schemas/'

/** A reference to a schema of the same document. */
export function referTo(name: string): JsonSchema {
  return { $ref: `${SCHEMAS_BASE}${name}` }
}
