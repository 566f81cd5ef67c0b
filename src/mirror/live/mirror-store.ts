import { formatUtf8 } from '../../tlog/note.ts'
import type { DatabaseSync } from 'node:sqlite'
import { markHighWater, openHighWater, readHighWater } from '../../log/store/high-water.ts'
import { type MirrorMeta, writeMirrorMeta } from '../../log/store/mirror-meta.ts'
import type { LogIdentity } from '../../log/store/reader.ts'
import { openForWriting, readIdentity, StoreError, storePath } from '../../log/store/store.ts'
import { faultAtStart } from '../../log/tree/log-fault.ts'
import { newestCheckpoint } from '../../log/tree/ready-log.ts'
import { readKeys, replaceKeys } from '../../log/tree/signing-keys.ts'
import type { Finality } from '../../protocol/endpoints/description-endpoints.ts'
import { type Ms, msOf } from '../../protocol/moment.ts'
import { type MirrorBook, openMirrorBook } from '../book/mirror-book.ts'
import { mirrorMetaOf } from '../book/mirror-rows.ts'
import { type OriginKeys, type Pins, proveKeys } from '../proof/origin-keys.ts'
import type { ProvenTree } from '../proof/proven-tree.ts'
import type { HeadCell } from '../../log/head-cell.ts'

/** The origin's report about its held drafts, and its time. */
export type OriginHeld = Readonly<{ counts: Finality; notedAt: Ms }>

/** Times of the last proof and of the origin's last answer; null before the first. */
export type Seen = Readonly<{ provedAt: Ms | null; contactAt: Ms | null }>

/** Events that became visible in one commit. */
export type MirrorCommit = Readonly<{ events: number; seq: number; atMs: Ms | null }>

/** Store of a mirror that is served while it follows. */
export type MirrorStore = Disposable &
  Readonly<{
    dataDirectory: string
    identity: LogIdentity
    book: MirrorBook
    pins: Pins
    held(): OriginHeld | null
    /** The note of the newest tree. */
    checkpoint(): string
    /** The newest seq that readers see. */
    shownSeq(): number
    /** The keys as the store lists them. */
    knownKeys(): Promise<OriginKeys>
    /** Writes changed keys, in the transaction that has begun. */
    putKeys(keys: OriginKeys): void
    /** Commits the transaction as this tree, and shows it to readers. */
    commit(tree: ProvenTree): void
    /** Replaces the signature of the newest tree and the keys, in one transaction. */
    signAgain(tree: ProvenTree, keys: OriginKeys): void
    putHeld(word: OriginHeld): void
    /** Times that the last mirror of this directory has stored. */
    seen(): Seen
    putSeen(seen: Seen): void
  }>

/** Directory of a mirror, and the operator's verifier keys. Without any, the stored ones count. */
type MirrorDirectory = Readonly<{ dataDirectory: string; vkeys: readonly string[] }>

/** Opens the store of a mirror for its only writer. Throws a `StoreError` when it is no mirror, or was changed. */
export function openMirrorStore(
  { dataDirectory, vkeys }: MirrorDirectory,
  cell: HeadCell,
  onCommitted: (commit: MirrorCommit) => void,
): MirrorStore {
  const db = openForWriting(storePath(dataDirectory))
  try {
    return storeOf(db, { dataDirectory, vkeys }, cell, onCommitted)
  } catch (error) {
    db.close()
    throw error
  }
}

function storeOf(
  db: DatabaseSync,
  { dataDirectory, vkeys }: MirrorDirectory,
  cell: HeadCell,
  onCommitted: (commit: MirrorCommit) => void,
): MirrorStore {
  const meta = mirrorMetaOf(db, dataDirectory)
  const pins: Pins = vkeys.length > 0 ? { vkeys, firstUse: false } : meta
  const fault = faultAtStart(db, readHighWater(dataDirectory))
  if (fault !== null)
    throw new StoreError(`seq ${fault.seq}: ${fault.reason}. Remove the directory, and mirror the log again`)
  markHighWater(dataDirectory, newestCheckpoint(db))
  const mark = openHighWater(dataDirectory)
  const identity = readIdentity(db)
  const book = openMirrorBook(db)
  let { checkpoint } = newestCheckpoint(db)
  let shown = book.head().seq
  cell.move(shown)

  function show(tree: ProvenTree): void {
    mark.write({ log: identity.id, checkpoint: tree.note, former: identity.former })
    // Known only now. After a failed write the origin's next checkpoint differs, so the mirror comes here again.
    checkpoint = tree.note
    const { seq, atMs } = book.head()
    cell.move(seq)
    const events = seq - shown
    shown = seq
    onCommitted({ events, seq, atMs })
  }

  return {
    dataDirectory,
    identity,
    book,
    pins: { vkeys: pins.vkeys, firstUse: pins.firstUse },
    checkpoint: () => checkpoint,
    shownSeq: () => shown,
    knownKeys() {
      const { id, origin, former } = identity
      const list = { origin, logId: id, keys: readKeys(db), formerLogs: former }
      return proveKeys(formatUtf8(JSON.stringify(list)), pins)
    },
    putKeys: (keys) => putKeys(db, keys),
    commit(tree) {
      book.commit(tree)
      show(tree)
    },
    signAgain(tree, keys) {
      book.begin()
      try {
        putKeys(db, keys)
        book.signAgain(tree)
        db.exec('COMMIT')
      } catch (error) {
        book.rollback()
        throw error
      }
      show(tree)
    },
    ...openRows(db, meta, pins, () => cell.move(shown)),
    [Symbol.dispose]() {
      mark.sync()
      mark[Symbol.dispose]()
      if (db.isOpen) db.close()
    },
  }
}

function putKeys(db: DatabaseSync, { listed }: OriginKeys): void {
  if (JSON.stringify(readKeys(db)) !== JSON.stringify(listed)) replaceKeys(db, listed)
}

/**
 * Opens the rows that the mirror writes about itself. `onHeld` is called when the report about held drafts has changed.
 */
function openRows(
  db: DatabaseSync,
  first: MirrorMeta,
  { vkeys, firstUse }: Pins,
  onHeld: () => void,
): Pick<MirrorStore, 'held' | 'putHeld' | 'seen' | 'putSeen'> {
  let meta = first
  function put(change: Partial<MirrorMeta>): void {
    const next = { ...meta, ...change }
    writeMirrorMeta(db, next)
    meta = next
  }
  return {
    held: () => parseHeld(meta.held),
    putHeld(word) {
      put({ held: JSON.stringify(word) })
      // Caches of answers end with the commit counter.
      onHeld()
    },
    seen: () => ({ provedAt: momentOrNull(meta.provedAt), contactAt: momentOrNull(meta.contactAt) }),
    putSeen(seen) {
      // Only keys that have proved something replace the stored ones.
      put(seen.provedAt === meta.provedAt ? seen : { ...seen, vkeys, firstUse })
    },
  }
}

function momentOrNull(ms: number | null): Ms | null {
  return ms === null ? null : msOf(ms)
}

function parseHeld(json: string | null): OriginHeld | null {
  return json === null ? null : JSON.parse(json)
}
