import type { TailCheck } from '../replica/tail-check.ts'
import type { DatabaseSync } from 'node:sqlite'
import type { EngineConnection } from '../../engine/log-engine.ts'
import { openBookKeys } from '../../log/message/book-keys.ts'
import { beginStream, genesisOf } from '../../log/message/genesis.ts'
import type { Message } from '../../log/message/message.ts'
import { MESSAGE_VERSION } from '../../log/message/message.ts'
import { decodeMessage, digestOfMessage, encodeMessage } from '../../log/message/message-frame.ts'
import type { NodeSigner } from '../../log/message/node-key.ts'
import { openNodeKey } from '../../log/message/node-key.ts'
import { readSeal } from '../../log/message/read-seal.ts'
import { markHighWater, readHighWater } from '../../log/store/high-water.ts'
import { inTransaction } from '../../log/store/in-transaction.ts'
import { openForWriting, readIdentity, StoreError, storePath } from '../../log/store/store.ts'
import type { EnginePosition } from '../../log/stream/engine-position.ts'
import { readPosition, writePosition } from '../../log/stream/engine-position.ts'
import { writeBeginning } from '../../log/stream/stream-beginning.ts'
import { openKeptMessages } from '../../log/stream/kept-messages.ts'
import { faultAtStart, headOf } from '../../log/tree/log-fault.ts'
import { beginNewLog, newestCheckpoint, signNewest } from '../../log/tree/ready-log.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import type { StoreBook } from '../book/store-book.ts'
import { openBook } from '../book/store-book.ts'
import { ReplicaStopped } from '../replica/replica-stop.ts'
import { EMPTY_STREAM, openTailCheck } from '../replica/tail-check.ts'
import { ENDED } from './ended-stream.ts'
import type { BranchName } from './evidence-folder.ts'
import { openEvidence, readEvidence } from './evidence-folder.ts'
import { ONE_MESSAGE_BYTES, readMessages } from './read-messages.ts'
import { refuseWrongEngine, sealStream } from './seal-stream.ts'
import { settleAppend } from './settle-append.ts'

type AdoptSettings = Readonly<{
  /** Data directory of the node whose log goes on. No process uses it. */
  dataDirectory: string
  /** The branch that this directory must have. */
  branch: BranchName
  /** Keys that sign the log. */
  keys: readonly SigningKey[]
  connect(stream: number): Promise<EngineConnection>
  signal: AbortSignal
}>

/** The log after a fork: its new origin, its stream and its newest seq. */
type AdoptedLog = Readonly<{ origin: string; stream: number; head: number }>

/**
 * Ends a fork. The log of this node goes on under another id and origin, because two branches were signed under the former
 * ones. It goes on in the next stream, which must exist and be empty; the present one is sealed for all writers. An
 * interrupted call is completed by the same call. Throws a StoreError that says what is wrong.
 */
export async function adoptBranch(settings: AdoptSettings): Promise<AdoptedLog> {
  const db = openForWriting(storePath(settings.dataDirectory))
  try {
    const position = readPosition(db)
    if (position === null) throw new StoreError('this log is on no engine, so it has no branches')
    if (!isAdopted(settings, position)) {
      if (position.place > 0 || readSeal(db) !== null) await endBranches(db, settings)
      await beginBranch(db, settings)
    }
    return { origin: readIdentity(db).origin, stream: readPosition(db)?.stream ?? 0, head: headOf(db) }
  } finally {
    db.close()
  }
}

/** Whether an earlier call has done everything: the log has nothing but the beginning of the stream after a fork. */
function isAdopted({ dataDirectory }: AdoptSettings, { stream, place }: EnginePosition): boolean {
  return place === 1 && readEvidence(dataDirectory, stream - 1) !== null
}

/** Seals the stream for all writers, and begins the new log in the store, before its first message is in the next one. */
async function endBranches(db: DatabaseSync, settings: AdoptSettings): Promise<void> {
  const { dataDirectory, keys } = settings
  const fault = faultAtStart(db, readHighWater(dataDirectory), keys)
  if (fault !== null) throw new StoreError(`seq ${fault.seq}: ${fault.reason}`)
  const nodeKey = openNodeKey(dataDirectory)
  const book = openBook({ db, keys, nodeKey, asksChain: false })
  if (book.sealed() === null) await sealBranches(db, book, settings)
  const why = book.sealed()
  if (why === 'back') throw new StoreError(ENDED.back)
  if (why === 'roll') throw new StoreError('the log was rolled and has not forked since: start this node')
  const { stream, digest } = book.applied()
  const next = why === 'adopt' ? stream : stream + 1
  await demandEmpty(settings, next)
  inTransaction(db, () => {
    beginNewLog(db, null, openBookKeys(db, keys, nodeKey).signing)
    // In the order of the list, so that all nodes have the same signature.
    signNewest(db, openBookKeys(db, keys, nodeKey).signing)
    openKeptMessages(db).clear()
    writePosition(db, { stream: next, place: 0, digest })
    writeBeginning(db, null)
  })
}

