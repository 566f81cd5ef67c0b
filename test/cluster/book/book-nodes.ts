import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { enterTable, movedRows } from '../../../src/cluster/book/moved-rows.ts'
import { openTableBook, type TableBook } from '../../../src/cluster/book/table-book.ts'
import { createStoreFromRow } from '../../../src/cluster/row/begin-row.ts'
import { ROW_BYTES_MAX, type TableRow } from '../../../src/cluster/table/log-table.ts'
import { inTransaction } from '../../../src/log/store/in-transaction.ts'
import { createStore, openForWriting } from '../../../src/log/store/store.ts'
import { changeKeys } from '../../../src/log/tree/ready-log.ts'
import type { SigningKey } from '../../../src/log/tree/signer.ts'
import type { Ms } from '../../../src/protocol/moment.ts'
import type { BalancesSetting } from '../../../src/publish/admission/admission.ts'
import { type CommitQueue, openCommitQueue } from '../../../src/publish/commit-queue.ts'
import type { CommitPath } from '../../../src/publish/commit-path.ts'
import { openHeldDrafts } from '../../../src/publish/held-drafts.ts'
import { QUIET_QUEUE } from '../../commits/quiet-queue.ts'
import { TEST_KEY } from '../../story/signing.ts'

/** A node: a store, its book, and the queue of commits on it, which is opened when the node begins to write. */
type BookNode = Readonly<{
  path: string
  book(): TableBook
  db(): DatabaseSync
  queue(): CommitQueue
  /** Lets the next commit lose its place once, so that it is built twice. */
  lose(): void
  /** Ends the queue after its last commit. The next question for it opens another. */
  endWriting(): Promise<void>
  /** Closes the store and opens it again. Its queue must have ended. */
  restart(): void
}>

/** Nodes of one log, and the rows that the table would have. */
export type BookNodes = Disposable &
  Readonly<{
    nodes: readonly BookNode[]
    node(index: number): BookNode
    rows: readonly TableRow[]
    /** Adds a row that a node has committed. */
    append(row: TableRow): void
    /** Takes the rows after a place away, as a failover may, and returns them. */
    loseTail(place: number): readonly TableRow[]
    /** Applies on a node the rows that it lacks: so many at most, in batches of a size. */
    follow(index: number, most?: number, batch?: number): void
  }>

type NodesSettings = Readonly<{
  nodes: number
  asksChain: boolean
  balances: BalancesSetting
  now(): Ms
  /** Keys that sign the log. */
  keys?: readonly SigningKey[]
}>

export function openBookNodes(settings: NodesSettings): BookNodes {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-books-'))
  const keys = settings.keys ?? [TEST_KEY]
  const paths = Array.from({ length: settings.nodes }, (_, index) => join(directory, `${index}.db`))
  const rows: TableRow[] = [firstStore(paths[0] ?? '', keys)]
  for (const path of paths.slice(1)) createStoreFromRow(path, rows[0]?.bytes ?? new Uint8Array(0), keys)
  const nodes = paths.map((path) => openNode(path, keys, settings, rows))
  const node = (index: number): BookNode => {
    const found = nodes[index]
    assert.ok(found !== undefined)
    return found
  }
  return {
    nodes,
    node,
    rows,
    append: (row) => void rows.push(row),
    loseTail: (place) => rows.splice(place),
    follow(index, most = Number.MAX_SAFE_INTEGER, batch = 256) {
      const book = node(index).book()
      const { place } = book.applied()
      const lacking = rows.slice(place, place + most)
      for (let at = 0; at < lacking.length; at += batch) book.apply(lacking.slice(at, at + batch))
    },
    [Symbol.dispose]() {
      for (const { db } of nodes) db().close()
      rmSync(directory, { recursive: true })
    },
  }
}

/** Makes the store of the first node, and puts it on a table. Returns the first row. */
function firstStore(path: string, keys: readonly SigningKey[]): TableRow {
  createStore(path, { origin: 'daybook.test/books', chain: 'opaque', simulated: false })
  const db = openForWriting(path)
  changeKeys(db, { keys, acceptNewKey: false })
  const [first, ...others] = movedRows(db, keys[0] ?? TEST_KEY)
  assert.ok(first !== undefined && others.length === 0)
  inTransaction(db, () => enterTable(db, first, keys))
  db.close()
  return first
}

