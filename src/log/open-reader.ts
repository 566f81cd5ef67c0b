import type { DatabaseSync } from 'node:sqlite'
import type { Head } from '../project/fold/books.ts'
import { assert } from '../protocol/brand.ts'
import { formatDetailsLine } from '../protocol/details.ts'
import { BEFORE_FIRST, type Seq, seqOf } from '../protocol/seq.ts'
import { openArchiveReader } from './archive/archive-reader.ts'
import { openBooks } from './books/stored-books.ts'
import { number, text } from './store/codec.ts'
import { openPrefixReader } from './books/prefix-reader.ts'
import type { KindSeen, LogReader, Snapshot } from './store/reader.ts'
import { readKeys } from './tree/signing-keys.ts'
import { openBeside, readIdentity, storePath } from './store/store.ts'
import { openTreeReader } from './tree/tree-reader.ts'
import { openDetailedWalk, openWalk } from './walk.ts'
import { cosignersOf, openWitnessed } from './witnessed/open-witnessed.ts'
import { openWitnessedVersion } from './witnessed/witnessed-file.ts'
import { isEventType } from '../protocol/rules.ts'
import { openHeldCounts } from './held/held-tables.ts'
import type { HeadCell } from './head-cell.ts'

/**
 * Opens the log of a data directory for one reading thread. `cell` is the writer's head cell; null without a writer.
 */
export function openReader(dataDirectory: string, cell: HeadCell | null): LogReader {
  const db = openBeside(storePath(dataDirectory))
  const transactions = openReadTransactions(db, snapshots(db, dataDirectory))
  const witnessedVersion = openWitnessedVersion(dataDirectory)
  const listeners = new Set<(head: Head) => void>()
  const identity = readIdentity(db)
  let head: Head = { seq: BEFORE_FIRST, atMs: null }

  function snapshot<T>(ask: (snapshot: Snapshot) => T): T {
    let seen: Head = head
    const answer = transactions.read((current) => {
      seen = current.head
      return ask(current)
    })
    moveTo(seen)
    return answer
  }

  /** Moves this thread's head and calls its listeners, so that streams are never behind an answer. */
  function moveTo(seen: Head): void {
    if (seen.seq <= head.seq) return
    head = seen
    for (const listener of listeners) listener(head)
  }

  function newestHead(): Head {
    if (cell !== null && cell.read() > head.seq) snapshot((current) => current.head)
    return head
  }

  snapshot((current) => current.head)
  return {
    identity,
    head: newestHead,
    version() {
      if (cell !== null) return `${newestHead().seq}-${cell.commits()} ${witnessedVersion()}`
      return snapshot((current) => `${current.head.seq}-${current.held().version} ${witnessedVersion()}`)
    },
    snapshot,
    inOneSnapshot: transactions.share,
    onHead(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      listeners.clear()
      transactions.end()
      db.close()
    },
  }
}

/** Prepares the statements once. The returned function makes the snapshot of the open read transaction. */
function snapshots(db: DatabaseSync, dataDirectory: string): () => Snapshot {
  const prefix = openPrefixReader(db)
  const books = openBooks(db, prefix)
  const walk = openWalk(db)
  const detailedWalk = openDetailedWalk(db, walk)
  const archive = openArchiveReader(db)
  const tree = openTreeReader(db)
  const line = db.prepare('SELECT CAST(line AS BLOB) AS line FROM events WHERE seq = ?')
  const details = db.prepare('SELECT line FROM details WHERE seq = ?')
  const kindsUpTo = openKinds(db)
  const newestMove = db.prepare('SELECT max(seq) AS seq FROM moves')
  const witnessed = openWitnessed(db, dataDirectory)
  const held = openHeldCounts(db)

  function lineOf(seq: Seq): Uint8Array | undefined {
    const found = line.get(seq)?.['line']
    return found instanceof Uint8Array ? found : undefined
  }

  return () => {
    const current = books()
    const { head } = current
    return {
      head,
      books: current,
      line: lineOf,
      detailsLine(seq) {
        if (seq < 1 || seq > head.seq) return undefined
        const row = details.get(seq)
        return row === undefined ? formatDetailsLine(seq, null) : text(row, 'line')
      },
      seqBefore: prefix.seqBefore,
      walk,
      detailedWalk,
      kinds: () => kindsUpTo(head.seq),
      newestMove() {
        const seq = newestMove.get()?.['seq']
        return typeof seq === 'number' ? seqOf(seq) : BEFORE_FIRST
      },
      months: () => archive.months(head.seq),
      month: (month) => archive.month(month, head.seq),
      monthLayout: (month, file) => archive.layout(month, file, head.seq),
      keepsMonth: archive.keepsStored,
      monthChunk: archive.chunk,
      tree: tree(head.seq),
      keys: () => readKeys(db),
      witnessed: () => witnessed(head.seq),
      cosigners: cosignersOf,
      held,
    }
  }
}

