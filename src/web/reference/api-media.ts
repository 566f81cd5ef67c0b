import type { ApiDocument, Operation } from '../frame/api-document.ts'
import { mediaOf } from '../frame/api-document.ts'
import type { Field } from './api-fields.ts'
import { fieldsOf, namedOf, refsIn, sharedIn } from './api-fields.ts'

/** What stands in one media type of an answer. */
export type Said = Readonly<{
  type: string
  meaning: string | undefined
  /** The part that it is, where that is told with what answers share. */
  is: string | null
  /** Of a stream the parts that it consists of, which are told there too. */
  parts: readonly string[]
  /** Its own fields. */
  fields: readonly Field[]
}>

/** What an endpoint answers, by media type. */
export function saidBy(operation: Operation, document: ApiDocument): readonly Said[] {
  const shared = new Set(sharedIn(document))
  return mediaOf(operation).map(([type, { schema = {}, 'x-itemSchema': parts }]) => {
    const name = namedOf(schema)
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
