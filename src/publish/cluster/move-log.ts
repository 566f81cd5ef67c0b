import type { DatabaseSync } from 'node:sqlite'
import type { EngineConnection, EngineMessage } from '../../engine/log-engine.ts'
import { MESSAGE_BYTES_MAX } from '../../engine/log-engine.ts'
import { openBookKeys } from '../../log/message/book-keys.ts'
import { FIRST_STREAM } from '../../log/message/message.ts'
import { openNodeKey } from '../../log/message/node-key.ts'
import { readSeal } from '../../log/message/read-seal.ts'
import { markHighWater, readHighWater } from '../../log/store/high-water.ts'
import { openForWriting, StoreError, storePath } from '../../log/store/store.ts'
import { clearPosition, readPosition } from '../../log/stream/engine-position.ts'
import { clearLogVersion } from '../../log/stream/log-version.ts'
import { openKeptMessages } from '../../log/stream/kept-messages.ts'
import { changeKeys, newestCheckpoint, proveLog } from '../../log/tree/ready-log.ts'
import { headOf } from '../../log/tree/log-fault.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { APPLIED_MESSAGES_MAX } from '../replica/replica-book.ts'
import type { StoreBook } from '../book/store-book.ts'
import { openBook } from '../book/store-book.ts'
import { movedMessages, noteMoved } from '../book/moved-log.ts'
import { ENDED } from './ended-stream.ts'
import { ONE_MESSAGE_BYTES, readMessages } from './read-messages.ts'
import { settleAppend } from './settle-append.ts'
import { inTransaction } from '../../log/store/in-transaction.ts'

type MoveSettings = Readonly<{
  /** Data directory that no process uses. */
  dataDirectory: string
  /** Keys that sign the log. */
  keys: readonly SigningKey[]
  connect(stream: number): Promise<EngineConnection>
  signal: AbortSignal
  /** Called with the place of each message that is on the engine. */
  onProgress(place: number): void
}>

/** A log that was moved: its newest seq, and the newest place of its stream. */
type MovedLog = Readonly<{ head: number; messages: number }>

/**
 * Puts the log of one node on an engine, whose stream 1 must be empty: every event with its stored signature, and the
 * held drafts. An interrupted move is completed by the same call. Throws a StoreError, and then the node is alone as before.
 */
export async function moveToEngine(settings: MoveSettings): Promise<MovedLog> {
  const { dataDirectory, keys } = settings
  return withStore(dataDirectory, async (db) => {
    if (readPosition(db) !== null) throw new StoreError('this log is on an engine already')
    proveLog(db, readHighWater(dataDirectory), { keys, acceptLoss: false, acceptNewKey: false })
    changeKeys(db, { keys, acceptNewKey: false })
    await using connection = await settings.connect(FIRST_STREAM)
    await refuseWrongEngine(connection)
    const { node } = openBookKeys(db, keys, openNodeKey(dataDirectory))
    const newest = await offerAll(movedMessages(db, node), connection, settings)
    inTransaction(db, () => noteMoved(db, newest))
    markHighWater(dataDirectory, newestCheckpoint(db))
    return { head: headOf(db), messages: newest.place }
  })
}

/** Offers the messages in order, those that an interrupted move has left out. Returns the last one. */
async function offerAll(
  messages: Iterable<EngineMessage>,
  connection: EngineConnection,
  { signal, onProgress }: MoveSettings,
): Promise<EngineMessage> {
  const last = await connection.log.last()
  let newest: EngineMessage | undefined
  for (const message of messages) {
    const { place, bytes } = message
    const owner =
      place <= last
        ? (await readMessages(connection, place, ONE_MESSAGE_BYTES, signal))[0]?.bytes
        : await settleAppend(connection, place, bytes, signal)
    if (owner === undefined || Buffer.compare(owner, bytes) !== 0) {
      throw new StoreError(
        `the stream has another message at place ${place}: a log is moved to an empty stream`,
      )
    }
    newest = message
    onProgress(place)
  }
  if (newest === undefined || (await connection.log.last()) > newest.place) {
    throw new StoreError(
      'the stream has more messages than this log: start this node with an empty directory',
    )
  }
  return newest
}

/**
 * Takes a log off its engine: the node follows the stream to its end, seals it, and is alone from then on. The other
 * writers stop at the seal. An interrupted call is completed by the same call.
 */
export async function moveFromEngine(settings: MoveSettings): Promise<MovedLog> {
  const { dataDirectory, keys, signal } = settings
  return withStore(dataDirectory, async (db) => {
    const position = readPosition(db)
    if (position === null) throw new StoreError('this log is on no engine')
    const nodeKey = openNodeKey(dataDirectory)
    const book = openBook({ db, keys, nodeKey, asksChain: false })
    while (!isMovedBack(db, nodeKey)) {
      const { stream } = book.applied()
      await using connection = await settings.connect(stream)
      await refuseWrongEngine(connection)
      await sealStream(book, connection, stream, signal)
    }
    inTransaction(db, () => {
      clearPosition(db)
      clearLogVersion(db)
      openKeptMessages(db).clear()
    })
    markHighWater(dataDirectory, newestCheckpoint(db))
    return { head: headOf(db), messages: position.place }
  })
}

/** Whether this node has sealed the log to take it off its engine. Throws when another one has, or after a fork. */
function isMovedBack(db: DatabaseSync, { publicKey }: SigningKey): boolean {
  const seal = readSeal(db)
  if (seal === null || seal.why === 'roll') return false
  if (seal.why === 'adopt') throw new StoreError(ENDED.adopt)
  if (Buffer.compare(seal.publicKey, publicKey) !== 0) throw new StoreError(ENDED.back)
  return true
}

/** Follows the stream to its end and seals it, unless another node does so first. */
async function sealStream(
  book: StoreBook,
  connection: EngineConnection,
  stream: number,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await followToEnd(book, connection, signal)
    if (book.applied().stream !== stream) return
    if (book.applied().place === 0) throw new StoreError(UNBEGUN)
    book.begin()
    book.build({ is: 'seal', why: 'back' })
    const seal = book.message()
    book.rollback()
    if (seal === null) throw new Error('a seal is a message')
    await settleAppend(connection, book.applied().place + 1, seal, signal)
  }
}

/** Applies all messages that the engine has at a moment after the call. */
async function followToEnd(
  book: StoreBook,
  connection: EngineConnection,
  signal: AbortSignal,
): Promise<void> {
  const { stream } = book.applied()
  const last = await connection.log.last()
  while (book.applied().stream === stream && book.applied().place < last) {
    const from = book.applied().place + 1
    const messages = await readMessages(connection, from, MESSAGE_BYTES_MAX, signal)
    book.apply(messages.slice(0, APPLIED_MESSAGES_MAX))
  }
}

const UNBEGUN =
  'a roll was interrupted, and the next stream has not begun: run daybook cluster roll again, then move the log'

async function refuseWrongEngine(connection: EngineConnection): Promise<void> {
  const complaints = await connection.inspect()
  if (complaints.length > 0) throw new StoreError(`the engine is not set up as it must be: ${complaints[0]}`)
}

async function withStore<T>(dataDirectory: string, work: (db: DatabaseSync) => Promise<T>): Promise<T> {
  const db = openForWriting(storePath(dataDirectory))
  try {
    return await work(db)
  } finally {
    db.close()
  }
}
