import { setTimeout as sleep } from 'node:timers/promises'
import { JetStreamApiError, jetstream } from '@nats-io/jetstream'
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import type { Appended, EngineMessage, LogEngine } from '../log-engine.ts'
import { ATTEMPT_MS_MAX, EngineError, MESSAGE_BYTES_MAX } from '../log-engine.ts'
import { askForMany } from './ask-for-many.ts'
import { commitsSubject, directSubject, hintsSubject, streamName } from './nats-names.ts'

const READ_MS_MAX = 5_000
const READ_MESSAGES_MAX = 10_000
const LOOK_AGAIN_MS = 5
/** Pause before a read that no replica took is sent again. */
const NO_REPLICA_MS = 50
/** Pause before a reader that was woken for nothing may ask again. */
const FALSE_HINT_MS = 20
/** Part of an attempt that is left for the proof that a place is taken. */
const PROOF_MS = 100
/** Longest wait for a competitor's message that the leader has proposed. */
const PROPOSED_MS_MAX = 250

/**
 * Errors of JetStream that mean: this leader did not append the message. Every other answer is `unknown`, because a
 * message that was proposed may be appended later: a time-out, a lost connection, no responders, a refused limit.
 *
 * - 10071 `wrong last sequence: N`: compared before the message is proposed, and again when it is applied.
 * - 10164 `wrong last sequence`: the same, without the number.
 */
const REFUSED_CODES: readonly number[] = [10_071, 10_164]

/** The broker knows no replica of the stream that takes reads. */
class NoReplicaError extends EngineError {
  override readonly name = 'NoReplicaError'
}

/** Opens the four calls on one stream. `last` is the read barrier; `onHint` registers a listener for newest places. */
export function openNatsLog(nats: NatsConnection, stream: number, last: () => Promise<number>): LogEngine {
  const client = jetstream(nats, { timeout: ATTEMPT_MS_MAX })
  const hints = openHints(nats, hintsSubject(stream))
  const read = async (from: number, bytesMax: number): Promise<readonly EngineMessage[]> => {
    const messages = await readDirect(nats, stream, from, bytesMax)
    hints.see(messages.at(-1)?.place ?? 0)
    return messages
  }
  const lastSeen = async (): Promise<number> => {
    const place = await last()
    hints.see(place)
    return place
  }

  /** Publishes once. The library sends a message once only, also when it reconnects. */
  async function offer(place: number, bytes: Uint8Array, ms: number): Promise<Appended | 'refused'> {
    try {
      const ack = await client.publish(commitsSubject(stream), bytes, {
        expect: { lastSequence: place - 1, streamName: streamName(stream) },
        timeout: ms,
        retries: 1,
      })
      return ack.seq === place && !ack.duplicate && ack.stream === streamName(stream) ? 'appended' : 'unknown'
    } catch (error) {
      return error instanceof JetStreamApiError && REFUSED_CODES.includes(error.code) ? 'refused' : 'unknown'
    }
  }

  /**
   * Proves a refusal. After a partition or a pause, two leaders may get the same message: the deposed one refuses it, and
   * its answer may come before that of the new one, which appends it. So a refusal counts only when the place has other
   * bytes, or when a read barrier shows that the place before is empty.
   */
  async function proveTaken(place: number, bytes: Uint8Array, limit: AbortSignal): Promise<Appended> {
    const proposed = AbortSignal.timeout(PROPOSED_MS_MAX)
    while (!limit.aborted) {
      const [there] = await read(place, 1)
      if (there !== undefined) return Buffer.compare(there.bytes, bytes) === 0 ? 'unknown' : 'taken'
      const end = await lastSeen()
      if (end < place - 1) return 'taken'
      // The place is free: the leader has proposed a message of another, or was deposed.
      if (end === place - 1 && proposed.aborted) return 'unknown'
      await sleep(LOOK_AGAIN_MS)
    }
    return 'unknown'
  }

  async function attempt(place: number, bytes: Uint8Array): Promise<Appended> {
    if (bytes.length > MESSAGE_BYTES_MAX) return 'unknown'
    const limit = AbortSignal.timeout(ATTEMPT_MS_MAX)
    const answer = await offer(place, bytes, ATTEMPT_MS_MAX - PROOF_MS)
    if (answer === 'refused') return await proveTaken(place, bytes, limit)
    if (answer === 'appended') hints.give(place)
    return answer
  }

  return {
    read,
    last: lastSeen,
    wait: (from, msMax) => hints.wait(from, msMax),
    async append(place, bytes) {
      const late = Promise.withResolvers<Appended>()
      const timer = setTimeout(() => late.resolve('unknown'), ATTEMPT_MS_MAX)
      // The library may send the bytes after the answer, when it reconnects: the caller may have changed them by then.
      const answer = attempt(place, bytes.slice()).catch((): Appended => 'unknown')
      return await Promise.race([answer, late.promise]).finally(() => clearTimeout(timer))
    },
  }
}

