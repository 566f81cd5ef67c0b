import { existsSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { withCopy } from '../log/backup/backup.ts'
import { renameDurably, syncDirectory } from '../log/store/durable-rename.ts'
import { openAnySchema, storePath } from '../log/store/store.ts'
import { emptyJournal, swapStores } from './upgrade/swap-stores.ts'
import { removeCompanions } from '../log/store/store-files.ts'

/** Step of a restore. A crash at any of them leaves the old store or the new one. */
type RestoreStep = 'copied' | 'emptied' | 'linking' | 'renaming' | 'replaced'

type Restore = Readonly<{
  /** Store file to restore, of any schema. */
  from: string
  dataDirectory: string
  /** Path under which the current store is kept. */
  kept: string
  /** Whether the current store can be opened, so that its write-ahead log belongs to it. */
  isPresentWhole: boolean
  onProgress(pagesLeft: number, pagesTotal: number): void
  /** Checks the complete copy at this path, and throws when it is wrong. */
  verify(copy: string): void
  onStep?(step: RestoreStep): void
}>

/**
 * Copies a backup beside the store of a data directory, verifies the copy, and gives it the store's name. Keeps the
 * current store under another name. The directory must be locked. A crash leaves the old store or the new one, each
 * whole. Returns whether a store was kept.
 */
export async function restoreStore(restore: Restore): Promise<boolean> {
  const { from, dataDirectory, kept, isPresentWhole, onProgress, verify, onStep = () => undefined } = restore
  const store = storePath(dataDirectory)
  const copy = `${store}.restoring`
  const open = (): DatabaseSync => openAnySchema(from, { readOnly: true })
  return withCopy(copy, open, onProgress, () => {
    verify(copy)
    onStep('copied')
    const isThere = existsSync(store)
    if (isThere && isPresentWhole) emptyJournal(store)
    else setJournalAside(store, kept)
    onStep('emptied')
    if (isThere) swapStores(store, copy, kept, onStep)
    else renameDurably(copy, store)
    onStep('replaced')
    return isThere
  })
}

/** Moves away the write-ahead log of a store that is damaged or missing. SQLite would write it into the new store. */
function setJournalAside(store: string, kept: string): void {
  if ((statSync(`${store}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
    renameSync(`${store}-wal`, `${kept}-wal`)
  removeCompanions(store)
  syncDirectory(dirname(store))
}
