import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { randomOf } from '../../../sim/random.ts'
import { keptSchemas, unpackKept } from '../../../test/books/kept-store.ts'
import { openMemoryEngine } from '../../../test/engine/memory-engine.ts'
import { rowsOf } from '../../../test/messages/book-cluster.ts'
import { TEST_KEY } from '../../../test/story/signing.ts'
import type { EngineConnection, EngineMessage } from '../../engine/log-engine.ts'
import { createStoreFrom } from '../../log/message/genesis.ts'
import { certifyNode } from '../../log/message/node-key.ts'
import { markHighWater, readHighWater } from '../../log/store/high-water.ts'
import { openForWriting, readIdentity, storePath } from '../../log/store/store.ts'
import { newestCheckpoint } from '../../log/tree/ready-log.ts'
import { movedMessages } from '../book/moved-log.ts'
import { openBook } from '../book/store-book.ts'
import { joinLog } from './join-log.ts'

const random = randomOf('joining')
const clock = { now: () => performance.now(), sleep: async () => undefined }
const engine = openMemoryEngine({ clock, random: random.next })
const folder = mkdtempSync(join(tmpdir(), 'daybook-joining-'))
const kept = unpackKept(keptSchemas().at(-1) ?? 0)
const [key = TEST_KEY] = kept.keys
let messages: readonly EngineMessage[] = []
let signatures: readonly object[] = []

before(async () => {
  const db = openForWriting(storePath(kept.data))
  messages = [...movedMessages(db, certifyNode(readIdentity(db).id, key, key))]
  signatures = rowsOf(db, 'events')
  db.close()
  for (const { place, bytes } of messages) await engine.connect().log.append(place, bytes)
})
after(() => {
  kept[Symbol.dispose]()
  rmSync(folder, { recursive: true })
})

const connect = async (): Promise<EngineConnection> => engine.connect()
const start = (data: string) =>
  joinLog({
    dataDirectory: data,
    keys: [key],
    connect,
    signal: new AbortController().signal,
    wait: async () => undefined,
  })

/** Starts a node, which is killed after it has applied so many messages. Returns its place. */
async function run(data: string, count: number, isMarked: boolean): Promise<number> {
  assert.deepEqual(await start(data), { owed: null, stopped: null })
  const db = openForWriting(storePath(data))
  try {
    const book = openBook({ db, keys: [key], nodeKey: key, asksChain: true })
    const { place } = book.applied()
    book.apply(messages.slice(place, place + count))
    if (isMarked) markHighWater(data, newestCheckpoint(db))
    return book.applied().place
  } finally {
    db.close()
  }
}

function assertWhole(data: string): void {
  const db = openForWriting(storePath(data))
  assert.deepEqual(rowsOf(db, 'events'), signatures)
  db.close()
}

suite('a node that joins a moved log', () => {
  test('starts again after a kill before its first high-water mark', async () => {
    const data = join(folder, 'unmarked')
    mkdirSync(data)
    createStoreFrom(storePath(data), messages[0]?.bytes ?? new Uint8Array(0), [key])
    assert.equal(await run(data, 1, false), 2)
  })

  test('starts again after a kill at any message, and then has the same lines and signatures', async () => {
    const data = join(folder, 'killed')
    mkdirSync(data)
    let place = 1
    while (place < messages.length) place = await run(data, random.between(1, 3), random.chance(0.5))
    assertWhole(data)
  })

  test('fetches messages that it had, and refuses a store with another message', async () => {
    const data = join(folder, 'marked')
    mkdirSync(data)
    assert.equal(await run(data, 3, true), 4)
    const mark = readHighWater(data) ?? assert.fail()
    const marked = (place: number, digest = ''): void =>
      markHighWater(data, { ...mark, message: { stream: 1, place, digest } })
    assert.equal(mark.message?.place, 4)
    assert.equal((await start(data)).owed, null)
    // A held draft is no event.
    marked(5)
    assert.equal((await start(data)).owed?.message?.place, 5)
    for (const place of [3, 4]) {
      marked(place, 'f'.repeat(64))
      await assert.rejects(start(data), new RegExp(`another message at place ${place} of stream 1 .* branch`))
    }
    const { message: _, ...older } = mark
    markHighWater(data, older)
    assert.equal((await start(data)).owed, null)
    assert.deepEqual(readHighWater(data)?.message, mark.message)
  })
})
