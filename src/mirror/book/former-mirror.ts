import { linkSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncDirectory } from '../../log/store/durable-rename.ts'
import { readMirrorMeta } from '../../log/store/mirror-meta.ts'
import type { LogIdentity } from '../../log/store/reader.ts'
import { openForWriting, readIdentity, storePath, StoreError } from '../../log/store/store.ts'
import { headOf } from '../../log/tree/log-fault.ts'
import { openStoredTree } from '../../log/tree/stored-tree.ts'
import { readHighWater } from '../../log/store/high-water.ts'
import type { Tree } from '../../tlog/consistency.ts'
import { isSame } from '../../tlog/hash.ts'
import { ContradictionError } from '../proof/contradiction.ts'
import type { Pins } from '../proof/origin-keys.ts'
import { removeCompanions } from '../../log/store/store-files.ts'
import { formatCount } from '../../protocol/amount.ts'

/** The store of a mirror whose log was continued by another one after a loss. */
export type FormerMirror = Disposable &
  Readonly<{
    pins: Pins
    /** Throws a `ContradictionError` unless the new log begins with the events that both have. */
    demandPrefix(identity: LogIdentity, treeAt: (size: number) => Tree): void
    /** Gives the old store a second name, by which it is kept when the new one replaces it. */
    keep(): void
  }>

/** Opens the store of a data directory as that of a former log. */
export function openFormerMirror(dataDirectory: string): FormerMirror {
  const path = storePath(dataDirectory)
  const db = openForWriting(path)
  const { id } = readIdentity(db)
  const meta = readMirrorMeta(db)
  const head = headOf(db)
  const close = (): void => {
    if (db.isOpen) db.close()
  }
  return {
    pins: { vkeys: meta?.vkeys ?? [], firstUse: meta?.firstUse ?? false },
    demandPrefix({ former }, treeAt) {
      const size = Math.min(head, former.find((log) => log.id === id)?.size ?? 0)
      if (size === 0 || isSame(openStoredTree(db).at(size).root, treeAt(size).root)) return
      throw new ContradictionError(
        `the new log says that it continues the first ${formatCount(size, 'event')} of the mirrored one, and they differ`,
        { 'own.checkpoint': readHighWater(dataDirectory)?.checkpoint ?? '' },
      )
    },
    keep() {
      const busy = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy']
      if (busy !== 0) throw new StoreError('another process reads the store of the mirror: try again')
      close()
      removeCompanions(path)
      const kept = `${path}.former-${id.slice(0, 8)}`
      rmSync(kept, { force: true })
      linkSync(path, kept)
      syncDirectory(dirname(path))
    },
    [Symbol.dispose]: close,
  }
}
