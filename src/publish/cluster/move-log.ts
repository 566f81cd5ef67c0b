import type { DatabaseSync } from 'node:sqlite'
import type { EngineConnection, EngineMessage } from '../../engine/log-engine.ts'
import { openBookKeys } from '../../log/message/book-keys.ts'
import { FIRST_STREAM } from '../../log/message/message.ts'
import { openNodeKey, removeNodeKey } from '../../log/message/node-key.ts'
import { readSeal } from '../../log/message/read-seal.ts'
import { markHighWater, readHighWater } from '../../log/store/high-water.ts'
import { openForWriting, StoreError, storePath } from '../../log/store/store.ts'
import { clearPosition, readPosition } from '../../log/stream/engine-position.ts'
import { clearLogVersion } from '../../log/stream/log-version.ts'
import { writeBeginning } from '../../log/stream/stream-beginning.ts'
import { clearMoving, noteMoving } from '../../log/stream/moving-log.ts'
import { openKeptMessages } from '../../log/stream/kept-messages.ts'
import { changeKeys, newestCheckpoint, proveLog } from '../../log/tree/ready-log.ts'
import { faultAtStart, headOf } from '../../log/tree/log-fault.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { ReplicaStopped } from '../replica/replica-stop.ts'
import { EMPTY_STREAM, openTailCheck } from '../replica/tail-check.ts'
import type { StoreBook } from '../book/store-book.ts'
import { openBook } from '../book/store-book.ts'
import type { MovedEnds } from '../book/moved-log.ts'
import { movedMessages, noteMoved } from '../book/moved-log.ts'
import { ENDED } from '../stream/ended-stream.ts'
import { openEvidence } from '../stream/evidence-folder.ts'
import { FORKED, hasForked } from '../stream/follow-adoption.ts'
import { ONE_MESSAGE_BYTES, readMessages } from '../stream/read-messages.ts'
import { followToEnd, refuseWrongEngine, sealStream } from '../stream/seal-stream.ts'
import { settleAppend } from '../stream/settle-append.ts'
import { openPrimaryFile } from './primary-file.ts'
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
    // The key of an earlier move, when the move back was interrupted before it removed the key.
    if ((await connection.log.last()) === 0) removeNodeKey(dataDirectory)
    const { node } = openBookKeys(db, keys, openNodeKey(dataDirectory))
    const ends = await offerAll(movedMessages(db, node), connection, { ...settings, db })
    inTransaction(db, () => noteMoved(db, ends))
    markHighWater(dataDirectory, newestCheckpoint(db))
    return { head: headOf(db), messages: ends.newest.place }
  })
}

/** Offers the messages in order, those that an interrupted move has left out. Returns the first and the last one. */
async function offerAll(
  messages: Iterable<EngineMessage>,
  connection: EngineConnection,
  { db, signal, onProgress }: MoveSettings & Readonly<{ db: DatabaseSync }>,
): Promise<MovedEnds> {
  const last = await connection.log.last()
  let ends: MovedEnds | undefined
  for (const { message, isLast } of withLast(messages)) {
    const { place, bytes } = message
    // Once the last message is there other nodes publish, whether or not this one hears of it.
    const isNoted = isLast && place > last
    if (isNoted) inTransaction(db, () => noteMoving(db))
    const owner =
      place <= last
        ? (await readMessages(connection, place, ONE_MESSAGE_BYTES, signal))[0]?.bytes
        : await settleAppend(connection, place, bytes, signal)
    if (owner === undefined || Buffer.compare(owner, bytes) !== 0) {
      if (isNoted) inTransaction(db, () => clearMoving(db))
      throw new StoreError(
        `the stream has another message at place ${place}: a log is moved to an empty stream`,
      )
    }
    ends = { first: ends?.first ?? message, newest: message }
    onProgress(place)
  }
  if (ends === undefined || (await connection.log.last()) > ends.newest.place) {
    throw new StoreError(
      'the stream has more messages than this log: start this node with an empty directory',
    )
  }
  return ends
}

/** The messages, of which the last one is known. */
function* withLast(
  messages: Iterable<EngineMessage>,
): Generator<Readonly<{ message: EngineMessage; isLast: boolean }>, void> {
  let before: EngineMessage | undefined
  for (const message of messages) {
    if (before !== undefined) yield { message: before, isLast: false }
    before = message
  }
  if (before !== undefined) yield { message: before, isLast: true }
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
      await refuseFork(db, book, connection, dataDirectory)
      await followToEnd(book, connection, signal)
      if (book.applied().stream !== stream) continue
      refuseLoss(db, settings)
      await sealStream(book, connection, 'back', signal)
    }
    // Before the position is gone: a store without one, beside a mark with one, is taken for an older copy.
    const { log, checkpoint, former } = newestCheckpoint(db)
    markHighWater(dataDirectory, { log, checkpoint, former })
    openPrimaryFile(dataDirectory).forget()
    inTransaction(db, () => {
      clearPosition(db)
      writeBeginning(db, null)
      clearLogVersion(db)
      openKeptMessages(db).clear()
    })
    // The key signs the first message of a move. With another key, a later move begins another stream for all writers.
    removeNodeKey(dataDirectory)
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

/** Throws when store and engine lack what the node has served: alone, it would sign other events in their place. */
function refuseLoss(db: DatabaseSync, { dataDirectory, keys }: MoveSettings): void {
  const fault = faultAtStart(db, readHighWater(dataDirectory), keys)
  if (fault === null) return
  const advice = fault.lost ? '. The engine lacks the rest too: start all writers, which put it back' : ''
  throw new StoreError(`seq ${fault.seq}: ${fault.reason}${advice}`)
}

/** Throws when the engine has another branch of the log. Messages that it has lost are put back. */
async function refuseFork(
  db: DatabaseSync,
  book: StoreBook,
  { log }: EngineConnection,
  dataDirectory: string,
): Promise<void> {
  const { stream } = book.applied()
  const evidence = openEvidence(dataDirectory, stream)
  if (hasForked(db, dataDirectory, stream)) throw new StoreError(FORKED)
  try {
    if ((await openTailCheck({ book, log, evidence }).align()) === null) throw new StoreError(EMPTY_STREAM)
  } catch (cause) {
    if (!(cause instanceof ReplicaStopped)) throw cause
    throw new StoreError(cause.stop.is === 'fault' ? cause.message : FORKED, { cause })
  }
}

async function withStore<T>(dataDirectory: string, work: (db: DatabaseSync) => Promise<T>): Promise<T> {
  const db = openForWriting(storePath(dataDirectory))
  try {
    return await work(db)
  } finally {
    db.close()
  }
}
