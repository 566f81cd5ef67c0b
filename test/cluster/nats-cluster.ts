import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startNatsRig } from '../engine/nats-rig.ts'
import { until } from '../processes/other-program.ts'
import type { ClusterEngine } from './cluster-engine.ts'
import type { ClusterFault } from './cluster.ts'

const STREAM = 1
const LEADER_MS_MAX = 60_000

type Broker = Awaited<ReturnType<typeof startNatsRig>>['brokers'][number]

/** Three NATS brokers with one stream. */
export async function openNatsEngine(folder: string): Promise<ClusterEngine> {
  const rig = await startNatsRig()
  await rig.make(STREAM)
  const credentials = join(folder, 'nats-credentials')
  writeFileSync(credentials, rig.running, { mode: 0o600 })
  const connection = await rig.open(STREAM)
  const { brokers } = rig
  const leader = async (): Promise<readonly Broker[]> => [(await rig.leaderOf(STREAM)).leader]
  const others = async (): Promise<readonly Broker[]> => (await rig.leaderOf(STREAM)).others
  const fault = (
    name: string,
    of: () => Promise<readonly Broker[]>,
    begin: (broker: Broker) => Promise<void>,
    heal: (broker: Broker) => void,
  ): ClusterFault => ({
    name,
    place: 'engine',
    async fire() {
      const hit = await of()
      await Promise.all(hit.map(begin))
      return { heal: async () => hit.forEach(heal) }
    },
  })
  const kinds = [
    ['kill', async (one: Broker) => one.kill(), (one: Broker) => one.start()],
    ['pause', async (one: Broker) => one.pause(), (one: Broker) => one.resume()],
    ['part', async (one: Broker) => one.network('held'), (one: Broker) => one.network('open')],
    ['cut off', async (one: Broker) => one.network('cut'), (one: Broker) => one.network('open')],
  ] as const
  return {
    log: connection.log,
    ports: brokers.map(({ url }) => Number(new URL(`nats://${url}`).port)),
    words(ports) {
      const servers = ports.map((port) => `127.0.0.1:${port}`).join(',')
      return ['--log-store', `nats://${servers}`, '--log-store-credentials', credentials]
    },
    faults: kinds.flatMap(([how, begin, heal]) => [
      fault(`${how} the leader of the stream`, leader, begin, heal),
      fault(`${how} both followers of the stream`, others, begin, heal),
      fault(`${how} all brokers`, async () => brokers, begin, heal),
      ...brokers.map((broker) => fault(`${how} ${broker.name}`, async () => [broker], begin, heal)),
    ]),
    hasLeader: () =>
      until('the stream has a leader', async () => (await connection.log.last()) >= 0, LEADER_MS_MAX),
    async [Symbol.asyncDispose]() {
      await connection[Symbol.asyncDispose]()
      await rig[Symbol.asyncDispose]()
    },
  }
}
