import type { EngineConnection } from '../../engine/log-engine.ts'
import { EngineError, MissingStreamError } from '../../engine/log-engine.ts'
import { createStoreFrom } from '../../log/message/genesis.ts'
import { FIRST_STREAM } from '../../log/message/message.ts'
import { readPosition } from '../../log/stream/engine-position.ts'
import type { HighWater } from '../../log/store/high-water.ts'
import { markHighWater, readHighWater } from '../../log/store/high-water.ts'
import { hasStore, openForWriting, StoreError, storePath } from '../../log/store/store.ts'
import type { LogFault } from '../../log/tree/log-fault.ts'
import { faultAtStart } from '../../log/tree/log-fault.ts'
import { newestCheckpoint } from '../../log/tree/ready-log.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import type { StopCause } from '../replica/replica-stop.ts'
import { followAdoption } from '../stream/follow-adoption.ts'
import { ONE_MESSAGE_BYTES } from '../stream/read-messages.ts'

type JoinSettings = Readonly<{
  dataDirectory: string
  keys: readonly SigningKey[]
  connect(stream: number): Promise<EngineConnection>
  /** Aborted when the node stops. */
  signal: AbortSignal
  /** Called after an attempt to read the first message that failed. Rejects when the node stops. */
  wait(reason: string): Promise<void>
}>

/** A log that a node has joined. */
type JoinedLog = Readonly<{
  /** High-water mark that the node must reach again; null when the store has all that it has served. */
  owed: HighWater | null
  /** Reason why the node takes no drafts: the log has forked. Null when it goes on. */
  stopped: StopCause | null
}>

/**
 * Prepares the data directory of a node whose log is on an engine. An empty one gets the store of the log as the stream
 * begins. Changes no identity, key or signature of a log, except that a node goes on with the branch of a fork that the
 * operator has adopted. Throws a StoreError that says what is wrong.
 */
export async function joinLog(settings: JoinSettings): Promise<JoinedLog> {
  const { dataDirectory, keys } = settings
  const mark = readHighWater(dataDirectory)
  if (!hasStore(dataDirectory)) {
    createStoreFrom(storePath(dataDirectory), await firstMessage(settings), keys)
  }
  const db = openForWriting(storePath(dataDirectory))
  try {
    if (readPosition(db) === null) {
      throw new StoreError(
        'the log of this directory is on no engine: move it with daybook cluster move, or start with an empty directory',
      )
    }
    demandSound(faultAtStart(db, mark, keys))
    const stopped = await followAdoption(db, settings)
    const fault = faultAtStart(db, mark, keys)
    demandSound(fault)
    // The missing part comes from the engine, and must be what was served.
    if (fault !== null) return { owed: mark, stopped }
    markHighWater(dataDirectory, newestCheckpoint(db))
    return { owed: null, stopped }
  } finally {
    db.close()
  }
}

/** Refuses a store with another fault than that its newest events are missing. */
function demandSound(fault: LogFault | null): void {
  if (fault !== null && !fault.lost) throw new StoreError(`seq ${fault.seq}: ${fault.reason}`)
}

/** The first message of the log. Waits until the engine has one. */
async function firstMessage({ connect, wait }: JoinSettings): Promise<Uint8Array> {
  for (;;) {
    try {
      await using connection = await connect(FIRST_STREAM)
      const last = await connection.log.last()
      const [first] = last === 0 ? [] : await connection.log.read(1, ONE_MESSAGE_BYTES)
      if (first !== undefined) return first.bytes
      if (last === 0) throw new StoreError(NOTHING_THERE)
    } catch (error) {
      if (error instanceof MissingStreamError) throw new StoreError(NO_STREAM, { cause: error })
      if (!(error instanceof EngineError)) throw error
      await wait(error.message)
    }
  }
}

const NO_STREAM =
  'the engine has no stream 1. Was it dropped after daybook cluster roll? Start this node from a backup at or after the last seal (daybook restore). A new engine: make the stream with daybook cluster init'

const NOTHING_THERE =
  'the engine has no log yet: put one there with daybook cluster move, then start this node with an empty directory'
