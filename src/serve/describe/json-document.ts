import type { JsonSchema } from '../../protocol/schema.ts'
import { JSON_TYPE } from '../http/headers.ts'
import type { RouteReply } from '../http/route.ts'

/** Path of the schemas in the documents. */
export const SCHEMAS_BASE = '#/components/schemas/'

/** A reference to a schema of the same document. */
export function referTo(name: string): JsonSchema {
  return { $ref: `${SCHEMAS_BASE}${name}` }
}

/** Reply with a document that changes only with the build. It is serialized once. */
export function documentReply(document: JsonSchema): RouteReply {
  const body = Buffer.from(JSON.stringify(document))
  return () => ({ is: 'body', keep: 'revalidate', etag: 'of-content', type: JSON_TYPE, body })
}
