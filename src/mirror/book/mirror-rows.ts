import type { DatabaseSync } from 'node:sqlite'
import { type MirrorMeta, readMirrorMeta } from '../../log/store/mirror-meta.ts'
import { StoreError } from '../../log/store/store.ts'

/** Rows of a mirror. Throws a `StoreError` for the store of another log. */
export function mirrorMetaOf(db: DatabaseSync, dataDirectory: string): MirrorMeta {
  const meta = readMirrorMeta(db)
  if (meta === null)
    throw new StoreError(`${dataDirectory} holds a log of its own: give a mirror an empty directory`)
  return meta
}
