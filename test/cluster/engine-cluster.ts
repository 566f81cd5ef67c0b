import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { ClusterEngine } from './cluster-engine.ts'
import type { ChainServers } from './cluster-stage.ts'
import { openClusterStage } from './cluster-stage.ts'
import type { Cluster, ClusterFault, Companion } from './cluster.ts'
import { openFaultRelay } from '../engine/fault-relay.ts'
import { appendUntilRead } from '../engine/settled-append.ts'
import { makeFirstMessage } from './first-message.ts'
import type { FaultyNode } from './faulty-node.ts'
import { startFaultyNode } from './faulty-node.ts'

const WRITERS = ['a', 'b', 'c'] as const

/** Programs beside the nodes of a cluster. */
type Company = AsyncDisposable &
  Readonly<{
    companions: readonly Companion[]
    /** Options of each writer, and modules that are loaded before its code. */
    words: readonly string[]
    imports: readonly string[]
    /** Faults of a writer beside those of every cluster, and its environment. */
    openWriter(
      name: string,
    ): Readonly<{ faults: readonly ClusterFault[]; env: Readonly<Record<string, string>> }>
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
    openWriter: () => ({ faults: [], env: {} }),
    [Symbol.asyncDispose]: async () => undefined,
  }),
}

/** Three writers on an engine, a mirror of the first one, and a mirror of that mirror. */
export async function openEngineCluster(
  folder: string,
  seed: string,
  openEngine: (folder: string) => Promise<ClusterEngine>,
  settings: CompanySettings = ALONE,
): Promise<Cluster> {
  await using opening = new AsyncDisposableStack()
  const { token, pay, finals, writerWords, env, chainFaults, ...stage } = await openClusterStage(
    folder,
    seed,
    settings.chainServers,
  )
  opening.use(stage)
  const engine = opening.use(await openEngine(folder))
  const { bytes, keyFile } = makeFirstMessage(folder)
  const first = await appendUntilRead(engine.log, 1, bytes, () => true)
  assert.equal(first?.isOurs, true)
  const company = opening.use(await settings.open({ folder, seed, keyFile, token, chainFaults }))
  const ownFaults: ClusterFault[] = []
  const all: FaultyNode[] = []
  const writers = WRITERS.map(async (name) => {
    const data = join(folder, name)
    const links = await Promise.all(engine.ports.map((port) => openFaultRelay(() => port)))
    for (const link of links) opening.use(link)
    const own = ['--signing-key-file', keyFile, '--node-name', name]
    const words = [
      ...writerWords(data),
      ...own,
      ...company.words,
      ...engine.words(links.map(({ port }) => port)),
    ]
    const { faults, env: variables } = company.openWriter(name)
    ownFaults.push(...faults)
    const preloaded = [env['NODE_OPTIONS'] ?? '', ...company.imports.map((path) => `--import=${path}`)]
    const writer = await startFaultyNode({
      name,
      kind: 'writer',
      data,
      words,
      links,
      env: { ...env, ...variables, NODE_OPTIONS: preloaded.join(' ') },
    })
    return opening.use(writer)
  })
  // All have started or failed before anything is closed.
  await Promise.allSettled(writers)
  all.push(...(await Promise.all(writers)))
  let followed = all[0]
  for (const name of ['mirror', 'mirror of the mirror']) {
    const origin = followed
    const link = await openFaultRelay(() => {
      const url = origin?.node.url() ?? null
      return url === null ? null : Number(new URL(url).port)
    })
    opening.use(link)
    const data = join(folder, name.replaceAll(' ', '-'))
    const ports = ['--port', '0', '--ops-port', '0', '--rate-limit', 'off', '--drain', '0']
    const words = ['mirror', `http://127.0.0.1:${link.port}`, '--data', data, ...ports]
    followed = opening.use(await startFaultyNode({ name, kind: 'mirror', data, words, links: [link] }))
    all.push(followed)
  }
  const open = opening.move()
  return {
    nodes: all.map(({ node }) => node),
    token,
    pay,
    finals,
    companions: company.companions,
    faults: [
      ...engine.faults,
      ...all.flatMap(({ faults }) => faults),
      ...ownFaults,
      ...company.companions.flatMap(({ faults }) => faults),
    ],
    hasLeader: engine.hasLeader,
    async stop() {
      const failed: string[] = []
      // Mirrors before what they follow.
      for (const { node, stop } of all.toReversed()) if ((await stop()) !== 0) failed.push(node.name)
      return failed
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}
