import { type ApiDocument, mediaOf, type Operation } from '../frame/api-document.ts'
import { type Field, fieldsOf, refsIn, schemaName, sharedIn } from './api-fields.ts'

/** Description of an answer in one media type. */
export type MediaDescription = Readonly<{
  type: string
  meaning: string | undefined
  /** Shared schema of the answer; null when it has its own. */
  is: string | null
  /** Shared schemas of the parts of a stream. */
  parts: readonly string[]
  /** Fields, when the schema is not shared. */
  fields: readonly Field[]
}>

/** Descriptions of an endpoint's answer, by media type. */
export function mediaDescriptions(operation: Operation, document: ApiDocument): readonly MediaDescription[] {
  const shared = new Set(sharedIn(document))
  return mediaOf(operation).map(([type, { schema = {}, 'x-itemSchema': parts }]) => {
    const name = schemaName(schema)
    const isShared = name !== null && shared.has(name)
    return {
      type,
      meaning: schema.description ?? document.components.schemas[name ?? '']?.description,
      is: isShared ? name : null,
      parts: refsIn(parts).filter((one) => shared.has(one)),
      fields: name === null || isShared ? [] : fieldsOf(name, document),
    }
  })
}
