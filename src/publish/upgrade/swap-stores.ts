import { linkSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { renameDurably, syncDirectory } from '../../log/store/durable-rename.ts'
import { lockFile } from '../../log/store/lock.ts'
import { openAnySchema, STORE_FILE, StoreError } from '../../log/store/store.ts'
import { removeCompanions } from '../../log/store/store-files.ts'

/** Longest wait for readers of the old store, while no service can use the directory. */
const READERS_MS_MAX = 1_000

/** Takes a data directory for one upgrade. */
export function lockUpgrades(dataDirectory: string): Disposable {
  return lockFile(join(dataDirectory, 'upgrade-lock'), 'another upgrade of this data directory is running')
}

/** Path of an old store after an upgrade. */
export function keptPath(store: string, schema: number): string {
  return `${store}.schema-${schema}`
}

/** Throws when another store has the name that the old store would get. */
export function refuseKept(store: string, kept: string): void {
  const found = statSync(kept, { throwIfNoEntry: false })
  // An upgrade that was interrupted between link and rename leaves the same file under both names.
  if (found === undefined || found.ino === statSync(store).ino) return
  throw new StoreError(
    `${kept} exists, the store before an earlier upgrade: remove it with daybook upgrade --data DIR --remove-old`,
  )
}

/**
 * Replaces the store with the new one, and keeps the old one under the name `kept`. The caller has the directory's lock
 * and has closed both stores, the old one with an empty journal. A crash leaves the old store or the new one under the
 * store's name, each whole.
 */
export function swapStores(
  store: string,
  built: string,
  kept: string,
  onStep: (step: 'linking' | 'renaming') => void,
): void {
  onStep('linking')
  refuseKept(store, kept)
  rmSync(kept, { force: true })
  linkSync(store, kept)
  syncDirectory(dirname(store))
  onStep('renaming')
  renameDurably(built, store)
}

/** Moves the write-ahead log into the old store and removes it. Otherwise SQLite would use it for the new store. */
export function emptyJournal(store: string): void {
  const db = openAnySchema(store, { readOnly: false })
  let busy: unknown
  try {
    db.exec(`PRAGMA busy_timeout = ${READERS_MS_MAX}`)
    busy = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy']
  } finally {
    db.close()
  }
  if (busy !== 0) {
    throw new StoreError('another process reads the old store, perhaps a backup: try again when it has ended')
  }
  const bytes = statSync(`${store}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (bytes !== 0) throw new StoreError(`${store}-wal holds ${bytes} bytes that are not in the store`)
  removeCompanions(store)
}

/** Removes the old stores that upgrades of a data directory have kept. Returns their paths and sizes. */
export function removeKept(dataDirectory: string): readonly Readonly<{ path: string; bytes: number }>[] {
  const prefix = `${STORE_FILE}.schema-`
  using _lock = lockUpgrades(dataDirectory)
  const kept = readdirSync(dataDirectory)
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => join(dataDirectory, name))
  return kept.map((path) => {
    const { size: bytes } = statSync(path)
    rmSync(path)
    return { path, bytes }
  })
}
