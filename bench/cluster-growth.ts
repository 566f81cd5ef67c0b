import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type postgres from 'postgres'
import { parseDatabaseUrl } from '../src/command/terminal/database-url.ts'
import type { EngineConnection } from '../src/engine/log-engine.ts'
import { openPostgresEngine } from '../src/engine/postgres/postgres-engine.ts'
import { setUpPostgres } from '../src/engine/postgres/postgres-setup.ts'
import { storePath } from '../src/log/store/store.ts'
import { writePosition } from '../src/log/stream/engine-position.ts'
import { TEST_KEY } from '../test/story/signing.ts'
import { eventMessages } from './cluster/growth-history.ts'
import { runDaybook } from './cluster/cluster-nodes.ts'
import type { GrowthNode } from './cluster/growth-node.ts'
import { openGrowthNode } from './cluster/growth-node.ts'
import { bigStore } from './stage/big-store.ts'
import { share } from './stage/measure.ts'
import { startPostgres } from './stage/postgres.ts'
import { ms, sayBuilding, table, thousands } from './stage/report.ts'

/**
 * Measures what grows with the messages of a log on an engine: a million real ones on PostgreSQL, and the places around
 * the hundred millionth. It stops by itself.
 */

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: join(tmpdir(), 'daybook-bench') },
    messages: { type: 'string', default: '1000000' },
    /** Minutes after which the first node stops to follow, wherever it is. */
    minutes: { type: 'string', default: '45' },
  },
})
const MESSAGES = Number(values.messages)
const STEPS = 10
const BATCH = 500
/** Events that are published one by one, each in a message of its own. */
const PUBLISHED = 300
/** Places at which streams begin, and the number of the first of these streams. */
const FAR = 100_000_000
const PLACES = [1_000, FAR]
const FIRST_PLACED = 8
const MIB = 1024 * 1024
const ROLE = 'daybook'

const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-growth-'))
const server = await startPostgres(folder, ['shared_buffers=64MB', 'max_wal_size=1GB'])
try {
  if (server === undefined) print('## Growth of a stream', '', 'PostgreSQL is not installed.', '')
  else await growth(server.sql, server.host)
} finally {
  await server?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
}

async function growth(sql: postgres.Sql, host: string): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const address = (user: string): string =>
    `postgres://${user}@/postgres?host=${encodeURIComponent(host)}&sslmode=disable`
  const make = (stream: number): Promise<unknown> => {
    const admin = parseDatabaseUrl(address('tester'), null)
    return setUpPostgres(admin, { stream, role: ROLE, isSingle: true }, AbortSignal.timeout(60_000))
  }
  const clocks = { nowMs: Date.now, monotonicMs: () => performance.now(), memory: null }
  const connect = async (stream: number): Promise<EngineConnection> =>
    openPostgresEngine(parseDatabaseUrl(address(ROLE), null), { stream, isSingle: true, ...clocks })
  const kept = async (stream: number): Promise<EngineConnection> => stack.use(await connect(stream))
  await make(1)
  const [load = 0] = loadavg()
  print('## Growth of a stream', '', `Load ${load.toFixed(1)} before the bench began.`, '')

  await fill(sql)
  const [node, early] = await followAll(await kept(1), connect)
  stack.use(node)
  await make(2)
  await roll(node, { early, connect, kept })
  await far(sql, { make, kept, connect })
}