/** Finds out which branch this directory has, and appends the seal to that of the engine. */
async function sealBranches(db: DatabaseSync, book: StoreBook, settings: AdoptSettings): Promise<void> {
  const { dataDirectory, branch, signal } = settings
  const { stream } = book.applied()
  await using connection = await settings.connect(stream)
  await refuseWrongEngine(connection)
  const evidence = openEvidence(dataDirectory, stream)
  const tail = openTailCheck({ book, log: connection.log, evidence })
  const found = await branchOf(tail.align)
  if (found !== branch) throw new StoreError(WRONG_BRANCH[found])
  if (found === 'engine' && readEvidence(dataDirectory, stream) === null) throw new StoreError(NO_FORK)
  await demandEmpty(settings, stream + 1)
  if (found === 'engine') return await sealStream(book, connection, 'adopt', signal)
  await tail.keepBranches()
  const { node } = openBookKeys(db, settings.keys, openNodeKey(dataDirectory))
  await sealOther(connection, node, settings)
}

/** Whether the engine has the newest message of this node. One that it has lost is put back. */
async function branchOf(align: TailCheck['align']): Promise<BranchName> {
  try {
    if ((await align()) === null) throw new StoreError(EMPTY_STREAM)
    return 'engine'
  } catch (error) {
    if (!(error instanceof ReplicaStopped)) throw error
    if (error.stop.is === 'fault') throw new StoreError(error.message, { cause: error })
    return 'ours'
  }
}

const WRONG_BRANCH: Readonly<Record<BranchName, string>> = {
  engine:
    'the engine has the log of this directory: adopt the branch engine here, or the branch ours at the node that has the other one',
  ours: 'the engine has another branch than this directory: adopt the branch ours here, or the branch engine at a node that follows the engine',
}
const NO_FORK =
  'this node knows of no fork: start it. If another writer has stopped because of one, start both together until this one stops too'

/** Seals the branch of the engine, which is not the one that goes on. Its writers then take no drafts. */
async function sealOther(
  connection: EngineConnection,
  node: NodeSigner,
  { signal }: AdoptSettings,
): Promise<void> {
  for (;;) {
    const last = await connection.log.last()
    if (last === 0) return
    const [newest] = await readMessages(connection, last, ONE_MESSAGE_BYTES, signal)
    const decoded = decodeMessage(newest?.bytes ?? new Uint8Array(0))
    if (!decoded.ok)
      throw new StoreError(`the newest message of the engine cannot be read: ${decoded.reason}`)
    const { message } = decoded.signed
    if (message.is === 'seal') return
    const { v, logId, stream } = message
    const place = {
      v,
      logId,
      stream,
      place: last + 1,
      prev: digestOfMessage(newest?.bytes ?? new Uint8Array(0)),
    }
    const seal: Message = {
      ...place,
      is: 'seal',
      why: 'adopt',
      next: stream + 1,
      ...(await endOf(connection, message, signal)),
    }
    await settleAppend(connection, last + 1, encodeMessage(seal, node), signal)
  }
}

/** Head and root of a branch after its newest message. */
async function endOf(
  connection: EngineConnection,
  newest: Message,
  signal: AbortSignal,
): Promise<Pick<Extract<Message, { is: 'seal' }>, 'head' | 'root'>> {
  for (let message = newest; ;) {
    if (message.is === 'commit') return { head: message.first + message.lines.length - 1, root: message.root }
    if (message.is === 'genesis' || message.is === 'seal') return { head: message.head, root: message.root }
    const [before] = await readMessages(connection, message.place - 1, ONE_MESSAGE_BYTES, signal)
    const decoded = decodeMessage(before?.bytes ?? new Uint8Array(0))
    if (!decoded.ok) throw new StoreError(`a message of the engine cannot be read: ${decoded.reason}`)
    message = decoded.signed.message
  }
}

async function demandEmpty({ connect }: AdoptSettings, stream: number): Promise<void> {
  await using connection = await connect(stream)
  const [complaint] = await connection.inspect()
  if (complaint !== undefined) throw new StoreError(`stream ${stream} is not ready: ${complaint}`)
  if ((await connection.log.last()) > 0) throw new StoreError(begunElsewhere(stream))
}

const begunElsewhere = (stream: number): string =>
  `stream ${stream} has begun already: another node has adopted its branch. Restore a backup of that node here`

/** Puts the first message of the new log into its stream. */
async function beginBranch(db: DatabaseSync, settings: AdoptSettings): Promise<void> {
  const { dataDirectory, keys, signal } = settings
  const { stream, digest: prev } = readPosition(db) ?? { stream: 0, digest: new Uint8Array(32) }
  await using connection = await settings.connect(stream)
  await refuseWrongEngine(connection)
  const { node } = openBookKeys(db, keys, openNodeKey(dataDirectory))
  const place = { v: MESSAGE_VERSION, logId: readIdentity(db).id, stream, place: 1, prev } as const
  const bytes = encodeMessage({ ...place, ...genesisOf(db) }, node)
  const owner = await settleAppend(connection, 1, bytes, signal)
  if (Buffer.compare(owner, bytes) !== 0) throw new StoreError(begunElsewhere(stream))
  inTransaction(db, () => beginStream(db, bytes, keys))
  markHighWater(dataDirectory, newestCheckpoint(db))
}
