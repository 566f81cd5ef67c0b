import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, openSync, closeSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NatsConnection } from '@nats-io/transport-node'
import type { EngineConnection } from '../../src/engine/log-engine.ts'
import { connectNats, openNats } from '../../src/engine/nats/nats-connection.ts'
import { accountsConfig, makeNatsUser, makeStream } from '../../src/engine/nats/nats-setup.ts'
import type { NatsTarget } from '../../src/engine/nats/nats-target.ts'
import { parseNatsUrl } from '../../src/engine/nats/nats-target.ts'
import type { FaultRelay } from '../torture/history/fault-relay.ts'
import { openFaultRelay } from '../torture/history/fault-relay.ts'
import { freePorts } from '../processes/free-ports.ts'
import { endProgram, spawnTied, until } from '../processes/other-program.ts'
import { NATS_SERVER } from './nats-program.ts'

const ANSWER_MS = 1_000
const BROKERS = 3
const monotonicMs = (): number => performance.now()

/** One broker of the cluster, as a process of its own. */
type NatsBroker = Readonly<{
  name: string
  url: string
  /** Process id while it runs. */
  pid(): number
  /** Starts it, with other lines in its configuration if given, and another address for the other brokers. */
  start(changes?: Readonly<{ jetstream?: string; top?: string; cluster?: string }>): void
  kill(): Promise<void>
  pause(): void
  resume(): void
  /**
   * Sets the network to the other brokers. Clients still reach the broker. `held` keeps the bytes for later, `cut` closes
   * the connections.
   */
  network(state: 'open' | 'held' | 'cut'): void
}>

/** Three brokers on this machine, that sync before they acknowledge. Disposal ends them and removes their files. */
type NatsRig = AsyncDisposable &
  Readonly<{
    brokers: readonly NatsBroker[]
    /** Seeds of the two users. */
    administrator: string
    running: string
    /** Opens a stream as a writer does; at given brokers only, if any. */
    open(stream: number, at?: readonly NatsBroker[]): Promise<EngineConnection>
    /** Connects as the administrator until the rig ends, for tests that do harm; at given brokers only, if any. */
    admin(at?: readonly NatsBroker[]): Promise<NatsConnection>
    /** Makes a stream as `cluster init` does, and waits until an append can succeed. */
    make(stream: number): Promise<void>
    /** The broker that leads a stream, and the others. */
    leaderOf(stream: number): Promise<Readonly<{ leader: NatsBroker; others: readonly NatsBroker[] }>>
  }>

/** Starts three brokers, and waits until they can make streams. */
export async function startNatsRig(): Promise<NatsRig> {
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'daybook-nats-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const administrator = makeNatsUser()
  const running = makeNatsUser()
  writeFileSync(join(folder, 'accounts.conf'), accountsConfig(administrator.publicKey, running.publicKey))
  const ports = await freePorts(2 * BROKERS)
  const relays = new Map<string, FaultRelay>()
  for (let from = 0; from < BROKERS; from++) {
    for (let to = 0; to < BROKERS; to++) {
      if (from !== to)
        relays.set(`${from}-${to}`, stack.use(await openFaultRelay(() => ports[BROKERS + to] ?? null)))
    }
  }
  const brokers = Array.from({ length: BROKERS }, (_, at) =>
    stack.use(openBroker(folder, at, ports, (from, to) => relays.get(`${from}-${to}`))),
  )
  const target = (at: readonly NatsBroker[]): NatsTarget =>
    parseNatsUrl(`nats://${at.map(({ url }) => url).join(',')}`, () => '')
  const admin = (at: readonly NatsBroker[] = brokers): Promise<NatsConnection> =>
    connectNats(target(at), administrator.seed, monotonicMs)
  for (const broker of brokers) broker.start()
  await until('the brokers can make streams', async () => {
    const nats = await admin()
    try {
      // Only the leader of the cluster answers.
      await nats.request('$JS.API.INFO', '', { timeout: ANSWER_MS })
      return true
    } finally {
      await nats.close()
    }
  })
  const kept = stack.move()
  return {
    brokers,
    administrator: administrator.seed,
    running: running.seed,
    async admin(at) {
      const nats = await admin(at)
      kept.defer(() => nats.close())
      return nats
    },
    open: (stream, at = brokers) =>
      openNats({ target: target(at), credentials: running.seed, stream, nowMs: Date.now, monotonicMs }),
    async make(stream) {
      const nats = await admin()
      // The leader of the cluster may not know all brokers yet.
      try {
        await until('the stream is made', () => makeStream(nats, stream).then(() => true))
        await leaderName(nats, stream)
      } finally {
        await nats.close()
      }
    },
    async leaderOf(stream) {
      const nats = await admin()
      const name = await leaderName(nats, stream).finally(() => nats.close())
      const leader = brokers.find((one) => one.name === name)
      if (leader === undefined) throw new Error(`a stranger leads: ${name}`)
      return { leader, others: brokers.filter((one) => one !== leader) }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Waits until a stream has a leader. */
async function leaderName(nats: NatsConnection, stream: number): Promise<string> {
  let name: string | undefined
  await until(`stream ${stream} has a leader`, async () => {
    const answer = await nats.request(`$JS.API.STREAM.INFO.daybook-${stream}`, '', { timeout: ANSWER_MS })
    name = answer.json<{ cluster?: { leader?: string } }>().cluster?.leader
    return name !== undefined
  })
  return name ?? ''
}

function openBroker(
  folder: string,
  at: number,
  ports: readonly number[],
  relay: (from: number, to: number) => FaultRelay | undefined,
): NatsBroker & AsyncDisposable {
  const name = `broker-${at + 1}`
  const home = join(folder, name)
  mkdirSync(home)
  const away = Array.from({ length: BROKERS }, (_, other) => relay(at, other)).filter(
    (one) => one !== undefined,
  )
  const here = Array.from({ length: BROKERS }, (_, other) => relay(other, at)).filter(
    (one) => one !== undefined,
  )
  const routes = away.map(({ port }) => `nats://127.0.0.1:${port}`)
  let child: ChildProcess | null = null
  const kill = async (): Promise<void> => {
    const ending = child
    child = null
    if (ending !== null) await endProgram(ending, 'SIGKILL')
  }
  return {
    name,
    url: `127.0.0.1:${ports[at] ?? 0}`,
    pid: () => child?.pid ?? 0,
    start({ jetstream = 'sync_interval: always', top = 'max_payload: 5MB', cluster = '127.0.0.1' } = {}) {
      const config = join(home, 'nats.conf')
      writeFileSync(
        config,
        `server_name: ${name}
listen: 127.0.0.1:${ports[at] ?? 0}
${top}
jetstream { store_dir: "${home}", ${jetstream} }
cluster {
  name: daybook
  listen: ${cluster}:${ports[BROKERS + at] ?? 0}
  # Nobody may go round the relays: the address that brokers tell each other is a closed port.
  advertise: "127.0.0.1:1"
  routes: ${JSON.stringify(routes)}
}
include "../accounts.conf"
`,
      )
      const log = openSync(join(home, 'log'), 'a')
      child = spawnTied(NATS_SERVER ?? '', ['-c', config], { stdio: ['ignore', log, log] })
      closeSync(log)
    },
    kill,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    network(state) {
      for (const one of [...away, ...here]) {
        if (state === 'open') one.heal()
        else if (state === 'held') one.stall('both')
        else one.refuse()
      }
    },
    [Symbol.asyncDispose]: kill,
  }
}
