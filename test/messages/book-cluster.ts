import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { EngineMessage } from '../../src/engine/log-engine.ts'
import { beginStream, createStoreFrom, genesisOf } from '../../src/log/message/genesis.ts'
import { encodeMessage } from '../../src/log/message/message-frame.ts'
import type { NodeSigner } from '../../src/log/message/node-key.ts'
import { certifyNode } from '../../src/log/message/node-key.ts'
import { openHeldTables } from '../../src/log/held/held-tables.ts'
import { createStore, openForWriting, readIdentity } from '../../src/log/store/store.ts'
import { changeKeys } from '../../src/log/tree/ready-log.ts'
import type { SigningKey } from '../../src/log/tree/signer.ts'
import type { Ms } from '../../src/protocol/moment.ts'
import type { BalancesSetting } from '../../src/publish/admission/admission.ts'
import type { CommitQueue } from '../../src/publish/commits/commit-queue.ts'
import type { CommitPath } from '../../src/publish/commits/commit-path.ts'
import { openCommitQueue } from '../../src/publish/commits/commit-queue.ts'
import { openHeldDrafts } from '../../src/publish/held/held-drafts.ts'
import type { StoreBook } from '../../src/publish/book/store-book.ts'
import { openBook } from '../../src/publish/book/store-book.ts'
import { QUIET_QUEUE } from './quiet-queue.ts'
import { signingKeyOf, TEST_KEY } from '../story/signing.ts'

/** Key of the node with this number. */
function nodeKeyOf(node: number): SigningKey {
  return signingKeyOf(String(node + 10).repeat(32))
}

/** The key of a node with its certificate. */
export function nodeSigner(logId: string, node: number): NodeSigner {
  return certifyNode(logId, nodeKeyOf(node), TEST_KEY)
}

/** A node: a store, its book, and the queue of commits on it, which is opened when the node begins to write. */
type BookNode = Readonly<{
  path: string
  book(): StoreBook
  db(): DatabaseSync
  queue(): CommitQueue
  /** Lets the next commit lose its place once, so that it is built twice. */
  lose(): void
  /** Ends the queue after its last commit. The next question for it opens another. */
  endWriting(): Promise<void>
  /** Closes the store and opens it again. Its queue must have ended. */
  restart(): void
}>

/** Nodes of one log, and the messages that the engine would have. */
export type BookCluster = Disposable &
  Readonly<{
    nodes: readonly BookNode[]
    node(index: number): BookNode
    messages: readonly EngineMessage[]
    /** Adds a message that a node has committed. */
    append(message: EngineMessage): void
    /** Applies on a node the messages that it lacks: so many at most, in batches of a size. */
    follow(index: number, most?: number, batch?: number): void
  }>

type ClusterSettings = Readonly<{
  nodes: number
  asksChain: boolean
  balances: BalancesSetting
  now(): Ms
  /** Keys that sign the log. */
  keys?: readonly SigningKey[]
}>

export function openCluster(settings: ClusterSettings): BookCluster {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-books-'))
  const keys = settings.keys ?? [TEST_KEY]
  const paths = Array.from({ length: settings.nodes }, (_, index) => join(directory, `${index}.db`))
  const messages: EngineMessage[] = [{ place: 1, bytes: firstStore(paths[0] ?? '', keys) }]
  for (const path of paths.slice(1)) createStoreFrom(path, messages[0]?.bytes ?? new Uint8Array(0), keys)
  const nodes = paths.map((path, index) => openNode(path, nodeKeyOf(index), keys, settings, messages))
  const node = (index: number): BookNode => {
    const found = nodes[index]
    assert.ok(found !== undefined)
    return found
  }
  return {
    nodes,
    node,
    messages,
    append: (message) => void messages.push(message),
    follow(index, most = Number.MAX_SAFE_INTEGER, batch = 256) {
      const book = node(index).book()
      const { place } = book.applied()
      const lacking = messages.slice(place, place + most)
      for (let at = 0; at < lacking.length; at += batch) book.apply(lacking.slice(at, at + batch))
    },
    [Symbol.dispose]() {
      for (const { db } of nodes) db().close()
      rmSync(directory, { recursive: true })
    },
  }
}

/** Makes the store of the first node. Returns the first message of its stream. */
function firstStore(path: string, keys: readonly SigningKey[]): Uint8Array {
  createStore(path, { origin: 'daybook.test/books', chain: 'opaque', simulated: false })
  const db = openForWriting(path)
  changeKeys(db, { keys, acceptNewKey: false })
  const { id: logId } = readIdentity(db)
  const place = { v: 1, logId, stream: 1, place: 1, prev: new Uint8Array(32) } as const
  const bytes = encodeMessage(
    { ...place, ...genesisOf(db) },
    certifyNode(logId, nodeKeyOf(0), keys[0] ?? TEST_KEY),
  )
  db.exec('BEGIN IMMEDIATE')
  beginStream(db, bytes, keys)
  db.exec('COMMIT')
  db.close()
  return bytes
}

function openNode(
  path: string,
  nodeKey: SigningKey,
  keys: readonly SigningKey[],
  { asksChain, balances, now }: ClusterSettings,
  messages: EngineMessage[],
): BookNode {
  function open() {
    const db = openForWriting(path)
    // No test here stops the machine.
    db.exec('PRAGMA synchronous = OFF')
    return { db, book: openBook({ db, keys, nodeKey, asksChain }) }
  }

  function openQueue({ db, book }: ReturnType<typeof open>): CommitQueue {
    // An engine that accepts every message at once.
    const way: CommitPath = {
      isOpen: () => false,
      ...book.room,
      commit(work, done) {
        if (loses) {
          loses = false
          book.begin()
          work.build()
          book.message()
          book.rollback()
          work.undone()
          assertHeldInMemory(book, db, asksChain)
        }
        book.begin()
        const built = work.build()
        const bytes = book.message()
        if (bytes === null) book.rollback()
        else {
          messages.push({ place: book.applied().place + 1, bytes })
          book.commit(bytes)
        }
        work.durable('committed')
        done({ is: 'committed', built })
      },
    }
    const ended = (): void => assert.ok(!db.isOpen)
    const queue = openCommitQueue({
      ...QUIET_QUEUE,
      path: way,
      appender: book.appender,
      held: book.held,
      tables: book.tables,
      asksChain,
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

/** All rows of a table. */
export function rowsOf(db: DatabaseSync, table: string): readonly object[] {
  return db.prepare(`SELECT * FROM ${table}`).all().map(comparable)
}

/** Asserts that the held drafts in memory are those of the tables. */
function assertHeldInMemory(book: StoreBook, db: DatabaseSync, asksChain: boolean): void {
  const stored = openHeldDrafts(openHeldTables(db), asksChain)
  assert.deepEqual([...book.held.all()], [...stored.all()])
  assert.deepEqual(new Set(book.held.readyGroups()), new Set(stored.readyGroups()))
  assert.deepEqual(new Set(book.held.dependentGroups()), new Set(stored.dependentGroups()))
  for (const { draft } of stored.all()) {
    assert.deepEqual(book.held.naming(draft.tx ?? ''), stored.naming(draft.tx ?? ''))
    assert.deepEqual([...book.held.inGroup(draft.contestId)], [...stored.inGroup(draft.contestId)])
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
