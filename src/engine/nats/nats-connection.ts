import { setTimeout as sleep } from 'node:timers/promises'
import { AuthorizationError, connect, nkeyAuthenticator } from '@nats-io/transport-node'
import type { Authenticator, NatsConnection } from '@nats-io/transport-node'
import type { EngineConnection } from '../log-engine.ts'
import { EngineError } from '../log-engine.ts'
import { askBrokers, RAFTZ } from './broker-replies.ts'
import { openDialOrder } from './dial-order.ts'
import { findGroup, inspectNats } from './nats-guards.ts'
import { openNatsLog } from './nats-log.ts'
import { INBOX_PREFIX, MARKS_SUBJECT } from './nats-names.ts'
import { connectFirst, endDial, leaveInTime } from './nats-socket.ts'
import type { NatsTarget } from './nats-target.ts'
import { isSeed, NO_SEED, tlsOptionsOf } from './nats-target.ts'
import type { StreamGroup } from './read-barrier.ts'
import { NoLeaderError, readBarrier } from './read-barrier.ts'
import { errorMessage } from '../../protocol/error-reason.ts'

const CONNECT_MS = 3_000
/** A broker that answers no ping for two of these is left: it may be paused. */
const PING_MS = 2_000
/** Pause between two looks at the leader, by which a change of leader and a broker without a majority are noticed. */
const LOOK_MS = 3_000
const STALL_MS = 200

type ClockOffset = Awaited<ReturnType<EngineConnection['clockOffset']>>

/** Settings of a connection with a stream. */
type NatsOptions = Readonly<{
  target: NatsTarget
  /** Seed of the user's key (`SU…`); null on loopback only. */
  credentials: string | null
  /** Number of the stream. */
  stream: number
  /** Our clock, in milliseconds since 1970, and one that never jumps. */
  nowMs: () => number
  monotonicMs: () => number
}>

/**
 * Connects with the brokers. It fails when none takes the connection; later it reconnects by itself, without end.
 * Throws an `EngineError`, which has no credentials in it.
 */
export async function openNats({
  target,
  credentials,
  stream,
  nowMs,
  monotonicMs,
}: NatsOptions): Promise<EngineConnection> {
  const nats = await connectNats(target, credentials, monotonicMs)
  const listeners: ((what: string) => void)[] = []
  const changed = (what: string): void => {
    for (const listener of listeners) listener(what)
  }
  let group: StreamGroup | null = null
  let leader: string | null = null
  const last = async (): Promise<number> => {
    group ??= await findGroup(nats, stream)
    try {
      return await readBarrier(nats, group, ({ id, term }) => {
        const seen = `${id} in term ${term}`
        const isOther = leader !== null && leader !== seen
        leader = seen
        if (isOther) changed(`the stream has another leader: ${seen}`)
      })
    } catch (error) {
      // A stream that was made anew has another group.
      group = null
      throw error
    }
  }
  void watchStatus(nats, changed)
  const looking = new AbortController()
  void keepLooking(nats, last, looking.signal)
  return {
    log: openNatsLog(nats, stream, last),
    tell(bytes) {
      if (!nats.isClosed()) nats.publish(MARKS_SUBJECT, bytes.slice())
    },
    onTold(listener) {
      nats.subscribe(MARKS_SUBJECT, {
        callback: (error, message) => {
          if (error === null) listener(message.data)
        },
      })
    },
    onChange: (listener) => void listeners.push(listener),
    clockOffset: () => measureClocks(nats, nowMs, monotonicMs),
    inspect: () => inspectNats(nats, stream, target),
    async [Symbol.asyncDispose]() {
      looking.abort()
      await nats.close()
    },
  }
}

/**
 * Connects with any of the brokers, as the user of the credentials. `monotonicMs` is a clock that never jumps. Throws an
 * `EngineError`.
 */
export async function connectNats(
  target: NatsTarget,
  credentials: string | null,
  monotonicMs: () => number,
): Promise<NatsConnection> {
  if (credentials === null && !target.isLoopback) {
    throw new EngineError('the brokers are on other machines: give a credentials file')
  }
  const authenticator = credentials === null ? null : authenticatorOf(credentials)
  try {
    const nats = await connectFirst(() =>
      connect({
        servers: [...target.servers],
        tls: tlsOptionsOf(target),
        ...(authenticator === null ? {} : { authenticator }),
        name: 'daybook',
        inboxPrefix: INBOX_PREFIX,
        // The brokers that the operator has named, and no other that the cluster announces.
        ignoreClusterUpdates: true,
        ignoreAuthErrorAbort: true,
        // The library's own pace would stop at a clock that was put back.
        reconnectDelayHandler: () => Number.NEGATIVE_INFINITY,
        reconnectToServer: openDialOrder(monotonicMs),
        timeout: CONNECT_MS,
        maxReconnectAttempts: -1,
        pingInterval: PING_MS,
        noAsyncTraces: true,
      }),
    )
    // The library forgets each broker that takes no connection at the start.
    nats.setServers([...target.servers])
    void leaveInTime(nats)
    void endDial(nats)
    return nats
  } catch (cause) {
    const last = errorMessage(cause)
    const why =
      cause instanceof AuthorizationError ? 'they refuse the credentials' : `the last one says: ${last}`
    throw new EngineError(`the brokers ${target.servers.join(', ')} take no connection: ${why}`, { cause })
  }
}

function authenticatorOf(credentials: string): Authenticator {
  if (isSeed(credentials)) return nkeyAuthenticator(new TextEncoder().encode(credentials.trim()))
  throw new EngineError(`the credentials file has ${NO_SEED}`)
}

async function watchStatus(nats: NatsConnection, changed: (what: string) => void): Promise<void> {
  for await (const status of nats.status()) {
    if (status.type === 'reconnect') changed(`connected again, with ${status.server}`)
  }
}

/**
 * Looks at the end of the log now and then. A broker that was cut off from the others still takes connections, but can do
 * nothing with them: when no majority answers through it, the connection goes on to the next broker.
 */
async function keepLooking(
  nats: NatsConnection,
  last: () => Promise<number>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await sleep(LOOK_MS, undefined, { signal, ref: false })
      await last()
    } catch (error) {
      if (signal.aborted || nats.isClosed() || error instanceof NoLeaderError) continue
      await nats.reconnect().catch(() => undefined)
    }
  }
}

/**
 * Offset of the clocks of the brokers, as their median: one wrong clock changes nothing. The round trip is measured with
 * the clock that never jumps, so a step of ours meanwhile does not make the answer look exact.
 */
async function measureClocks(
  nats: NatsConnection,
  nowMs: () => number,
  monotonicMs: () => number,
): Promise<ClockOffset> {
  const [beganMs, begun] = [nowMs(), monotonicMs()]
  const measured: ClockOffset[] = []
  await askBrokers(nats, RAFTZ, { group: '-' }, { stallMs: STALL_MS }, ({ broker }) => {
    const errorMs = (monotonicMs() - begun) / 2
    measured.push({ offsetMs: Date.parse(broker.time) - beganMs - errorMs, errorMs })
    return measured.length === 3
  })
  const sorted = measured.toSorted((one, other) => one.offsetMs - other.offsetMs)
  const middle = sorted[Math.floor((sorted.length - 1) / 2)]
  if (middle === undefined) throw new EngineError('no broker tells the time')
  return middle
}
