import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { NATS_SERVER } from '../test/engine/nats-program.ts'
import { startNatsRig } from '../test/engine/nats-rig.ts'
import { openPostgresRig } from '../test/engine/postgres-rig.ts'
import { hasPostgres } from '../test/outbox/postgres-server.ts'
import type { EngineConnection } from '../src/engine/log-engine.ts'
import type { NodeProcess } from '../test/stage/node-process.ts'
import { startNode } from '../test/stage/node-process.ts'
import { until } from '../test/processes/other-program.ts'
import { isReadyToPublish, openWritersStage } from '../test/writers/writers-stage.ts'
import type { BareClient } from './cluster/bare-engines.ts'
import { bareFile, bareNats, barePostgres } from './cluster/bare-engines.ts'
import type { AckCandidate } from './cluster/cluster-acks.ts'
import {
  bareAppends,
  commitsOf,
  measureAcks,
  messageBytes,
  publishersAt,
  publishing,
} from './cluster/cluster-acks.ts'
import { catchUp, readAll } from './cluster/cluster-catch-up.ts'
import { headOf, startBenchMirror, untilServed } from './cluster/cluster-nodes.ts'
import type { StreamNode, StreamScene } from './cluster/cluster-streams.ts'
import { PACE, sceneRows, streamScene, SUBSCRIBERS } from './cluster/cluster-streams.ts'
import { openingDrafts } from './publish/publish-load.ts'
import { table, thousands } from './stage/report.ts'
import { compiled } from './stream/stream-candidates.ts'

/** Measures a log on several machines, beside one node and beside bare clients of the same engines. */

const PUBLISHERS = 32
const TIME_LIMIT_MS = 240_000
/** Paced slice of a scene with mirrors, which ask for a checkpoint every two seconds. */
const MIRROR_PACE_MS = 6_000

const { values } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    /** Parts to run, with commas. */
    parts: { type: 'string', default: 'acks,streams,catch-up' },
  },
})
const parts = values.parts.split(',')
const size = values.full
  ? { rounds: 3, sliceMs: 800, events: 50_000 }
  : { rounds: 3, sliceMs: 400, events: 20_000 }

type NatsRig = Awaited<ReturnType<typeof startNatsRig>>

/** An engine with its writers and a client of its own. */
type Engine = Readonly<{
  name: string
  writers: NodeProcess[]
  start(name: string): Promise<NodeProcess>
  connect(): Promise<EngineConnection>
  connection: EngineConnection
  bare: BareClient
  bareName: string
}>

const stack = new AsyncDisposableStack()
const late = setTimeout(() => {
  process.stderr.write(`cluster: stopped after ${TIME_LIMIT_MS / 1_000} s\n`)
  void stack.disposeAsync().finally(() => process.exit(1))
}, TIME_LIMIT_MS)
try {
  if (NATS_SERVER !== undefined && hasPostgres) await cluster()
  else process.stdout.write('## More than one machine\n\nPostgreSQL or nats-server 2.12 is not installed.\n')
} finally {
  clearTimeout(late)
  await stack.disposeAsync()
}

/** Prints each part when it is measured. */
async function cluster(): Promise<void> {
  const [load = 0] = loadavg()
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-cluster-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  print(
    '## More than one machine',
    '',
    `Everything runs on this one machine, over the loopback and on one disk: three brokers of NATS (R3, \`sync_interval: always\`), PostgreSQL with a synchronous standby, all nodes and the load. So the ratios count. Load ${load.toFixed(1)} before the bench began.`,
    '',
  )
  say('engines start')
  const rig = stack.use(await startNatsRig())
  if (parts.includes('acks') || parts.includes('streams')) await live(folder, rig)
  if (!parts.includes('catch-up')) return
  say('catch-up')
  await rig.make(1)
  const seed = join(folder, 'running.seed')
  writeFileSync(seed, rig.running, { mode: 0o600 })
  const words = ['--log-store', natsUrl(rig), '--log-store-credentials', seed]
  print(await catchUp(folder, size.events, words, () => rig.open(1)))
}

/** Publishing and streams of running nodes. Removes the stream of NATS at the end. */
async function live(folder: string, rig: NatsRig): Promise<void> {
  const nats = await openEngine(
    'NATS R3',
    { url: natsUrl(rig), credentials: rig.running },
    () => rig.make(1),
    () => rig.open(1),
    await bareNats(rig),
  )
  const embedded = await startNode(join(folder, 'embedded'))
  stack.defer(async () => void (await embedded.end('SIGTERM')))
  await embedded.publish(openingDrafts(Date.now()))
  if (parts.includes('acks')) await acks(folder, embedded, nats)
  else for (const name of ['second', 'third']) await startWriter(nats, name)
  if (parts.includes('streams')) print(await streams(folder, embedded, nats))
  print(await lateNode(nats))
  for (const node of nats.writers) await node.end('SIGKILL')
  await embedded.end('SIGTERM')
  const admin = await rig.admin()
  await admin.request('$JS.API.STREAM.DELETE.daybook-1', '', { timeout: 10_000 })
}

