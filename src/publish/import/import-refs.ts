import type { DatabaseSync } from 'node:sqlite'
import type { Appender } from '../../log/append.ts'
import { bytes } from '../../log/store/codec.ts'
import { BULK_REFS } from '../../log/store/store-schema.ts'
import { openRefFilter } from './import-filter.ts'

/** Whether a ref came before, in the log that is imported into or in this import. */
export type RefsSeen = Readonly<{
  /** The digest of what the ref stood for; undefined when it is new. To be asked once for each draft. */
  digestOf(ref: string): Uint8Array | undefined
}>

/**
 * Opens the memory of refs. `old` is the log as it was, whose refs are found at once. Those of an import have no index
 * while they are gathered, so a filter of fixed size says which refs cannot have come before; at the first that may
 * have, the index is built and asked from then on. Of a file that repeats no ref they are sorted once, last.
 */
export function openRefsSeen(old: DatabaseSync | null, db: DatabaseSync, appender: Appender): RefsSeen {
  const published = old?.prepare('SELECT digest FROM refs WHERE ref = ?')
  const filter = openRefFilter()
  let isIndexed = false
  return {
    digestOf(ref) {
      const row = published?.get(ref)
      if (row !== undefined) return bytes(row, 'digest')
      if (filter.isNew(ref)) return undefined
      if (!isIndexed) db.exec(BULK_REFS.index)
      isIndexed = true
      return appender.published(ref)?.digest
    },
  }
}
