import { connect } from '@nats-io/transport-node'
import type { NatsConnection } from '@nats-io/transport-node'
import { MissingStreamError } from '../log-engine.ts'
import type { BrokerSettings, RunningUser, StreamReplica } from './broker-replies.ts'
import { askBrokers, askUser, JSZ, streamIn, VARZ } from './broker-replies.ts'
import { covers, NEEDED, streamName } from './nats-names.ts'
import type { NatsTarget } from './nats-target.ts'
import { isLoopbackHost, tlsOptionsOf } from './nats-target.ts'
import type { StreamGroup } from './read-barrier.ts'
import { configFaults, PAYLOAD_BYTES_MIN } from './stream-settings.ts'

const VERSION_MIN: readonly [number, number] = [2, 12]
const STRANGER_MS = 2_000
/** Wait for further brokers: the cluster may have more than those of the stream. */
const STALL_MS = 200

/**
 * Faults of the brokers, the stream and the running user. A broker that does not answer is no fault: it is
 * looked at when it is back. Throws an `EngineError` when no broker answers.
 */
export async function inspectNats(
  nats: NatsConnection,
  stream: number,
  target: NatsTarget,
): Promise<readonly string[]> {
  const user = await askUser(nats)
  const faults = [...userFaults(user), ...(target.isLoopback ? [] : await strangerFaults(target))]
  await askBrokers(nats, VARZ, {}, { stallMs: STALL_MS }, ({ broker, said }) => {
    faults.push(...brokerFaults(broker.name, said, target.isLoopback))
    return false
  })
  const replicas: StreamReplica[] = []
  const question = { account: user.account, streams: true, config: true }
  await askBrokers(nats, JSZ, question, { stallMs: STALL_MS }, ({ said }) => {
    const found = streamIn(said, user.account, streamName(stream))
    if (found !== undefined) replicas.push(found)
    return false
  })
  if (replicas.length === 0) faults.push(missingStream(stream))
  // The brokers agree as a rule: each difference is named once.
  for (const replica of replicas) faults.push(...configFaults(stream, replica.config), ...gapFaults(replica))
  return [...new Set(faults)]
}

/** Fault of an account that has no stream of this number. */
function missingStream(stream: number): string {
  return `the brokers have no stream ${streamName(stream)}: make it with \`daybook cluster init\``
}

function brokerFaults(name: string, broker: BrokerSettings, isLoopback: boolean): readonly string[] {
  const faults: string[] = []
  const [major = 0, minor = 0] = broker.version.split('.').map(Number)
  if (major < VERSION_MIN[0] || (major === VERSION_MIN[0] && minor < VERSION_MIN[1])) {
    faults.push(`runs NATS ${broker.version}: it must be ${VERSION_MIN.join('.')} or newer`)
  }
  const { config } = broker.jetstream
  if (config !== undefined && !config.sync_always) {
    faults.push('acknowledges before its disk has synced: set `sync_interval: always` in `jetstream`')
  }
  if (broker.max_payload < PAYLOAD_BYTES_MIN) {
    faults.push(`has max_payload ${broker.max_payload}: it must be ${PAYLOAD_BYTES_MIN} at least`)
  }
  if (!isLoopback && !broker.tls_required) faults.push('accepts connections without TLS: set `tls`')
  if (!isLoopbackHost(broker.cluster.addr) && !broker.cluster.tls_required) {
    faults.push('talks to the other brokers without TLS: set `tls` in `cluster`')
  }
  return faults.map((fault) => `the broker ${name} ${fault}`)
}

/** Connects without credentials: only that shows `no_auth_user`, which lets anybody in as a user. */
async function strangerFaults(target: NatsTarget): Promise<readonly string[]> {
  const lets = await Promise.all(
    target.servers.map(async (server) => {
      try {
        const stranger = await connect({
          servers: server,
          tls: tlsOptionsOf(target),
          reconnect: false,
          ignoreClusterUpdates: true,
          timeout: STRANGER_MS,
        })
        await stranger.close()
        return [`the broker at ${server} lets anybody in: give it users, and no \`no_auth_user\``]
      } catch {
        return []
      }
    }),
  )
  return lets.flat()
}

function gapFaults({ name, state }: StreamReplica): readonly string[] {
  const { messages, first_seq: first, last_seq: last, num_deleted: deleted } = state
  if (last === 0 || (first === 1 && messages === last && deleted === 0)) return []
  return [`the stream ${name} has ${messages} messages of ${last}: some were deleted`]
}

/** The user may do exactly what it needs: whoever steals its key must not be able to change history. */
function userFaults({ permissions }: RunningUser): readonly string[] {
  const faults: string[] = []
  for (const way of ['publish', 'subscribe'] as const) {
    const { allow, deny } = permissions?.[way] ?? {}
    const allowed = allow ?? ['>']
    for (const subject of allowed) {
      if (NEEDED[way].some((needed) => covers(needed, subject))) continue
      faults.push(`the running user may ${way} to ${subject}, which it does not need: take it away`)
    }
    for (const needed of NEEDED[way]) {
      const isDenied = deny?.some((subject) => covers(subject, needed) || covers(needed, subject)) ?? false
      if (!isDenied && allowed.some((subject) => covers(subject, needed))) continue
      faults.push(`the running user may not ${way} to ${needed}, which it needs: allow it`)
    }
  }
  if (permissions?.responses !== undefined && permissions.responses !== null) {
    faults.push('the running user may answer to any subject: take `allow_responses` away')
  }
  return faults
}

/** The account of the connection, and the Raft group of the stream. Throws a `MissingStreamError` when there is none. */
export async function findGroup(nats: NatsConnection, stream: number): Promise<StreamGroup> {
  const { account } = await askUser(nats)
  let group: string | undefined
  await askBrokers(nats, JSZ, { account, streams: true }, { stallMs: STALL_MS }, ({ said }) => {
    group = streamIn(said, account, streamName(stream))?.cluster?.raft_group
    return group !== undefined
  })
  if (group === undefined) throw new MissingStreamError(missingStream(stream))
  return { account, stream: streamName(stream), group }
}
