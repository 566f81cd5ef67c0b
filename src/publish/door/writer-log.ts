import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type Appender, openAppender } from '../../log/append.ts'
import { type HeldTables, openHeldTables } from '../../log/held/held-tables.ts'
import { HIGH_WATER_FILE, type HighWater } from '../../log/store/high-water.ts'
import { LOCK_FILE } from '../../log/store/lock.ts'
import { openForWriting, readIdentity, storePath } from '../../log/store/store.ts'
import { openSigner } from '../../log/tree/signer.ts'
import type { CommitPath } from '../commit-path.ts'
import type { HeldDrafts } from '../held-drafts.ts'
import type { WriterSettings } from './writer-messages.ts'

/** The log that the writer's thread writes. */
export type WriterLog = Readonly<{
  db: DatabaseSync
  appender: Appender
  tables: HeldTables
  /** Newest signed tree for the high-water mark; null when the node has served a larger one. */
  mark(): HighWater | null
  /** Held drafts and path of commits of a log that other machines carry; absent for a log of this node alone. */
  held?: HeldDrafts
  path?: CommitPath
}>

/** Opens the store of a log that only this node writes. */
export function openOwnLog({
  dataDirectory,
  keys,
}: Pick<WriterSettings, 'dataDirectory' | 'keys'>): WriterLog {
  const db = openForWriting(storePath(dataDirectory))
  const { id, origin, former } = readIdentity(db)
  const appender = openAppender(db, openSigner(origin, keys))
  return {
    db,
    appender,
    tables: openHeldTables(db),
    mark: () => ({ log: id, checkpoint: appender.checkpoint(), former }),
  }
}

/** Paths of the files in a data directory that its service holds open. */
export function filesHeldOpen(dataDirectory: string): readonly string[] {
  const store = storePath(dataDirectory)
  const others = [HIGH_WATER_FILE, LOCK_FILE].map((name) => join(dataDirectory, name))
  return [store, `${store}-wal`, `${store}-shm`, ...others]
}
