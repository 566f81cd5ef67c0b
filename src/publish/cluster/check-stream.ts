import type { DatabaseSync } from 'node:sqlite'
import type { EngineConnection } from '../../engine/log-engine.ts'
import { EngineError, MESSAGE_BYTES_MAX } from '../../engine/log-engine.ts'
import { FIRST_STREAM } from '../../log/message/message.ts'
import type { ChainEnd, StreamChain } from '../../log/message/stream-chain.ts'
import { openStreamChain } from '../../log/message/stream-chain.ts'
import { openForReading, StoreError } from '../../log/store/store.ts'
import { readPosition } from '../../log/stream/engine-position.ts'
import type { StoreComparison } from '../../log/message/compare-store.ts'
import { compareStore } from '../../log/message/compare-store.ts'
import { readMessages } from '../stream/read-messages.ts'

type CheckSettings = Readonly<{
  connect(stream: number): Promise<EngineConnection>
  /** File of a store that nobody writes, to compare with the streams; null without one. */
  store: string | null
  /** Stream to begin with; null for that of the store, or the first one. */
  stream: number | null
  signal: AbortSignal
  /** Called with the number of messages that were read. */
  onProgress(messages: number): void
}>

/** Findings in the streams of a log. */
export type CheckedStreams = Readonly<{
  /** Faults, one sentence each. The first fault of a stream ends its reading. */
  faults: readonly string[]
  /** Remarks that are no faults, one sentence each. */
  notices: readonly string[]
  messages: number
  end: ChainEnd
}>

/**
 * Reads the streams of a log from their engine, and holds each message against the one before it: place, digest, signature
 * of its node, seq and root. With a store, compares its position, its kept messages and its lines with them. Throws an
 * `EngineError` when the engine cannot be read, and a StoreError for a store whose log is on no engine.
 */
export async function checkStreams(settings: CheckSettings): Promise<CheckedStreams> {
  const { store } = settings
  if (store === null) return await checkWith(settings, null)
  const db = openForReading(store)
  try {
    return await checkWith(settings, db)
  } finally {
    db.close()
  }
}

async function checkWith(settings: CheckSettings, db: DatabaseSync | null): Promise<CheckedStreams> {
  const position = db === null ? null : readPosition(db)
  if (db !== null && position === null) {
    throw new StoreError('the log of this directory is on no engine: check it without --log-store')
  }
  const first = settings.stream ?? position?.stream ?? FIRST_STREAM
  const comparison = db === null ? null : compareStore(db)
  const chain = openStreamChain({
    stream: first,
    prev: position?.stream === first && position.place === 0 ? position.digest : null,
    treeAt: (size) => comparison?.treeAt(size) ?? null,
  })
  const reading: Reading = {
    ...settings,
    chain,
    comparison,
    faults: [],
    notices: [],
    messages: 0,
  }
  for (let stream = first; ; stream += 1) {
    const isSealed = await readStream(reading, stream, stream === first)
    if (!isSealed) break
    if (chain.end().sealed === 'back') {
      reading.notices.push(`stream ${stream} is sealed: the log was taken off the engine`)
      break
    }
  }
  if (reading.faults.length === 0 && chain.end().isMoving) reading.faults.push(MOVING)
  if (reading.faults.length === 0) reading.faults.push(...(reading.comparison?.end(chain.end()) ?? []))
  reading.notices.push(...(reading.comparison?.notices(chain.end()) ?? []))
  const { faults, notices, messages } = reading
  return { faults, notices, messages, end: chain.end() }
}

const MOVING = 'the move of the log to this engine has not ended: run daybook cluster move again'

type Reading = Pick<CheckSettings, 'connect' | 'signal' | 'onProgress'> & {
  readonly chain: StreamChain
  readonly comparison: StoreComparison | null
  readonly faults: string[]
  readonly notices: string[]
  messages: number
}

/** Reads one stream to its end. Returns whether it is sealed, and the next one is to be read. */
async function readStream(reading: Reading, stream: number, isFirst: boolean): Promise<boolean> {
  try {
    await using connection = await reading.connect(stream)
    const complaints = await connection.inspect()
    const last = await connection.log.last()
    reading.faults.push(...complaints)
    if (last === 0 && isFirst) reading.faults.push(`stream ${stream} has no message`)
    if (last === 0 && !isFirst)
      reading.notices.push(`stream ${stream - 1} is sealed, and the next one is empty`)
    return await checkMessages(reading, connection, stream, last)
  } catch (error) {
    if (isFirst || !(error instanceof EngineError)) throw error
    reading.notices.push(
      `stream ${stream - 1} is sealed, and stream ${stream} cannot be read: ${error.message}`,
    )
    return false
  }
}

async function checkMessages(
  reading: Reading,
  connection: EngineConnection,
  stream: number,
  last: number,
): Promise<boolean> {
  const { chain, comparison, faults, signal, onProgress } = reading
  for (let place = 1; place <= last;) {
    const messages = await readMessages(connection, place, MESSAGE_BYTES_MAX, signal)
    for (const { place: at, bytes } of messages.filter((message) => message.place <= last)) {
      const added = chain.end().stream === stream ? chain.add(at, bytes) : { fault: 'it follows a seal' }
      const fault = added.fault ?? comparison?.faultOf({ stream, place: at }, bytes, added.message) ?? null
      if (fault !== null) {
        faults.push(`stream ${stream}, place ${at}: ${fault}`)
        return false
      }
      place = at + 1
      reading.messages += 1
    }
    onProgress(reading.messages)
  }
  return chain.end().stream > stream
}