function openNode(
  path: string,
  keys: readonly SigningKey[],
  { asksChain, balances, now }: NodesSettings,
  rows: TableRow[],
): BookNode {
  function open() {
    const db = openForWriting(path)
    // No test here stops the machine.
    db.exec('PRAGMA synchronous = OFF')
    return { db, book: openTableBook({ db, keys, asksChain }) }
  }

  function openQueue({ db, book }: ReturnType<typeof open>): CommitQueue {
    // A table that takes every row at once.
    const way: CommitPath = {
      isOpen: () => false,
      ...book.room,
      async commit(_, build) {
        if (loses) {
          loses = false
          book.begin()
          build()
          book.row()
          undo()
          assertHeldInMemory(book, db, asksChain)
        }
        book.begin()
        const built = build()
        const bytes = book.row()
        if (bytes === null) undo()
        else {
          rows.push({ place: book.applied().place + 1, bytes })
          book.commit(bytes)
        }
        return { ok: true, built }
      },
    }
    const undo = (): void => {
      book.rollback()
      queue.changed('undone')
    }
    const ended = (): void => assert.ok(!db.isOpen)
    const queue: CommitQueue = openCommitQueue({
      ...QUIET_QUEUE,
      path: way,
      appender: book.appender,
      held: book.held,
      balances,
      now,
      onFull: ended,
      onBroken: ended,
    })
    queue.lead()
    return queue
  }

  let opened = open()
  let loses = false
  let queue: CommitQueue | undefined
  return {
    path,
    book: () => opened.book,
    db: () => opened.db,
    queue: () => (queue ??= openQueue(opened)),
    lose: () => void (loses = true),
    async endWriting() {
      await queue?.close()
      queue = undefined
    },
    restart() {
      opened.db.close()
      opened = open()
    },
  }
}

/** Asserts that all tables of two stores have the same rows. */
export function assertSameTables(one: DatabaseSync, other: DatabaseSync): void {
  const tables = one.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all()
  assert.ok(tables.length > 30, `${tables.length} tables`)
  for (const { name } of tables) {
    assert.deepEqual(rowsOf(one, String(name)), rowsOf(other, String(name)), `the rows of ${String(name)}`)
  }
}

/** Asserts that every row fits, and that the second node has the tables of the first. Returns the number of rows. */
export function assertCarried(cluster: BookNodes): number {
  for (const { bytes } of cluster.rows) assert.ok(bytes.length <= ROW_BYTES_MAX, `${bytes.length} bytes`)
  cluster.follow(1)
  assertSameTables(cluster.node(0).db(), cluster.node(1).db())
  return cluster.rows.length - 1
}

/** All rows of a table. */
export function rowsOf(db: DatabaseSync, table: string): readonly object[] {
  return db.prepare(`SELECT * FROM ${table}`).all().map(comparable)
}

/** Asserts that the held drafts in memory are those of the tables. */
function assertHeldInMemory(book: TableBook, db: DatabaseSync, asksChain: boolean): void {
  const stored = openHeldDrafts(db, asksChain)
  assert.deepEqual([...book.held.all()], [...stored.all()])
  assert.deepEqual(book.held.groups(), stored.groups())
  for (const { draft } of stored.all()) {
    assert.deepEqual(book.held.naming(draft.tx ?? ''), stored.naming(draft.tx ?? ''))
    const [ours, theirs] = [book.held, stored].map((held) =>
      held.groups().get(draft.contestId)?.drafts.keys(),
    )
    assert.deepEqual([...(ours ?? [])], [...(theirs ?? [])])
  }
}

/** A row with its blobs in hex. */
function comparable(row: Record<string, unknown>): object {
  const plain = Object.entries(row).map(([column, value]) => [
    column,
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
  ])
  return Object.fromEntries(plain)
}