/** Opens the kinds of the log up to a head. Caches those of the last head. */
function openKinds(db: DatabaseSync): (head: Seq) => readonly KindSeen[] {
  const all = db.prepare(
    `SELECT type, kind, first_seq,
       (SELECT max(seq) FROM events INDEXED BY events_code WHERE events.code = kinds.code) AS last_seq
     FROM kinds ORDER BY code`,
  )
  let upTo: Seq | null = null
  let kinds: readonly KindSeen[] = []
  return (head) => {
    if (upTo !== head) kinds = all.all().map(kindSeen)
    upTo = head
    return kinds
  }
}

function kindSeen(row: Readonly<Record<string, unknown>>): KindSeen {
  const type = text(row, 'type')
  assert(isEventType(type), 'the store holds only types of the catalogue')
  return {
    type,
    kind: text(row, 'kind'),
    firstSeq: seqOf(number(row, 'first_seq')),
    lastSeq: seqOf(number(row, 'last_seq')),
  }
}

/** Read transactions of one connection, one at a time. */
type ReadTransactions = Readonly<{
  /** Runs `ask` in the shared transaction that is open, or in one of its own. */
  read<T>(ask: (snapshot: Snapshot) => T): T
  /**
   * Runs `ask`, in which all reads share one transaction. The transaction begins with the first read, and ends with
   * `ask` or when the event loop turns. If the event loop turns first, it rejects, because the reads saw different
   * states.
   */
  share<T>(ask: () => Promise<T>): Promise<T>
  /** Ends the shared transaction, if one is open. */
  end(): void
}>

/**
 * Shared transaction, which has begun when it has a snapshot. `users` counts the calls of `share` that have not ended.
 */
type Shared = { snapshot: Snapshot | undefined; users: number; turn: NodeJS.Immediate }

/** Opens the read transactions of a connection. `look` makes the snapshot of one that has begun. */
function openReadTransactions(db: DatabaseSync, look: () => Snapshot): ReadTransactions {
  const transaction = { begin: db.prepare('BEGIN'), end: db.prepare('COMMIT') }
  let shared: Shared | undefined
  let asking = false

  function begin(): Snapshot {
    transaction.begin.run()
    try {
      return look()
    } catch (error) {
      transaction.end.run()
      throw error
    }
  }

  function end(one: Shared): void {
    clearImmediate(one.turn)
    if (shared !== one) return
    shared = undefined
    if (one.snapshot !== undefined) transaction.end.run()
  }

  return {
    read(ask) {
      assert(!asking, 'a snapshot is asked inside another')
      asking = true
      try {
        if (shared !== undefined) return ask((shared.snapshot ??= begin()))
        const snapshot = begin()
        try {
          return ask(snapshot)
        } finally {
          transaction.end.run()
        }
      } finally {
        asking = false
      }
    },
    async share(ask) {
      // SQLite cannot empty the write-ahead log while a transaction reads, so none outlasts a turn of the event loop.
      const one: Shared = (shared ??= { snapshot: undefined, users: 0, turn: setImmediate(() => end(one)) })
      one.users += 1
      try {
        const answer = await ask()
        assert(shared === one, 'what shares a snapshot awaits no turn of the event loop')
        return answer
      } finally {
        one.users -= 1
        if (one.users === 0) end(one)
      }
    },
    end() {
      if (shared !== undefined) end(shared)
    },
  }
}
