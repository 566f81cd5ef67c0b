import { z } from 'zod'
import { keysOf, recordOf } from '../../protocol/brand.ts'
import type { JsonSchema } from '../../protocol/schema.ts'
import { PART_SCHEMAS, RESOURCE_SCHEMAS } from './resource-schemas.ts'
import { SCHEMAS_BASE } from './schema-reference.ts'
import { STREAM_SCHEMAS } from './stream-schemas.ts'

/** The schemas of all answers, and of what they share, each by its name and referring to the others by theirs. */
export function componentSchemas(): Readonly<Record<string, JsonSchema>> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries({ ...RESOURCE_SCHEMAS, ...PART_SCHEMAS, ...STREAM_SCHEMAS })) {
    registry.add(schema, { id })
  }
  const { schemas } = z.toJSONSchema(registry, {
    uri: (id) => `${SCHEMAS_BASE}${id}`,
    override({ jsonSchema }) {
      // An answer may have further fields: additive inside v1.
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  })
  // Those belong to a document of its own.
  const ofDocuments = new Set(['$schema', '$id'])
  return recordOf(keysOf(schemas), (id) =>
    Object.fromEntries(Object.entries(schemas[id] ?? {}).filter(([keyword]) => !ofDocuments.has(keyword))),
  )
}
