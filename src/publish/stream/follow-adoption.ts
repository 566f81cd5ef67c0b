import type { DatabaseSync } from 'node:sqlite'
import type { EngineConnection } from '../../engine/log-engine.ts'
import { EngineError, MissingStreamError } from '../../engine/log-engine.ts'
import { beginAdopted } from '../../log/message/genesis.ts'
import type { Message } from '../../log/message/message.ts'
import { decodeMessage, digestOfMessage } from '../../log/message/message-frame.ts'
import { openNodeKey } from '../../log/message/node-key.ts'
import { readSeal } from '../../log/message/read-seal.ts'
import { inTransaction } from '../../log/store/in-transaction.ts'
import { readIdentity, StoreError } from '../../log/store/store.ts'
import type { EnginePosition } from '../../log/stream/engine-position.ts'
import { readPosition } from '../../log/stream/engine-position.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { openBook } from '../book/store-book.ts'
import type { StopCause } from '../replica/replica-stop.ts'
import { readEvidence } from './evidence-folder.ts'
import { ONE_MESSAGE_BYTES } from './read-messages.ts'
import { followToEnd } from './seal-stream.ts'

type FollowSettings = Readonly<{
  dataDirectory: string
  keys: readonly SigningKey[]
  connect(stream: number): Promise<EngineConnection>
  signal: AbortSignal
}>

/**
 * Goes on, at a start after a fork, with the log of the branch that the operator has adopted. Returns why this node stays
 * stopped, or null when it goes on. Throws a StoreError when another branch was adopted: nothing of this one is served.
 */
export async function followAdoption(db: DatabaseSync, settings: FollowSettings): Promise<StopCause | null> {
  const position = readPosition(db)
  if (position === null) return null
  const why = readSeal(db)?.why ?? null
  if (position.place === 0 && why === null) throw new StoreError(UNFINISHED_HERE)
  if (why === null ? !hasForked(db, settings.dataDirectory, position.stream) : why !== 'adopt') return null
  try {
    return await follow(db, position, settings)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    return { is: 'fork', place: position.place, reason: `${FORKED}. The engine is away: ${error.message}` }
  }
}

const UNFINISHED_HERE =
  'daybook cluster adopt was interrupted in this directory: run it again, then start this node'
export const FORKED =
  'the log has forked: choose a branch with daybook cluster adopt, then start this node again'

/** Whether a data directory has evidence of a fork of its log in this stream, after which no branch was adopted. */
export function hasForked(db: DatabaseSync, dataDirectory: string, stream: number): boolean {
  const { ours = [], engine = [] } = readEvidence(dataDirectory, stream) ?? {}
  const decoded = decodeMessage(ours[0] ?? engine[0] ?? new Uint8Array(0))
  return decoded.ok && decoded.signed.message.logId === readIdentity(db).id
}

async function follow(
  db: DatabaseSync,
  before: EnginePosition,
  settings: FollowSettings,
): Promise<StopCause | null> {
  const { connect, keys } = settings
  const stopped: StopCause = { is: 'fork', place: before.place, reason: FORKED }
  const sealed = before.place === 0 ? null : await findSeal(await connect(before.stream))
  if (before.place > 0 && sealed === null) return stopped
  const genesis = await firstOf(connect, before.place === 0 ? before.stream : before.stream + 1)
  if (genesis === null) return stopped
  if (sealed !== null && isSame(genesis.message.prev, sealed)) await followSeal(db, before, settings)
  const { digest } = readPosition(db) ?? before
  if (!isSame(genesis.message.prev, digest)) throw new StoreError(otherBranch(genesis.message))
  inTransaction(db, () => beginAdopted(db, genesis.bytes, keys))
  return null
}

/** Digest of the seal that an adoption has appended to a stream; null while there is none. Closes the connection. */
async function findSeal(connection: EngineConnection): Promise<Uint8Array | null> {
  await using opened = connection
  const last = await opened.log.last()
  const [newest] = last === 0 ? [] : await opened.log.read(last, ONE_MESSAGE_BYTES)
  const decoded = newest === undefined ? null : decodeMessage(newest.bytes)
  if (newest === undefined || decoded === null || !decoded.ok) return null
  const { message } = decoded.signed
  return message.is === 'seal' && message.why === 'adopt' ? digestOfMessage(newest.bytes) : null
}

type FirstMessage = Readonly<{ message: Message; bytes: Uint8Array }>

/** The first message of a stream; null when it has not begun. */
async function firstOf(connect: FollowSettings['connect'], stream: number): Promise<FirstMessage | null> {
  try {
    await using connection = await connect(stream)
    const [first] = (await connection.log.last()) === 0 ? [] : await connection.log.read(1, ONE_MESSAGE_BYTES)
    const decoded = first === undefined ? null : decodeMessage(first.bytes)
    return first === undefined || decoded === null || !decoded.ok
      ? null
      : { message: decoded.signed.message, bytes: first.bytes }
  } catch (error) {
    if (error instanceof MissingStreamError) return null
    throw error
  }
}

/** Follows the stream to its seal, if this node has its branch. */
async function followSeal(
  db: DatabaseSync,
  { stream, place, digest }: EnginePosition,
  { dataDirectory, keys, connect, signal }: FollowSettings,
): Promise<void> {
  await using connection = await connect(stream)
  const [own] = await connection.log.read(place, ONE_MESSAGE_BYTES)
  if (own === undefined || !isSame(digestOfMessage(own.bytes), digest)) return
  await followToEnd(
    openBook({ db, keys, nodeKey: openNodeKey(dataDirectory), asksChain: false }),
    connection,
    signal,
  )
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0

/** Reason why a node whose branch was not adopted does not start. */
function otherBranch(genesis: Message): string {
  const origin = genesis.is === 'genesis' ? genesis.identity.origin : ''
  return `the operator has adopted another branch of this log, which goes on as ${origin}: put a backup of one of its nodes here with daybook restore, which keeps this store. daybook cluster reclaim then lists the drafts that were lost`
}
