import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EngineConnection } from '../../src/engine/log-engine.ts'
import { keptSchemas, unpackKept } from '../books/kept-store.ts'
import { appendUntilRead, readAll } from '../engine/settled-append.ts'
import { startNatsRig } from '../engine/nats-rig.ts'
import { until } from '../processes/other-program.ts'
import type { NodeProcess } from '../stage/node-process.ts'
import { readLines, startNode } from '../stage/node-process.ts'

/** A kept store, three brokers, and the processes that an operator runs with them. */
type OperatedLog = AsyncDisposable &
  Readonly<{
    folder: string
    /** Data directory with the kept store. Its key is in `<data>.key`. */
    data: string
    /** Options of a command that uses the engine, and the address and the credentials among them. */
    engine: readonly [string, url: string, string, credentials: string]
    make(stream: number): Promise<void>
    brokers: readonly Readonly<{ pause(): void; resume(): void }>[]
    start(data: string, name: string): Promise<NodeProcess>
    /** Newest place of a stream. */
    last(stream: number): Promise<number>
    /** Loses the newest messages of a stream, as a restore of an older state does. No node may run. */
    loseTail(stream: number, count: number): Promise<void>
  }>

export async function openOperatedLog(): Promise<OperatedLog> {
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'daybook-operate-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const kept = stack.use(unpackKept(keptSchemas().at(-1) ?? 0))
  const rig = stack.use(await startNatsRig())
  const credentials = join(folder, 'running.seed')
  writeFileSync(credentials, rig.running, { mode: 0o600 })
  const url = `nats://${rig.brokers.map((broker) => broker.url).join(',')}`
  const engine = ['--log-store', url, '--log-store-credentials', credentials] as const
  const started: NodeProcess[] = []
  stack.defer(async () => {
    for (const node of started) if (node.child.exitCode === null) await node.end('SIGKILL')
  })

  const opened = stack.move()
  return {
    folder,
    data: kept.data,
    engine,
    make: rig.make,
    brokers: rig.brokers,
    async start(data, name) {
      const node = await startNode(data, [...engine, '--node-name', name], [], 'cluster')
      started.push(node)
      return node
    },
    async last(stream) {
      await using connection = await rig.open(stream)
      return await connection.log.last()
    },
    async loseTail(stream, count) {
      const messages = await readStream(await rig.open(stream))
      const nats = await rig.admin()
      await nats.request(`$JS.API.STREAM.DELETE.daybook-${stream}`, '', { timeout: 30_000 })
      await rig.make(stream)
      await using connection = await rig.open(stream)
      for (const { place, bytes } of messages.slice(0, -count)) {
        assert.ok(await appendUntilRead(connection.log, place, bytes, () => true))
      }
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** Publishes a deposit as soon as the node takes drafts. Returns its seq. */
export async function publishDeposit(node: NodeProcess, ref: string): Promise<number> {
  let seq = 0
  await until('the node publishes', async () => {
    const answer = await node.publish([{ ref, type: 'treasury', kind: 'deposit', kots: '1' }])
    seq = answer.drafts[0]?.seq ?? 0
    return answer.status === 200
  })
  return seq
}

export async function untilSeq(node: NodeProcess, seq: number): Promise<void> {
  await until(`the node has seq ${seq}`, async () => (await readLines(node.url, seq - 1)).length > 0)
}

async function readStream(connection: EngineConnection): ReturnType<typeof readAll> {
  await using opened = connection
  return await readAll(opened.log)
}
