import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Cluster } from './cluster.ts'
import { startFaultyNode } from './faulty-node.ts'

const TOKEN = 'a-token-of-the-cluster-that-is-long-enough-0123456789'

/** Options of every writer of a cluster. */
function writerWords(data: string, tokenFile: string): readonly string[] {
  const log = ['--data', data, '--chain', 'opaque', '--development']
  const ports = ['--port', '0', '--publish-port', '0', '--publish-token-file', tokenFile]
  return ['serve', ...log, ...ports, '--rate-limit', 'off', '--drain', '0']
}

/** Writes the publish token of a cluster to a file. */
function writeToken(folder: string): Readonly<{ token: string; tokenFile: string }> {
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, TOKEN)
  return { token: TOKEN, tokenFile }
}

/** One node without an engine: the smallest cluster. It proves the campaign itself. */
export async function openSingleCluster(folder: string): Promise<Cluster> {
  const { token, tokenFile } = writeToken(folder)
  const data = join(folder, 'one')
  const one = await startFaultyNode({
    name: 'one',
    kind: 'writer',
    data,
    words: writerWords(data, tokenFile),
  })
  return {
    nodes: [one.node],
    token,
    faults: one.faults,
    hasLeader: async () => undefined,
    stop: async () => ((await one.stop()) === 0 ? [] : ['one']),
    [Symbol.asyncDispose]: () => one[Symbol.asyncDispose](),
  }
}