/** Puts the messages on the engine, as its writers would have made them. */
async function fill(sql: postgres.Sql): Promise<void> {
  const data = bigStore(values.store, MESSAGES - 1, sayBuilding(MESSAGES))
  const db = new DatabaseSync(storePath(data))
  const began = performance.now()
  let sum = 0
  let batch: Readonly<{ n: number; body: Buffer }>[] = []
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await sql`INSERT INTO daybook_commits_1 ${sql(batch)}`
    batch = []
  }
  let count = 0
  for (const { place: n, bytes } of eventMessages(db)) {
    batch.push({ n, body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) })
    sum += bytes.length
    count = n
    if (batch.length === BATCH) await flush()
    if (count % (MESSAGES / STEPS) === 0) say(`${thousands(count)} messages made`)
  }
  await flush()
  db.close()
  await sql`CHECKPOINT`
  const [size] =
    await sql`SELECT pg_table_size('daybook_commits_1') AS rows, pg_indexes_size('daybook_commits_1') AS index`
  const perMessage = (of: number): string => (of / count).toFixed(0)
  const rows = Number(size?.['rows'])
  const index = Number(size?.['index'])
  print(
    `**The engine** has ${thousands(count)} messages of one event each, made in ${seconds(began)} s. A message has ${perMessage(sum)} bytes; PostgreSQL has ${perMessage(rows)} bytes of rows and ${perMessage(index)} bytes of index on the disk for each: ${mib(rows + index)} MiB, and ${thousands(Math.round((((rows + index) / count) * FAR) / 1e9))} GB for 100 million.`,
    '',
  )
}

/** An empty node joins and applies every message. Also keeps a copy of its store after nine tenths. */
async function followAll(
  connection: EngineConnection,
  connect: (stream: number) => Promise<EngineConnection>,
): Promise<readonly [GrowthNode, string]> {
  const data = join(folder, 'first')
  mkdirSync(data)
  const node = await openGrowthNode(data, connect)
  const endMs = performance.now() + Number(values.minutes) * 60_000
  const rows: (readonly string[])[] = []
  const last = await connection.log.last()
  let began = performance.now()
  let before = node.book.applied().place
  for (let part = 1; part <= STEPS && performance.now() < endMs; part += 1) {
    const upTo = Math.floor((last * part) / STEPS)
    await node.follow(connection, upTo, () => performance.now() < endMs)
    const { place } = node.book.applied()
    collect()
    const { rss, heapUsed } = process.memoryUsage()
    const took = (performance.now() - began) / 1_000
    rows.push([
      thousands(place),
      thousands(Math.round((place - before) / took)),
      mib(heapUsed),
      mib(rss),
      mib(node.storeBytes()),
      thousands(keptCount(node)),
    ])
    say(`${thousands(place)} messages applied`)
    ;[began, before] = [performance.now(), place]
    if (part === STEPS - 1) await copyOf(data, 'early')
  }
  print(
    'An empty node applies them, 256 at most in a transaction. Its store grows with the events, as that of one node does. `kept` are the newest messages in the store, 64 MiB at most.',
    '',
    table(['messages', 'a second', 'heap MiB', 'RSS MiB', 'store MiB', 'kept'], rows),
    '',
  )
  return [node, join(folder, 'early')]
}

/** A directory with a backup of a node, as `backup` and `restore` make it. Returns the seconds of both. */
async function copyOf(data: string, name: string): Promise<Readonly<{ backup: number; restore: number }>> {
  const copy = join(folder, `${name}.db`)
  const target = join(folder, name)
  const pem = TEST_KEY.privateKey.export({ type: 'pkcs8', format: 'pem' })
  for (const owner of [data, target]) writeFileSync(`${owner}.key`, pem, { mode: 0o600 })
  const backup = await runDaybook(['backup', '--data', data, '--to', copy])
  const restore = await runDaybook(['restore', '--data', target, '--from', copy])
  rmSync(copy)
  return { backup: backup.seconds, restore: restore.seconds }
}

type RollScene = Readonly<{
  early: string
  connect(stream: number): Promise<EngineConnection>
  kept(stream: number): Promise<EngineConnection>
}>

