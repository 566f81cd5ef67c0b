import type { DatabaseSync } from 'node:sqlite'
import { type MirrorMeta, readMirrorMeta } from '../../log/store/mirror-meta.ts'
import { StoreError } from '../../log/store/store.ts'

/** The rows of a mirror. Throws a `StoreError` when the store is that of another log. */
export function mirrorMetaOf(db: DatabaseSync, dataDirectory: string): MirrorMeta {
  const meta = readMirrorMeta(db)
  if (meta === null)
    throw new StoreError(`${dataDirectory} holds a log of its own: give a mirror an empty directory`)
  return meta
}
