import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { randomOf } from '../../../sim/random.ts'
import { type ChainServers, openClusterStage } from '../../torture/history/cluster-stage.ts'
import type { Cluster, ClusterFault, Companion } from '../../torture/history/cluster.ts'
import { openFaultRelay } from '../../torture/history/fault-relay.ts'
import { type FaultyNode, startFaultyNode } from '../../torture/history/faulty-node.ts'
import { auditTable, moveFirstLog } from './first-log.ts'
import { leaderFaults, type Writer } from './leader-faults.ts'
import { hasPooler, startPooler } from './pooler.ts'
import { serverFaults } from './server-faults.ts'
import { openServerPair, type ServerPair, type Slot } from './server-pair.ts'
import { DATABASE, makeTable, ROLE } from './table-form.ts'
import {
  clockFile,
  companyFaults,
  fillableDisk,
  machineFaults,
  type PooledPorts,
  poolerFault,
} from './writer-faults.ts'

const WRITERS = ['a', 'b', 'c'] as const
const SLOTS: readonly Slot[] = [0, 1]
const MIRRORS = ['mirror', 'mirror of the mirror']
const STEPPED_CLOCK = join(import.meta.dirname, '..', '..', 'torture', 'together', 'stepped-clock.ts')

/** Programs beside the nodes of a cluster. */
type Company = AsyncDisposable &
  Readonly<{
    companions: readonly Companion[]
    /** Options of each writer, and modules that are loaded before its code. */
    words: readonly string[]
    imports: readonly string[]
  }>

/** Programs that the cluster of a run has beside its nodes, and the servers of its chain. */
export type CompanySettings = Readonly<{
  chainServers: ChainServers
  open(
    facts: Readonly<{ folder: string; seed: string; keyFile: string; token: string; chainFaults(): number }>,
  ): Promise<Company>
}>

const ALONE: CompanySettings = {
  chainServers: 'one',
  open: async () => ({
    companions: [],
    words: [],
    imports: [],
    [Symbol.asyncDispose]: async () => undefined,
  }),
}

/** Three nodes that a table of PostgreSQL carries, a mirror of the first one, and a mirror of that mirror. */
export async function openTableCluster(
  folder: string,
  seed: string,
  settings: CompanySettings = ALONE,
): Promise<Cluster> {
  await using opening = new AsyncDisposableStack()
  const { token, pay, finals, writerWords, env, chainFaults, ...stage } = await openClusterStage(
    folder,
    seed,
    settings.chainServers,
  )
  opening.use(stage)
  const servers = opening.use(await openServerPair(folder))
  await makeTable(servers)
  const [firstName] = WRITERS
  const { keyFile, before } = await moveFirstLog({
    folder,
    data: join(folder, firstName),
    words: writerWords(join(folder, firstName)),
    env,
    clock: STEPPED_CLOCK,
    token,
    pay,
    url: urlOf(SLOTS.map((slot) => servers.port(slot))),
  })
  const company = opening.use(await settings.open({ folder, seed, keyFile, token, chainFaults }))
  const pooled: PooledPorts = new Map()
  const imports = [STEPPED_CLOCK, ...company.imports].map((path) => `--import=${path}`)
  const startWriter = async (name: string): Promise<Writer> => {
    const data = join(folder, name)
    const links = await Promise.all(
      SLOTS.map((slot) => openFaultRelay(() => pooled.get(name) ?? servers.port(slot))),
    )
    for (const link of links) opening.use(link)
    writeFileSync(clockFile(folder, name), '0')
    const own = ['--signing-key-file', keyFile, '--log-store', urlOf(links.map(({ port }) => port))]
    const faulty = await startFaultyNode({
      name,
      kind: 'writer',
      data,
      words: [...writerWords(data), ...own, ...company.words],
      links,
      env: {
        ...env,
        ...fillableDisk(folder, name, data),
        STEPPED_CLOCK: clockFile(folder, name),
        NODE_OPTIONS: [env['NODE_OPTIONS'] ?? '', ...imports].join(' '),
      },
    })
    return { faulty: opening.use(faulty), links }
  }
  const starting = WRITERS.map(startWriter)
  // All have started or failed before anything is closed.
  await Promise.allSettled(starting)
  const writers = await Promise.all(starting)
  const all: FaultyNode[] = writers.map(({ faulty }) => faulty)
  for (const [index, name] of MIRRORS.entries()) {
    const followed = index === 0 ? all[0] : all.at(-1)
    const link = opening.use(await openFaultRelay(() => portOf(followed?.node.url() ?? null)))
    const data = join(folder, name.replaceAll(' ', '-'))
    const ports = ['--port', '0', '--ops-port', '0', '--rate-limit', 'off', '--drain', '0']
    const words = ['mirror', `http://127.0.0.1:${link.port}`, '--data', data, ...ports]
    all.push(opening.use(await startFaultyNode({ name, kind: 'mirror', data, words, links: [link] })))
  }
  const faults = await faultsOf({ folder, seed, servers, writers, pooled, opening })
  const open = opening.move()
  return {
    nodes: all.map(({ node }) => node),
    token,
    pay,
    finals,
    before,
    companions: company.companions,
    faults: [
      ...all.flatMap((node) => node.faults),
      ...faults,
      ...company.companions.flatMap((one) => one.faults),
    ],
    hasLeader: servers.untilSynchronous,
    async stop() {
      const failed: string[] = []
      // Mirrors before what they follow.
      for (const { node, stop } of all.toReversed()) if ((await stop()) !== 0) failed.push(node.name)
      return failed
    },
    audit: () => auditTable(urlOf(SLOTS.map((slot) => servers.port(slot))), writers),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

/** Faults of a cluster besides those of every node. */
async function faultsOf({
  folder,
  seed,
  servers,
  writers,
  pooled,
  opening,
}: Readonly<{
  folder: string
  seed: string
  servers: ServerPair
  writers: readonly Writer[]
  pooled: PooledPorts
  opening: AsyncDisposableStack
}>): Promise<readonly ClusterFault[]> {
  const random = randomOf(`${seed} machines`)
  const common = [
    ...serverFaults(servers),
    ...leaderFaults(writers),
    ...companyFaults(writers),
    ...writers.flatMap((writer) => machineFaults(writer, folder, servers, random)),
  ]
  if (!hasPooler) return common
  // It leads to whichever server is the primary.
  const relay = opening.use(await openFaultRelay(servers.primaryPort))
  const pooler = opening.use(await startPooler(folder, relay.port, ROLE))
  return [...common, poolerFault(writers, pooled, pooler.port)]
}

function portOf(url: string | null): number | null {
  return url === null ? null : Number(new URL(url).port)
}

function urlOf(ports: readonly number[]): string {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
  return `postgres://${ROLE}@${hosts}/${DATABASE}?sslmode=disable`
}
