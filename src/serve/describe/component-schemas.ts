import { z } from 'zod'
import { keysOf, recordOf } from '../../protocol/brand.ts'
import {
  contestRowSchema,
  loyaltyFileSchema,
  loyaltyRunSchema,
  plannedSchema,
  unpaidSchema,
} from '../../protocol/endpoints/contest-endpoints.ts'
import { eventTypeSchema } from '../../protocol/endpoints/description-endpoints.ts'
import { ENDPOINTS } from '../../protocol/endpoints/endpoints.ts'
import { pageBoundsSchema } from '../../protocol/endpoints/event-endpoints.ts'
import { bucketSchema } from '../../protocol/endpoints/figure-endpoints.ts'
import { archiveMonthSchema, manifestSchema } from '../../protocol/endpoints/file-endpoints.ts'
import { asOfSchema, now } from '../../protocol/endpoints/resource-fields.ts'
import type { JsonSchema } from '../../protocol/schema.ts'
import { SCHEMAS_BASE } from './json-document.ts'
import { STREAM_SCHEMAS } from './stream-schemas.ts'

type ComponentSchemas = Readonly<Record<string, JsonSchema>>

/** Schemas of shared parts of answers, and of the manifest, which is a file, by their names in the documents. */
const PART_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  ArchiveManifest: manifestSchema,
  AsOf: asOfSchema,
  Present: now,
  BucketWidth: bucketSchema,
  ContestRow: contestRowSchema,
  PlannedMoment: plannedSchema,
  UnpaidPrize: unpaidSchema,
  LoyaltyRun: loyaltyRunSchema,
  LoyaltyFile: loyaltyFileSchema,
  PageBounds: pageBoundsSchema,
  ArchiveMonth: archiveMonthSchema,
  EventType: eventTypeSchema,
}

let made: ComponentSchemas | undefined

/** Schemas of all answers and of their shared parts, by name, made once. They refer to each other by `$ref`. */
export function componentSchemas(): ComponentSchemas {
  return (made ??= makeSchemas())
}

function makeSchemas(): ComponentSchemas {
  const registry = z.registry<{ id: string }>()
  for (const { answer, schema } of ENDPOINTS) {
    if (schema !== undefined) registry.add(schema, { id: answer })
  }
  for (const [id, schema] of Object.entries({ ...PART_SCHEMAS, ...STREAM_SCHEMAS })) {
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