/** Rolls the log, and starts one node from a backup after the seal, and one from a backup before it. */
async function roll(node: GrowthNode, { early, connect, kept }: RollScene): Promise<void> {
  const first = await kept(1)
  const second = await kept(2)
  const { place } = node.book.applied()
  const began = performance.now()
  await node.step(first, { is: 'seal', why: 'roll' })
  await node.step(second, { is: 'genesis' })
  const rolled = performance.now() - began
  const copied = await copyOf(join(folder, 'first'), 'after')
  const [alone = 0] = await publishAll([{ node, connection: second }])
  const end = node.book.applied().place

  const afterBegan = performance.now()
  using after = await openGrowthNode(join(folder, 'after'), connect)
  await after.follow(second, end)
  const afterSeconds = seconds(afterBegan)

  const earlyBegan = performance.now()
  using late = await openGrowthNode(early, connect)
  const from = late.book.applied().place
  await late.follow(first, place + 1).catch((error: unknown) => {
    if (late.book.applied().stream === 1) throw error
  })
  const lateSeconds = (performance.now() - earlyBegan) / 1_000
  await late.follow(second, end)
  print(
    `**Roll** after ${thousands(place)} messages: seal and genesis took ${ms(rolled)} ms. A backup of the node took ${copied.backup.toFixed(1)} s, and its restore on another ${copied.restore.toFixed(1)} s. The new node then had the ${thousands(end)} messages of stream 2 after ${afterSeconds} s. A node from an older backup applied ${thousands(place - from)} messages and the seal at ${thousands(Math.round((place - from) / lateSeconds))} a second, and went on in stream 2.`,
    '',
    `In stream 2 an event in a message of its own took ${ms(alone)} ms at the median, from its draft to the commit (PostgreSQL without fsync).`,
    '',
  )
}

/** Publishes one event after the other, at each writer in turn. Returns the median milliseconds of each. */
async function publishAll(
  writers: readonly Readonly<{ node: GrowthNode; connection: EngineConnection }>[],
): Promise<readonly number[]> {
  const times = writers.map((): number[] => [])
  for (let count = 0; count < PUBLISHED; count += 1) {
    for (const [at, { node, connection }] of writers.entries()) {
      const began = performance.now()
      await node.publish(connection)
      times[at]?.push(performance.now() - began)
    }
  }
  return times.map((of) => share(of, 0.5))
}

type FarScene = Pick<RollScene, 'connect' | 'kept'> & Readonly<{ make(stream: number): Promise<unknown> }>

/** The places around the thousandth and the hundred millionth: of each one a node writes, and another follows. */
async function far(sql: postgres.Sql, { make, kept, connect }: FarScene): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const pairs = []
  for (const [at, start] of PLACES.entries()) {
    const stream = FIRST_PLACED + at
    await make(stream)
    await sql`INSERT INTO ${sql(`daybook_commits_${stream}`)} VALUES (${start}, ${Buffer.from('x')})`
    const nodes = []
    for (const one of ['writer', 'reader']) {
      const data = join(folder, `${start}-${one}`)
      mkdirSync(data)
      const node = stack.use(await openGrowthNode(data, connect))
      const { digest } = node.book.applied()
      node.book.begin()
      writePosition(node.db, { stream, place: start, digest })
      node.db.exec('DELETE FROM messages; COMMIT')
      node.book.rollback()
      nodes.push(node)
    }
    const [writer, reader] = nodes
    if (writer === undefined || reader === undefined) throw new Error('two nodes are open')
    pairs.push({ start, node: writer, reader, connection: await kept(stream) })
  }
  const medians = await publishAll(pairs)
  const rows: (readonly string[])[] = []
  for (const [at, { start, node, reader, connection }] of pairs.entries()) {
    const began = performance.now()
    await reader.follow(connection, start + PUBLISHED)
    const rate = (PUBLISHED / (performance.now() - began)) * 1_000
    const { place } = node.book.applied()
    rows.push([thousands(place), ms(medians[at] ?? 0), thousands(Math.round(rate))])
  }
  print(
    '**Places up to 100 million.** Streams that begin at a place, each with a node that writes, in turn, and one that follows:',
    '',
    table(['newest place', 'ms an event', 'followed a second'], rows),
    '',
    'Places are whole numbers up to 2^53, and a bigint in PostgreSQL: at 1,000 messages a second they last 285,000 years.',
    '',
  )
}

function keptCount({ db }: GrowthNode): number {
  return Number(db.prepare('SELECT count(*) AS n FROM messages').get()?.['n'])
}

/** Frees what nothing refers to, so that what is left is counted. */
function collect(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc()')
}

function seconds(sinceMs: number): string {
  return ((performance.now() - sinceMs) / 1_000).toFixed(1)
}

function mib(bytes: number): string {
  return thousands(Math.round(bytes / MIB))
}

function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}

function say(text: string): void {
  process.stderr.write(`growth: ${text}\n`)
}
