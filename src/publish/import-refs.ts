import type { DatabaseSync } from 'node:sqlite'
import type { Appender } from '../log/append.ts'
import { bytes } from '../log/codec.ts'
import { LATE_INDEXES } from '../log/schema.ts'
import { openRefFilter } from './import-filter.ts'

/** Whether a ref came before, in the log that is imported into or in this import. */
export type RefsSeen = Readonly<{
  /** The digest of what the ref stood for; undefined when it is new. To be asked once for each draft. */
  digestOf(ref: string): Uint8Array | undefined
}>

/**
 * Opens the memory of refs. `old` is the log as it was, whose index is whole. The new store has none on its refs
 * while it grows, so a filter of fixed size says which refs cannot have come before; at the first that may have,
 * the index is built and asked from then on. A file that repeats no ref has its index built last, in one sort.
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
      if (!isIndexed) db.exec(LATE_INDEXES.refs_ref)
      isIndexed = true
      return appender.published(ref)?.digest
    },
  }
}
