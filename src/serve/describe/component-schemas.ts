import { z } from 'zod'
import { keysOf, recordOf } from '../../protocol/brand.ts'
import type { JsonSchema } from '../../protocol/schema.ts'
import { ANSWER_SCHEMAS, PART_SCHEMAS } from '../../protocol/endpoints/answer-schemas.ts'
import { SCHEMAS_BASE } from './json-document.ts'
import { STREAM_SCHEMAS } from './stream-schemas.ts'

type ComponentSchemas = Readonly<Record<string, JsonSchema>>

let made: ComponentSchemas | undefined

/** Schemas of all answers and of their shared parts, by name, made once. They refer to each other by `$ref`. */
export function componentSchemas(): ComponentSchemas {
  return (made ??= makeSchemas())
}

function makeSchemas(): ComponentSchemas {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries({ ...ANSWER_SCHEMAS, ...PART_SCHEMAS, ...STREAM_SCHEMAS })) {
    registry.add(schema, { id })
  }
  const { schemas } = z.toJSONSchema(registry, {
    uri: (id) => `${SCHEMAS_BASE}${id}`,
    override({ jsonSchema }) {
      // Extra fields are allowed, because v1 may add some.
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  })
  // These keywords belong to stand-alone schemas.
  const ofDocuments = new Set(['$schema', '$id'])
  return recordOf(keysOf(schemas), (id) =>
    Object.fromEntries(Object.entries(schemas[id] ?? {}).filter(([keyword]) => !ofDocuments.has(keyword))),
  )
}