async function acks(folder: string, embedded: NodeProcess, nats: Engine): Promise<void> {
  await using own = new AsyncDisposableStack()
  const servers = own.use(await openPostgresRig())
  const postgres = await openEngine(
    'PostgreSQL',
    { url: servers.url(), credentials: null },
    async () => void (await servers.makeStream()),
    async () => servers.connect(),
    await barePostgres(servers, own),
  )
  const engines = [nats, postgres]
  print(
    `Publishing: medians of ${size.rounds} slices of ${size.sliceMs} ms in turn, one draft in each request. A bare client appends messages of the mean size of the log's, one at a time, without Daybook. A repeat is a request that was sent again, with the same refs, after 503.`,
    '',
  )
  for (const count of [PUBLISHERS, 1]) {
    const many = `${count} publisher${count === 1 ? '' : 's'}`
    print(`**One writer, ${many}**`, '', await oneWriter(embedded, engines, folder, count), '')
  }
  for (const engine of engines) for (const name of ['second', 'third']) await startWriter(engine, name)
  print(`**Three writers, ${PUBLISHERS} publishers**`, '', await threeWriters(embedded, engines), '')
  for (const node of postgres.writers) await node.end('SIGKILL')
  await postgres.connection[Symbol.asyncDispose]()
}

function natsUrl(rig: NatsRig): string {
  return `nats://${rig.brokers.map(({ url }) => url).join(',')}`
}

async function openEngine(
  name: string,
  address: Readonly<{ url: string; credentials: string | null }>,
  makeStream: () => Promise<void>,
  connect: () => Promise<EngineConnection>,
  bare: BareClient,
): Promise<Engine> {
  const stage = { ...address, makeStream, connect, [Symbol.asyncDispose]: async () => undefined }
  const { start } = stack.use(await openWritersStage(stage, 'opaque'))
  const engine: Engine = {
    name,
    writers: [],
    start: async (writer) => {
      const node = await start(writer)
      stack.defer(async () => void (await node.end('SIGKILL')))
      return node
    },
    connect,
    connection: stack.use(await connect()),
    bare,
    bareName: `bare client of ${name}`,
  }
  const first = await startWriter(engine, 'one')
  const { status } = await first.publish(openingDrafts(Date.now()))
  if (status !== 200) throw new Error(`${name} answered ${status}`)
  return engine
}

/** Starts another writer, and waits until it takes drafts. */
async function startWriter(engine: Engine, name: string): Promise<NodeProcess> {
  const node = await engine.start(name)
  await until(`${name} takes drafts`, () => isReadyToPublish(node.door))
  engine.writers.push(node)
  return node
}

/** One writer of each engine, beside a node without an engine, which comes first. */
async function oneWriter(
  embedded: NodeProcess,
  engines: readonly Engine[],
  folder: string,
  count: number,
): Promise<string> {
  say(`one writer, ${count} publishers`)
  await using own = new AsyncDisposableStack()
  const name = `one-${count}`
  const sync = 'bare fdatasync loop'
  const alone = publishing('embedded store', sync, await publishersAt([embedded], count, name, own), () =>
    commitsOf(embedded),
  )
  const candidates: AckCandidate[] = [alone]
  for (const { name: engine, bareName, writers, connection } of engines) {
    const groups = await publishersAt(writers, count, name, own)
    candidates.push(publishing(engine, bareName, groups, () => connection.log.last()))
  }
  const sized = engines[0]?.connection
  if (sized !== undefined)
    candidates.push(bareAppends(sync, bareFile(folder, own), () => messageBytes(sized)))
  return await measureAcks([...candidates, ...bareClients(engines)], size.rounds, size.sliceMs)
}

