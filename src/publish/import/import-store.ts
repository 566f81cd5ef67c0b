import { statSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import type { DatabaseSync } from 'node:sqlite'
import { renameDurably } from '../../log/store/durable-rename.ts'
import { openPrefixReader } from '../../log/books/prefix-reader.ts'
import { refuseCarriedLog } from '../../log/tree/carried-place.ts'
import { markHighWater, readHighWater } from '../../log/store/high-water.ts'
import { refuseMirror } from '../../log/store/mirror-meta.ts'
import { faultAtStart } from '../../log/tree/log-fault.ts'
import { newestCheckpoint, proveLog, refuseLostStore, changeKeys } from '../../log/tree/ready-log.ts'
import { openSigner, type Signer, type SigningKey } from '../../log/tree/signer.ts'
import {
  createStore,
  finishBulk,
  hasStore,
  type NewLog,
  openForBulk,
  openForWriting,
  readIdentity,
  refuseLeftJournal,
  storePath,
} from '../../log/store/store.ts'
import type { Head } from '../../project/fold/books.ts'
import { contestsOf, sumOfAccounts } from '../../project/fold/ledger.ts'
import { encodeTally, type Tally } from '../../project/fold/tally.ts'
import { assert } from '../../protocol/brand.ts'
import type { Chain } from '../../protocol/tx.ts'
import { removeCompanions, removeStore } from '../../log/store/store-files.ts'

/** Store that an import builds beside the log of a data directory. The log does not change before `replace`. */
export type NewStore = Readonly<{
  db: DatabaseSync
  /** The existing log; null when there is none. */
  old: DatabaseSync | null
  chain: Chain
  /** Signs the trees of the new store. */
  signer: Signer
  /** Completes the new store: builds its indexes and restores its usual settings. */
  finish(): void
  /** Reads the finished store again. Throws when it differs from `expected`. */
  verify(expected: Readonly<{ head: Head; tally: Tally }>): void
  /** Replaces the log with the verified store, durably and atomically. */
  replace(): void
  /** Keeps the existing log. Makes the mark that an import killed at its end did not write. */
  keepOld(): void
  /** Deletes the new store, unless it has replaced the log. */
  close(): void
}>

/** Begins a new store, empty or with a copy of the log. The caller must hold the directory's lock. */
export async function openNewStore(
  dataDirectory: string,
  newLog: NewLog,
  keys: readonly SigningKey[],
): Promise<NewStore> {
  const path = storePath(dataDirectory)
  const building = `${path}.importing`
  if (!hasStore(dataDirectory)) refuseLostStore(dataDirectory, false)
  refuseLeftJournal(path)
  // Remains of a killed import.
  removeStore(building)
  const old = hasStore(dataDirectory) ? openForWriting(path) : null
  let db: DatabaseSync
  try {
    const signing = { keys, acceptNewKey: false, acceptLoss: false }
    if (old !== null) {
      refuseCarriedLog(old)
      refuseMirror(old)
      proveLog(old, readHighWater(dataDirectory), signing)
    }
    if (old === null) createStore(building, newLog)
    else await copyLog(old, path, building)
    db = openForBulk(building)
    changeKeys(db, signing)
  } catch (error) {
    old?.close()
    removeStore(building)
    throw error
  }
  let checkpoint = newestCheckpoint(db)
  const { chain, origin } = readIdentity(db)
  return {
    db,
    old,
    chain,
    signer: openSigner(origin, keys),
    finish() {
      checkpoint = newestCheckpoint(db)
      finishBulk(db)
      db.close()
    },
    verify: (expected) => verify(building, expected),
    replace() {
      old?.close()
      // Otherwise SQLite would use the journal of the old log for the new file.
      removeEmptyJournal(path)
      // A crash before the rename leaves the old log, a crash after it the new one.
      renameDurably(building, path)
      // After the rename, because a mark ahead of the log would be reported as a loss.
      markHighWater(dataDirectory, checkpoint)
    },
    keepOld() {
      if (old === null || readHighWater(dataDirectory) !== null) return
      markHighWater(dataDirectory, newestCheckpoint(old))
    },
    close() {
      if (db.isOpen) db.close()
      if (old?.isOpen === true) old.close()
      removeStore(building)
    },
  }
}

async function copyLog(old: DatabaseSync, from: string, to: string): Promise<void> {
  // The checkpoint moves the whole log into one file. The lock keeps writers away.
  const busy = old.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy']
  assert(busy === 0, 'no reader holds the journal of the log that is imported into')
  await copyFile(from, to)
}

function verify(path: string, { head, tally }: Readonly<{ head: Head; tally: Tally }>): void {
  using db = openForWriting(path)
  const prefix = openPrefixReader(db)
  const found = prefix.head()
  assert(found.seq === head.seq && found.atMs === head.atMs, `the store ends at ${head.seq}`)
  const counted = countOf(db, 'events')
  assert(counted === head.seq, `the store holds ${counted} events up to ${head.seq}`)
  // The prefix reader computes the newest totals from the last stored row and the events after it.
  const fault = faultAtStart(db, null)
  assert(fault === null, `the new store can be proved: ${fault?.reason}`)
  const same = Buffer.compare(encodeTally(prefix.newest()), encodeTally(tally)) === 0
  assert(same, `the stored totals at ${head.seq} are those that were counted`)
  const balance = sumOfAccounts(tally)
  assert(balance === 0n, `the accounts add up to ${balance}`)
  const contests = contestsOf(tally)
  assert(BigInt(countOf(db, 'contests')) === contests, `the store holds ${contests} contests`)
}

function countOf(db: DatabaseSync, table: 'events' | 'contests'): number {
  return Number(db.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count'])
}

function removeEmptyJournal(path: string): void {
  const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  assert(bytes === 0, `the journal of the old log holds ${bytes} bytes that are not in it`)
  removeCompanions(path)
}
