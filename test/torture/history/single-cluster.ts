import { join } from 'node:path'
import type { Cluster } from './cluster.ts'
import { openClusterStage } from './cluster-stage.ts'
import { startFaultyNode } from './faulty-node.ts'

/** One node without an engine: the smallest cluster. It proves the campaign itself. */
export async function openSingleCluster(folder: string, seed: string): Promise<Cluster> {
  await using opening = new AsyncDisposableStack()
  const { token, pay, finals, writerWords, env, ...stage } = await openClusterStage(folder, seed)
  opening.use(stage)
  const data = join(folder, 'one')
  const words = [...writerWords(data), '--chain', 'solana', '--development']
  const one = opening.use(await startFaultyNode({ name: 'one', kind: 'writer', data, words, env }))
  const open = opening.move()
  return {
    nodes: [one.node],
    token,
    pay,
    faults: one.faults,
    companions: [],
    finals,
    hasLeader: async () => undefined,
    stop: async () => ((await one.stop()) === 0 ? [] : ['one']),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}
