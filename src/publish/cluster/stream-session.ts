import type { EngineConnection } from '../../engine/log-engine.ts'
import { EngineError } from '../../engine/log-engine.ts'
import type { BookChange } from '../replica/book-follower.ts'
import type { Book } from '../replica/replica-book.ts'
import type { OwnMark } from '../replica/marking.ts'
import type { MarkKeys } from '../marks/sealed-mark.ts'
import type { KnownWriters } from '../marks/other-writers.ts'
import type { ReplicaNotice } from '../replica/replica-notice.ts'
import type { StopCause } from '../replica/replica-stop.ts'
import type { Replica } from '../replica/replica.ts'
import { openReplica } from '../replica/replica.ts'
import type { ForkEvidence } from '../replica/tail-check.ts'
import { openLateConnection } from './late-connection.ts'
import { hasNextStream } from './next-stream.ts'

/** A replica of one stream of the log, with its connection. */
export type StreamSession = AsyncDisposable & Readonly<{ stream: number; replica: Replica }>

type SessionSettings = Readonly<{
  book: Book
  /** Stream of the newest message in the books. */
  present(): number
  connect(stream: number): Promise<EngineConnection>
  /** Reason why nothing is published in this stream; null when it is. */
  stopped: StopCause | null
  /** Waits, or rejects when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
  monotonicMs(): number
  nowMs(): number
  random(): number
  own(): OwnMark
  keys(): MarkKeys
  known: KnownWriters
  evidence: ForkEvidence
  mayRetry(error: unknown): boolean
  accepts(): boolean
  onBooks(change: BookChange): void
  onNotice(notice: ReplicaNotice): void
  onRefused(reason: string): void
}>

/** Opens the replica of the stream that the books are in. It connects when the engine answers. */
export function openStreamSession(settings: SessionSettings): StreamSession {
  const { sleep, monotonicMs, stopped } = settings
  const stream = settings.present()
  const late = openLateConnection({
    async connect() {
      if (stopped?.is === 'ended') throw new EngineError(stopped.reason)
      return await settings.connect(stream)
    },
    sleep,
    onRefused(reason) {
      if (stopped?.is !== 'ended') settings.onRefused(reason)
    },
  })
  const connection = ofStream(late, () => settings.present() === stream)
  const timers = { now: monotonicMs, sleep }
  const hasNext = (): Promise<boolean> => hasNextStream(settings.connect, { ...settings.own(), stream })
  const replica = openReplica({ ...settings, connection, timers, hasNextStream: hasNext })
  return {
    stream,
    replica,
    async [Symbol.asyncDispose]() {
      await replica[Symbol.asyncDispose]()
      await late[Symbol.asyncDispose]()
    },
  }
}

/** A connection whose stream may be sealed: then nothing more is read or appended there. */
function ofStream(connection: EngineConnection, isPresent: () => boolean): EngineConnection {
  const { log } = connection
  const refuse = (): void => {
    if (!isPresent()) throw new EngineError('the stream is sealed, and the next one is being opened')
  }
  return {
    ...connection,
    log: {
      ...log,
      append: async (place, bytes) => (isPresent() ? log.append(place, bytes) : 'taken'),
      async read(from, bytesMax) {
        refuse()
        return log.read(from, bytesMax)
      },
      async last() {
        refuse()
        return log.last()
      },
    },
  }
}
