import type { DatabaseSync } from 'node:sqlite'
import type { Appender } from '../../log/append.ts'
import { openHeldRefs } from '../../log/held/held-refs.ts'
import { bytes } from '../../log/store/codec.ts'
import { BULK_REFS } from '../../log/store/store-schema.ts'
import { openRefFilter } from './import-filter.ts'

/** The refs of the existing log and of this import. */
export type RefsSeen = Readonly<{
  /** The digest of the draft with this ref; undefined when the ref is new. Must be called once for each draft. */
  digestOf(ref: string): Uint8Array | undefined
  /** Whether a draft with this ref is held, failed or was dropped. */
  isHeld(ref: string): boolean
}>

/**
 * Opens the look-up of refs. The refs of the existing log `old` have an index. Those of the import have none at first:
 * a Bloom filter tells which refs are certainly new, and the first other ref builds the index. So an import that
 * repeats no ref sorts its refs only once, at its end.
 */
export function openRefsSeen(old: DatabaseSync | null, db: DatabaseSync, appender: Appender): RefsSeen {
  const published = old?.prepare('SELECT digest FROM refs WHERE ref = ?')
  const filter = openRefFilter()
  let isIndexed = false
  return {
    isHeld: openHeldRefs(db),
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
