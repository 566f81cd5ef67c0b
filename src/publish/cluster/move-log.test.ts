import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, suite, test } from 'node:test'
import { keptSchemas, unpackKept } from '../../../test/books/kept-store.ts'
import type { MemoryEngine } from '../../../test/engine/memory-engine.ts'
import { openMemoryEngine } from '../../../test/engine/memory-engine.ts'
import type { WriterFolders } from '../../../test/messages/writer-folders.ts'
import { openWriterFolders } from '../../../test/messages/writer-folders.ts'
import { TEST_KEY } from '../../../test/story/signing.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import type { EngineConnection, LogEngine } from '../../engine/log-engine.ts'
import { NODE_KEY_FILE, openNodeKey } from '../../log/message/node-key.ts'
import { markHighWater, readHighWater } from '../../log/store/high-water.ts'
import { openForWriting, storePath } from '../../log/store/store.ts'
import { refuseEngineLog } from '../../log/stream/engine-position.ts'
import { writeBeginning } from '../../log/stream/stream-beginning.ts'
import { newestCheckpoint } from '../../log/tree/ready-log.ts'
import type { StoreBook } from '../book/store-book.ts'
import { openBook } from '../book/store-book.ts'
import { openTailCheck } from '../replica/tail-check.ts'
import { adoptBranch } from '../stream/adopt-branch.ts'
import { checkStreams } from './check-stream.ts'
import { joinLog } from './join-log.ts'
import { moveFromEngine, moveToEngine } from './move-log.ts'
import { openPrimaryFile } from './primary-file.ts'
import { openReplicatedPath } from './replicated-path.ts'

const clock = { now: () => performance.now(), sleep: async () => undefined }
const folder = mkdtempSync(join(tmpdir(), 'daybook-moving-'))
let engine: MemoryEngine = openMemoryEngine({ clock, random: Math.random })
let kept = unpackKept(keptSchemas().at(-1) ?? 0)
const key = kept.keys[0] ?? TEST_KEY

beforeEach(() => {
  kept[Symbol.dispose]()
  kept = unpackKept(keptSchemas().at(-1) ?? 0)
  engine = openMemoryEngine({ clock, random: Math.random })
})
after(() => {
  kept[Symbol.dispose]()
  rmSync(folder, { recursive: true })
})

class Killed extends Error {}

const settingsOf = (dataDirectory: string, connect: () => EngineConnection = engine.connect) => ({
  dataDirectory,
  keys: [key],
  connect: async () => connect(),
  signal: AbortSignal.timeout(30_000),
  onProgress: () => undefined,
})

/** A connection whose program is killed before or after its append of the last message. */
function killedAt(place: number, when: 'before' | 'after'): () => EngineConnection {
  return () => {
    const connection = engine.connect()
    const append: LogEngine['append'] = async (at, bytes) => {
      if (at === place && when === 'before') throw new Killed()
      const answer = await connection.log.append(at, bytes)
      if (at === place) throw new Killed()
      return answer
    }
    return { ...connection, log: { ...connection.log, append } }
  }
}

/** Number of messages of the move of a kept store. */
async function messagesOfMove(): Promise<number> {
  using other = unpackKept(keptSchemas().at(-1) ?? 0)
  const trial = openMemoryEngine({ clock, random: Math.random })
  return (await moveToEngine(settingsOf(other.data, trial.connect))).messages
}

/** Opens the book of a directory for some work. */
function withBook<Result>(data: string, work: (book: StoreBook) => Result): Result {
  const db = openForWriting(storePath(data))
  try {
    return work(openBook({ db, keys: [key], nodeKey: openNodeKey(data), asksChain: true }))
  } finally {
    db.close()
  }
}

/** Reason why a writer with this book takes no commit; null when it asks its replica. */
function refusalOf(book: StoreBook): string | null {
  let reason: string | null = null
  const { path } = openReplicatedPath({
    book,
    hasServed: () => true,
    replica: () => null,
    isDiskFull: () => false,
    onFull: assert.fail,
    onBroken: assert.fail,
  })
  path.commit({ drafts: 1, build: assert.fail, durable: assert.fail, undone: assert.fail }, (end) => {
    reason = end.is === 'failed' && !end.outcome.ok ? end.outcome.reason : null
  })
  return reason === 'this node is not connected with the log yet' ? null : reason
}

/** Asserts that a writer can start alone with a store. */
function assertAlone(data: string): void {
  const db = openForWriting(storePath(data))
  try {
    refuseEngineLog(db)
  } finally {
    db.close()
  }
}

