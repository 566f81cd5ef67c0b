import { AuthorizationError, connect, credsAuthenticator, nkeyAuthenticator } from '@nats-io/transport-node'
import type { Authenticator, NatsConnection } from '@nats-io/transport-node'
import type { EngineConnection } from '../log-engine.ts'
import { EngineError } from '../log-engine.ts'
import { askBrokers, RAFTZ } from './broker-replies.ts'
import { findGroup, inspectNats } from './nats-guards.ts'
import { openNatsLog } from './nats-log.ts'
import { INBOX_PREFIX, MARKS_SUBJECT } from './nats-names.ts'
import type { NatsTarget } from './nats-target.ts'
import { tlsOptionsOf } from './nats-target.ts'
import type { StreamGroup } from './read-barrier.ts'
import { readBarrier } from './read-barrier.ts'

const CONNECT_MS = 3_000
const RECONNECT_MS = 250
/** A broker that answers no ping for two of these is left: it may be paused. */
const PING_MS = 2_000
/** A change of leader is noticed after this at the latest. */
const LEADER_LOOK_MS = 5_000
const STALL_MS = 200

type ClockOffset = Awaited<ReturnType<EngineConnection['clockOffset']>>

/** How to open a connection with a stream. */
type NatsOptions = Readonly<{
  target: NatsTarget
  /** Content of the credentials file: the seed of an nkey (`SU…`), or a file that `nsc` made; null on loopback only. */
  credentials: string | null
  /** Number of the stream. */
  stream: number
  /** Our clock: milliseconds since 1970. */
  nowMs: () => number
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
}: NatsOptions): Promise<EngineConnection> {
  const nats = await connectNats(target, credentials)
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
  const look = setInterval(() => void last().catch(() => undefined), LEADER_LOOK_MS)
  look.unref()
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
    clockOffset: () => measureClocks(nats, nowMs),
    inspect: () => inspectNats(nats, stream, target),
    async [Symbol.asyncDispose]() {
      clearInterval(look)
      await nats.close()
    },
  }
}

/** Connects with any of the brokers, as the user of the credentials. Throws an `EngineError`. */
export async function connectNats(target: NatsTarget, credentials: string | null): Promise<NatsConnection> {
  if (credentials === null && !target.isLoopback) {
    throw new EngineError('the brokers are on other machines: give a credentials file')
  }
  const authenticator = credentials === null ? null : authenticatorOf(credentials)
  try {
    return await connect({
      servers: [...target.servers],
      tls: tlsOptionsOf(target),
      ...(authenticator === null ? {} : { authenticator }),
      name: 'daybook',
      inboxPrefix: INBOX_PREFIX,
      // The brokers that the operator has named, and no other that the cluster announces.
      ignoreClusterUpdates: true,
      ignoreAuthErrorAbort: true,
      timeout: CONNECT_MS,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT_MS,
      pingInterval: PING_MS,
      noAsyncTraces: true,
    })
  } catch (cause) {
    const last = cause instanceof Error ? cause.message : String(cause)
    const why =
      cause instanceof AuthorizationError ? 'they refuse the credentials' : `the last one says: ${last}`
    throw new EngineError(`the brokers ${target.servers.join(', ')} take no connection: ${why}`, { cause })
  }
}

function authenticatorOf(credentials: string): Authenticator {
  const bytes = new TextEncoder().encode(credentials.trim())
  if (/^SU[A-Z2-7]{56}$/.test(credentials.trim())) return nkeyAuthenticator(bytes)
  if (credentials.includes('-----BEGIN NATS USER JWT-----')) return credsAuthenticator(bytes)
  throw new EngineError('the credentials file has neither the seed of a user (SU…) nor what nsc writes')
}

async function watchStatus(nats: NatsConnection, changed: (what: string) => void): Promise<void> {
  for await (const status of nats.status()) {
    if (status.type === 'reconnect') changed(`connected again, with ${status.server}`)
  }
}

/** Offset of the clocks of the brokers, as their median: one wrong clock changes nothing. */
async function measureClocks(nats: NatsConnection, nowMs: () => number): Promise<ClockOffset> {
  const startMs = nowMs()
  const measured: ClockOffset[] = []
  await askBrokers(nats, RAFTZ, { group: '-' }, { stallMs: STALL_MS }, ({ broker }) => {
    const endMs = nowMs()
    const offsetMs = Date.parse(broker.time) - (startMs + endMs) / 2
    measured.push({ offsetMs, errorMs: (endMs - startMs) / 2 })
    return measured.length === 3
  })
  const sorted = measured.toSorted((one, other) => one.offsetMs - other.offsetMs)
  const middle = sorted[Math.floor((sorted.length - 1) / 2)]
  if (middle === undefined) throw new EngineError('no broker tells the time')
  return middle
}
