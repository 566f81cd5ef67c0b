import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineConnection } from '../../src/engine/log-engine.ts'
import { MissingStreamError } from '../../src/engine/log-engine.ts'
import { openNodeKey } from '../../src/log/message/node-key.ts'
import { createStore, openForWriting, storePath } from '../../src/log/store/store.ts'
import type { SigningKey } from '../../src/log/tree/signer.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { joinLog } from '../../src/publish/cluster/join-log.ts'
import { moveToEngine } from '../../src/publish/cluster/move-log.ts'
import type { CommitPath } from '../../src/publish/commits/commit-path.ts'
import type { CommitQueue } from '../../src/publish/commits/commit-queue.ts'
import { openCommitQueue } from '../../src/publish/commits/commit-queue.ts'
import type { StoreBook } from '../../src/publish/book/store-book.ts'
import { openBook } from '../../src/publish/book/store-book.ts'
import type { MemoryEngine } from '../engine/memory-engine.ts'
import { openMemoryEngine } from '../engine/memory-engine.ts'
import { TEST_KEY } from '../story/signing.ts'
import { QUIET_QUEUE } from './quiet-queue.ts'

/** Settings of an operator's command at a data directory. */
type FolderSettings = Readonly<{
  dataDirectory: string
  keys: readonly SigningKey[]
  connect(stream: number): Promise<EngineConnection>
  signal: AbortSignal
  wait(): Promise<void>
  onProgress(): void
}>

/** The open log of a writer, and its queue, whose commits go to the stream. */
type OpenWriter = Readonly<{ book: StoreBook; db: DatabaseSync; queue: CommitQueue; path: CommitPath }>

/** Data directories of writers of one log, and engines in memory, one for each stream. Only one writer is open at a time. */
export type WriterFolders = Disposable &
  Readonly<{
    /** Makes an empty stream. */
    make(stream: number): MemoryEngine
    /** Removes a stream, as an administrator does. */
    drop(stream: number): void
    settings(name: string): FolderSettings
    /** Puts a new log on stream 1, from the first writer, and joins it with the others. */
    begin(first: string, ...others: readonly string[]): Promise<void>
    /** Opens the log of a writer for some work. */
    withWriter<Result>(name: string, work: (writer: OpenWriter) => Promise<Result> | Result): Promise<Result>
    /** Brings a writer to the end of its stream, and on after a seal. */
    follow(name: string): Promise<void>
    /** All rows of all tables of a store. */
    tables(name: string): readonly object[]
  }>

export function openWriterFolders({ asksChain = false }: { asksChain?: boolean } = {}): WriterFolders {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-writers-'))
  const engines = new Map<number, MemoryEngine>()
  const clock = { now: () => 0, sleep: (ms: number) => sleep(Math.min(ms, 1)).then(() => undefined) }
  const connect = async (stream: number): Promise<EngineConnection> => {
    const engine = engines.get(stream)
    if (engine === undefined) throw new MissingStreamError(`there is no stream ${stream}`)
    return engine.connect()
  }
  const settings = (name: string): FolderSettings => ({
    dataDirectory: join(folder, name),
    keys: [TEST_KEY],
    connect,
    signal: AbortSignal.timeout(60_000),
    wait: () => Promise.reject(new Error('the engine is away')),
    onProgress: () => undefined,
  })

  async function withWriter<Result>(
    name: string,
    work: (writer: OpenWriter) => Promise<Result> | Result,
  ): Promise<Result> {
    const { dataDirectory, keys } = settings(name)
    const db = openForWriting(storePath(dataDirectory))
    db.exec('PRAGMA synchronous = OFF')
    const book = openBook({ db, keys, nodeKey: openNodeKey(dataDirectory), asksChain })
    const path = pathOf(book, connect)
    const queue = openCommitQueue({
      ...QUIET_QUEUE,
      path,
      appender: book.appender,
      held: book.held,
      tables: book.tables,
      asksChain,
      balances: 'report',
      now: () => msOf(Date.UTC(2026, 0, 1)),
    })
    queue.lead()
    try {
      return await work({ book, db, queue, path })
    } finally {
      await queue.close()
      db.close()
    }
  }

  return {
    make(stream) {
      const engine = openMemoryEngine({ clock, random: Math.random })
      engines.set(stream, engine)
      return engine
    },
    drop: (stream) => void engines.delete(stream),
    settings,
    async begin(first, ...others) {
      const { dataDirectory } = settings(first)
      createStore(storePath(dataDirectory), { origin: 'daybook.test/log', chain: 'solana', simulated: true })
      await moveToEngine(settings(first))
      for (const name of others) await joinLog(settings(name))
      for (const name of others) await this.follow(name)
    },
    withWriter,
    follow: (name) =>
      withWriter(name, async ({ book }) => {
        for (;;) {
          const { log } = await connect(book.applied().stream)
          const messages = await log.read(book.applied().place + 1, Number.MAX_SAFE_INTEGER)
          if (messages.length === 0) return
          book.apply(messages)
        }
      }),
    tables(name) {
      const db = new DatabaseSync(storePath(settings(name).dataDirectory), { readOnly: true })
      const names = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all()
      const rows = names.map((table) => ({
        table: table['name'],
        rows: db.prepare(`SELECT * FROM ${String(table['name'])}`).all(),
      }))
      db.close()
      return rows
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

/** A path on which every commit must be accepted at once. */
function pathOf(book: StoreBook, connect: (stream: number) => Promise<EngineConnection>): CommitPath {
  return {
    isOpen: () => false,
    ...book.room,
    commit(work, done) {
      book.begin()
      const built = work.build()
      const bytes = book.message()
      if (bytes === null) book.rollback()
      const { stream, place } = book.applied()
      const accepted =
        bytes === null
          ? Promise.resolve()
          : connect(stream).then(async ({ log }) => {
              assert.equal(await log.append(place + 1, bytes), 'appended')
              book.commit(bytes)
            })
      void accepted.then(() => {
        work.durable('committed')
        done({ is: 'committed', built })
      })
    },
  }
}