suite('a move to an engine that is interrupted', () => {
  test('leaves a log in which a writer that has joined publishes nothing, before the move has ended', async () => {
    const last = await messagesOfMove()
    const data = join(folder, 'early')
    mkdirSync(data)
    const joining = { ...settingsOf(data), wait: async () => undefined }
    for (let place = 1; place < last; place += 1) {
      await assert.rejects(moveToEngine(settingsOf(kept.data, killedAt(place, 'after'))), Killed)
      await joinLog({ ...joining, connect: async () => engine.connect() })
      const found = withBook(data, (book) => {
        book.apply(engine.messages().slice(book.applied().place))
        return [book.applied().place, refusalOf(book)]
      })
      assert.deepEqual([found[0], /is being moved/.test(String(found[1]))], [place, true])
      // It is the same after a start.
      assert.match(withBook(data, refusalOf) ?? '', /is being moved/)
    }
    await assert.rejects(moveFromEngine(settingsOf(data)), /is still being moved to this engine/)
    const { faults } = await checkStreams({ ...settingsOf(data), store: null, stream: null })
    assert.match(faults.join(), /the move of the log to this engine has not ended/)
    const moved = await moveToEngine(settingsOf(kept.data))
    assert.equal(moved.messages, last)
    const refused = withBook(data, (book) => {
      book.apply(engine.messages().slice(book.applied().place))
      return refusalOf(book)
    })
    assert.equal(refused, null)
  })

  for (const when of ['before', 'after'] as const) {
    test(`${when} its last message leaves a node that does not go on alone, because others may publish`, async () => {
      const last = await messagesOfMove()
      await assert.rejects(moveToEngine(settingsOf(kept.data, killedAt(last, when))), Killed)
      assert.throws(
        () => assertAlone(kept.data),
        /a move of this log to an engine was interrupted at its end/,
      )
      const moved = await moveToEngine(settingsOf(kept.data))
      assert.equal(moved.messages, last)
      await moveFromEngine(settingsOf(kept.data))
      assertAlone(kept.data)
    })
  }

  test('before its last message leaves a node that goes on alone, also when another log is on the engine', async () => {
    const last = await messagesOfMove()
    await assert.rejects(moveToEngine(settingsOf(kept.data, killedAt(last - 1, 'before'))), Killed)
    assertAlone(kept.data)
    await engine.connect().log.append(last - 1, Buffer.from('another'))
    await engine.connect().log.append(last, Buffer.from('another'))
    await assert.rejects(moveToEngine(settingsOf(kept.data)), /has another message at place/)
    assertAlone(kept.data)
  })
})

const beginningOf = (folders: WriterFolders, name: string): Promise<Uint8Array | null> =>
  folders.withWriter(name, ({ book }) => book.beginning())

suite('a move off the engine', () => {
  test('is refused while store and engine lack an event that the node has served', async () => {
    using folders = openWriterFolders()
    const stream = folders.make(1)
    await folders.begin('a')
    const settings = folders.settings('a')
    const { dataDirectory } = settings
    const store = storePath(dataDirectory)
    const publish = (ref: string): Promise<unknown> =>
      folders.withWriter('a', ({ queue }) => queue.submit([tradeDraft(ref)]))
    await publish('one')
    copyFileSync(store, `${store}.older`)
    await publish('two')
    await folders.withWriter('a', ({ db }) => markHighWater(dataDirectory, newestCheckpoint(db)))
    const served = readHighWater(dataDirectory)
    copyFileSync(`${store}.older`, store)
    const [lost = assert.fail()] = stream.loseTail(1, true)
    const before = stream.messages().length
    await assert.rejects(
      moveFromEngine(settings),
      /the log ends at seq 1 but was published up to seq 2.*start all/,
    )
    assert.equal(stream.messages().length, before, 'nothing is sealed')
    assert.deepEqual(readHighWater(dataDirectory), served)
    assert.equal(await settings.connect(1).then(({ log }) => log.append(lost.place, lost.bytes)), 'appended')
    assert.equal((await moveFromEngine(settings)).head, 2)
  })

  test('and a second move begin another stream 1, which a writer of the first one does not take for a fork', async () => {
    using folders = openWriterFolders()
    folders.make(1)
    await folders.begin('a', 'stale')
    const settings = folders.settings('a')
    assert.deepEqual(await beginningOf(folders, 'a'), await beginningOf(folders, 'stale'))
    await moveFromEngine(settings)
    folders.make(1)
    await moveToEngine(settings)
    await joinLog(folders.settings('b'))
    assert.notDeepEqual(await beginningOf(folders, 'a'), await beginningOf(folders, 'stale'))
    assert.deepEqual(await beginningOf(folders, 'a'), await beginningOf(folders, 'b'))
    const stale = folders.settings('stale')
    await assert.rejects(moveFromEngine(stale), /another stream of this log/)
    await assert.rejects(adoptBranch({ ...stale, branch: 'ours' }), /another stream of this log/)
  })

  test('that was interrupted before it removed the node key leaves a next move with another first message', async () => {
    using folders = openWriterFolders()
    folders.make(1)
    await folders.begin('a')
    const settings = folders.settings('a')
    const keyFile = join(settings.dataDirectory, NODE_KEY_FILE)
    copyFileSync(keyFile, `${keyFile}.former`)
    const first = await beginningOf(folders, 'a')
    await moveFromEngine(settings)
    copyFileSync(`${keyFile}.former`, keyFile)
    folders.make(1)
    await moveToEngine(settings)
    assert.notDeepEqual(await beginningOf(folders, 'a'), first)
  })

  test('finds the beginning of the stream of a store that did not know it', async () => {
    using folders = openWriterFolders()
    folders.make(1)
    await folders.begin('a')
    const { log } = await folders.settings('a').connect(1)
    const first = await beginningOf(folders, 'a')
    await folders.withWriter('a', ({ db }) => writeBeginning(db, null))
    await folders.withWriter('a', ({ book }) =>
      openTailCheck({ book, log, evidence: { keep: () => assert.fail() } }).align(),
    )
    assert.notEqual(first, null)
    assert.deepEqual(await beginningOf(folders, 'a'), first)
  })

  test('forgets the primary, so that the log can be moved to another database later', async () => {
    using folders = openWriterFolders()
    folders.make(1)
    await folders.begin('a')
    const { dataDirectory } = folders.settings('a')
    openPrimaryFile(dataDirectory).write({ systemId: '7312345678901234567', timeline: 2 })
    await moveFromEngine(folders.settings('a'))
    assert.equal(openPrimaryFile(dataDirectory).read(), null)
  })
})