/**
 * Reads messages from any replica. A broker says that there is none (503) for a moment after the stream was made, or while
 * it joins the others again, so it is asked until the time limit of a read.
 */
async function readDirect(
  nats: NatsConnection,
  stream: number,
  from: number,
  bytesMax: number,
): Promise<readonly EngineMessage[]> {
  const limit = AbortSignal.timeout(READ_MS_MAX)
  for (;;) {
    try {
      return await readBatch(nats, stream, from, bytesMax)
    } catch (error) {
      const isNone = error instanceof EngineError && error.cause instanceof NoReplicaError
      if (!isNone || limit.aborted) throw error
      await sleep(NO_REPLICA_MS)
    }
  }
}

/**
 * Reads messages from any replica, by a direct batch. The replica stops when `bytesMax` is exceeded, so the last message
 * is left out unless it is the only one. Keeps the messages that came when the replica goes silent.
 */
async function readBatch(
  nats: NatsConnection,
  stream: number,
  from: number,
  bytesMax: number,
): Promise<readonly EngineMessage[]> {
  const messages: EngineMessage[] = []
  let size = 0
  const question = JSON.stringify({ seq: from, batch: READ_MESSAGES_MAX, max_bytes: bytesMax })
  try {
    await askForMany(nats, directSubject(stream), question, READ_MS_MAX, (message, end) => {
      if (isEnd(message)) return end()
      const place = Number(message.headers?.last('Nats-Sequence'))
      const expected = from + messages.length
      if (place !== expected) throw new EngineError(`message ${expected} is missing, and ${place} follows`)
      size += message.data.length
      if (size <= bytesMax || messages.length === 0) messages.push({ place, bytes: message.data })
      if (size > bytesMax) end()
    })
  } catch (cause) {
    if (messages.length === 0) {
      const why = cause instanceof EngineError ? `: ${cause.message}` : ''
      throw new EngineError(`${streamName(stream)} cannot be read from message ${from} on${why}`, { cause })
    }
  }
  return messages
}

/** Whether the answer ends the batch: 204 after messages, 404 when there is none. Throws for every other status. */
function isEnd(message: Msg): boolean {
  const code = message.headers?.code ?? 0
  if (code === 204 || code === 404) return true
  if (code === 503) throw new NoReplicaError('no replica can be asked')
  if (code !== 0) throw new EngineError(`status ${code}`)
  return false
}

type Hints = Readonly<{
  see(place: number): void
  give(place: number): void
  wait(from: number, msMax: number): Promise<void>
}>

/** Hints over core NATS: the writer of a message tells the others its place. A lost hint costs waiting only. */
function openHints(nats: NatsConnection, subject: string): Hints {
  let newest = 0
  let answered = 0
  const waiting = new Map<() => void, number>()
  const see = (place: number): void => {
    if (!Number.isSafeInteger(place) || place <= newest) return
    newest = place
    for (const [wake, from] of waiting) if (from <= newest) wake()
  }
  nats.subscribe(subject, {
    callback: (error, message) => {
      if (error === null) see(Number(message.string()))
    },
  })
  return {
    see,
    give(place) {
      see(place)
      if (!nats.isClosed()) nats.publish(subject, String(place))
    },
    async wait(from, msMax) {
      if (newest >= from) {
        // A replica that lags, or a false hint, must not make the caller ask without pause.
        if (answered === from) await sleep(Math.min(FALSE_HINT_MS, msMax))
        answered = from
        return
      }
      const woken = Promise.withResolvers<void>()
      const timer = setTimeout(() => woken.resolve(), msMax)
      waiting.set(woken.resolve, from)
      await woken.promise
      waiting.delete(woken.resolve)
      clearTimeout(timer)
    },
  }
}