/** Publishers at one of three writers, and divided among all three. */
async function threeWriters(embedded: NodeProcess, engines: readonly Engine[]): Promise<string> {
  say('three writers')
  await using own = new AsyncDisposableStack()
  const alone = await publishersAt([embedded], PUBLISHERS, 'three', own)
  const candidates: AckCandidate[] = [publishing('embedded store', null, alone, () => commitsOf(embedded))]
  for (const { name, bareName, writers, connection } of engines) {
    const commits = (): Promise<number> => connection.log.last()
    const one = await publishersAt(writers.slice(0, 1), PUBLISHERS, 'at-one', own)
    const all = await publishersAt(writers, PUBLISHERS, 'at-all', own)
    candidates.push(publishing(`${name}, all publishers at one`, bareName, one, commits))
    candidates.push(publishing(`${name}, publishers at all three`, bareName, all, commits))
  }
  return await measureAcks([...candidates, ...bareClients(engines)], size.rounds, size.sliceMs)
}

function bareClients(engines: readonly Engine[]): readonly AckCandidate[] {
  return engines.map(({ bareName, bare, connection }) =>
    bareAppends(bareName, bare, () => messageBytes(connection)),
  )
}

/** Streams of one, two and three nodes: writers on NATS, and a node without an engine with its mirrors. */
async function streams(folder: string, embedded: NodeProcess, nats: Engine): Promise<string> {
  const load = compiled('stream-load', folder)
  if (load === null) return 'A C compiler (cc) is not installed: no streams were measured.\n'
  await using own = new AsyncDisposableStack()
  const settings = { folder, load, rounds: size.rounds, sliceMs: size.sliceMs, paceMs: size.sliceMs }
  const scenes: StreamScene[] = []
  const [first] = nats.writers
  if (first === undefined) throw new Error('a writer runs')
  const nodes = nats.writers.map(({ url, child }, index): StreamNode => {
    return { kind: index === 0 ? 'publishing writer' : 'other writer', url, pid: child.pid ?? 0 }
  })
  for (let count = 1; count <= nodes.length; count++) {
    say(`streams of ${count} writers`)
    const name = count === 1 ? '1 of 3 writers on NATS' : `${count} of 3 writers`
    scenes.push(await streamScene(name, nodes.slice(0, count), first, settings))
  }
  const alone: StreamNode = { kind: 'origin', url: embedded.url, pid: embedded.child.pid ?? 0 }
  const mirrors: StreamNode[] = []
  for (let count = 0; count <= 2; count++) {
    say(`streams of ${count} mirrors`)
    if (count > 0) {
      const mirror = own.use(await startBenchMirror(join(folder, `mirror-${count}`), embedded.url))
      mirrors.push({ kind: 'mirror', url: mirror.url, pid: mirror.pid })
    }
    const head = await headOf(embedded.url)
    for (const { url } of mirrors) await untilServed(url, head)
    const name = count === 0 ? 'embedded store alone' : `it and ${count} mirror${count === 1 ? '' : 's'}`
    const paceMs = count === 0 ? size.sliceMs : MIRROR_PACE_MS
    scenes.push(await streamScene(name, [alone, ...mirrors], embedded, { ...settings, paceMs }))
  }
  return [
    `**Streams.** ${SUBSCRIBERS} subscribers in all, divided among the nodes; all publishers at the first node. Deliveries a second: as fast as it goes. Latency and processor time: ${PACE} events a second, one in each request; from the moment an event is due until a subscriber has it. The ratio is to one node: all nodes share the cores of this machine, so it shows what a node costs, and not what another machine adds. Processor time is that of the whole node, publishing or following included, for each delivery of its own. Paced slices with mirrors last ${MIRROR_PACE_MS / 1_000} s, the others ${size.sliceMs / 1_000} s.`,
    '',
    table(['nodes', 'deliveries/s', '÷ one', 'p50 ms', 'p99 ms', 'CPU µs of a delivery'], sceneRows(scenes)),
    '',
  ].join('\n')
}

/** An empty writer that reads the small commits of this bench. */
async function lateNode(nats: Engine): Promise<string> {
  say('an empty writer')
  const [first] = nats.writers
  if (first === undefined) throw new Error('a writer runs')
  const head = await headOf(first.url)
  const read = await readAll(nats.connection)
  const began = performance.now()
  const node = await nats.start('late')
  await untilServed(node.url, head)
  const seconds = (performance.now() - began) / 1_000
  nats.writers.push(node)
  const rate = (count: number, of: number): string => thousands(Math.round(count / of))
  return `**Catch-up of what was published above.** An empty writer on NATS reads ${thousands(head)} events in ${thousands(read.messages)} messages in ${seconds.toFixed(1)} s, with the start of its process: ${rate(head, seconds)} events and ${rate(read.messages, seconds)} messages a second. A bare client reads the messages in ${read.seconds.toFixed(1)} s: ratio ${(seconds / read.seconds).toFixed(1)}.\n`
}

function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}

function say(what: string): void {
  process.stderr.write(`cluster: ${what}\n`)
}
