import type { DuckDBConnection } from '@duckdb/node-api'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { randomOf } from '../sim/random.ts'
import { openReader } from '../src/log/open-reader.ts'
import { openForReading, storePath } from '../src/log/store/store.ts'
import { flows } from '../src/project/answers/flows.ts'
import { patterns } from '../src/project/answers/patterns.ts'
import { summary } from '../src/project/answers/summary.ts'
import { assert } from '../src/protocol/brand.ts'
import { DAY_MS, floorTo, msOf } from '../src/protocol/moment.ts'
import { bigStore } from './stage/big-store.ts'
import { startPostgres } from './stage/postgres.ts'
import { cpuMicroseconds, startService } from './stage/processes.ts'
import { benchSettings, inTurns, type Measured, report } from './stage/report.ts'

/** Measures answers that come from totals, and the same questions in SQL over the events. */

const YEAR_DAYS = 365
const SQL_ROUNDS = 3
/** Daybook's answers in a turn: enough to measure processor time in ticks of 10 ms. */
const OWN_TURN = 60
const PEER_TURN = 4

const { store, events, rounds } = benchSettings()
const data = bigStore(store, events)
report([...(await inProcess()), ...(await overHttp())])

/**
 * Time of an uncached answer from a fresh snapshot to its text, and of the same question in SQL over the `events` table of
 * the same store. SQL has the advantage: it sums in floating point and writes no JSON.
 */
async function inProcess(): Promise<readonly Measured[]> {
  const db = openForReading(storePath(data))
  const reader = openReader(data, null)
  const end = reader.snapshot(({ head }) => head.atMs) ?? msOf(0)
  const toMs = floorTo(end, DAY_MS)
  const fromMs = msOf(toMs - YEAR_DAYS * DAY_MS)
  const range = { fromMs, toMs, bucket: 'day', nowMs: null } as const
  const [after, last] = reader.snapshot((snapshot) => [snapshot.seqBefore(fromMs), snapshot.seqBefore(toMs)])
  const plays = `FROM events WHERE seq > ? AND seq <= ? AND code IN (SELECT code FROM kinds WHERE type = 'play')`
  const spent = `sum(CAST(json_extract(line, '$.kots') AS REAL)) AS spent`
  const byDay = db.prepare(`SELECT at / 86400000 AS day, ${spent} ${plays} GROUP BY day`)
  const byHour = db.prepare(
    `SELECT (at / 3600000 + 72) % 168 AS hour, code, count(*) AS plays, ${spent} ${plays} GROUP BY hour, code`,
  )
  const upTo = db.prepare(
    `SELECT code, count(*) AS events, ${spent} FROM events WHERE seq <= ? GROUP BY code`,
  )
  type Answer = Parameters<typeof reader.snapshot>[0]
  const duels: readonly (readonly [what: string, ours: Answer, theirs: () => unknown])[] = [
    ['flows of a year by day', ({ books }) => flows(books, range), () => byDay.all(after, last)],
    [
      'patterns of a year by hour of the week',
      ({ books }) => patterns(books, range, 0),
      () => byHour.all(after, last),
    ],
    ['summary as of a past moment', ({ books }) => summary(books, msOf(toMs - 12_345)), () => upTo.all(last)],
  ]
  const rows: Measured[] = []
  for (const [what, ours, theirs] of duels) {
    // Ten answers of Daybook in a turn, of which the median would be too short to be even.
    const own = (): void => {
      for (let answer = 0; answer < 10; answer++) JSON.stringify(reader.snapshot(ours))
    }
    const [mine = [], sql = []] = await inTurns(SQL_ROUNDS, [own, theirs], (ask) => {
      const began = performance.now()
      ask()
      return (performance.now() - began) / (ask === own ? 10 : 1)
    })
    rows.push({ what, unit: 'ms', peer: 'SQL on SQLite', ours: mine, theirs: sql, better: 'less' })
  }
  reader.close()
  db.close()
  return rows
}

/** The amounts spent, paid and burned on a day that has events, as decimal texts. */
type Day = Readonly<{ day: number; spent: string; paid: string; burned: string }>

type Bucket = Readonly<{ atMs: number; spentOnPlay: string; paidInPrizes: string; burned: string }>

/** A program that answers with the days of a year, and its processor time so far. */
type Candidate = AsyncDisposable &
  Readonly<{ ask(from: number): Promise<readonly Day[]>; cpuMicroseconds(): number }>

/** Processor time of an answer over HTTP, and of databases with typed columns, on another year for each answer. */
async function overHttp(): Promise<readonly Measured[]> {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-bench-sql-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rmSync(directory, { recursive: true, force: true }))
  const csv = join(directory, 'events.csv')
  const db = openForReading(storePath(data))
  writeEvents(db, csv)
  const bounds = db.prepare('SELECT min(at) AS first, max(at) AS last FROM events').get() ?? {}
  db.close()
  const first = Math.ceil(Number(bounds['first']) / DAY_MS)
  const starts = Array.from(
    { length: Math.floor(Number(bounds['last']) / DAY_MS) - YEAR_DAYS - first },
    (_, day) => first + day,
  )
  const random = randomOf('years')
  const draw = (): number => starts.splice(random.below(starts.length), 1)[0] ?? first

  const ours = stack.use(await daybook())
  const peers: (readonly [name: string, candidate: Candidate | undefined])[] = [
    ['DuckDB', stack.use(await duckdb(csv))],
    ['PostgreSQL', stack.use(await postgresql(csv, directory))],
  ]
  for (const [name, peer] of peers) {
    const from = draw()
    if (peer !== undefined) assertSame(name, await ours.ask(from), await peer.ask(from))
  }
  const candidates = [ours, ...peers.flatMap(([, peer]) => peer ?? [])]
  const costs = await inTurns(rounds, candidates, async (candidate) => {
    const years = Array.from({ length: candidate === ours ? OWN_TURN : PEER_TURN }, draw)
    const before = candidate.cpuMicroseconds()
    for (const year of years) await candidate.ask(year)
    return (candidate.cpuMicroseconds() - before) / 1_000 / years.length
  })
  return peers.map(([peer, candidate]) => ({
    what: 'flows of a year by day, over HTTP',
    unit: 'CPU ms',
    peer,
    ours: costs[0] ?? [],
    theirs: candidate === undefined ? undefined : costs[candidates.indexOf(candidate)],
    better: 'less',
  }))
}

async function daybook(): Promise<Candidate> {
  const service = await startService(data)
  return {
    async ask(from) {
      const [start, end] = [from * DAY_MS, (from + YEAR_DAYS) * DAY_MS]
      const answer = await fetch(`${service.node.url}/api/v1/flows?from=${start}&to=${end}&bucket=day`)
      const { buckets } = (await answer.json()) as { buckets: readonly Bucket[] }
      return buckets.map(({ atMs, spentOnPlay, paidInPrizes, burned }) => ({
        day: atMs / DAY_MS,
        spent: spentOnPlay,
        paid: paidInPrizes,
        burned,
      }))
    },
    cpuMicroseconds: () => cpuMicroseconds(service.pid),
    [Symbol.asyncDispose]: service[Symbol.asyncDispose],
  }
}

/** DuckDB in this process, in memory, on all processors. */
async function duckdb(csv: string): Promise<Candidate> {
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: '4GB' })
  const connection: DuckDBConnection = await instance.connect()
  const columns = { seq: 'BIGINT', at_ms: 'BIGINT', type: 'VARCHAR', kind: 'VARCHAR', kots: 'DECIMAL(18, 9)' }
  await connection.run(
    `CREATE TABLE events AS SELECT * FROM read_csv('${csv}', header = false, columns = ${JSON.stringify(columns)})`,
  )
  return {
    async ask(from) {
      const reader = await connection.runAndReadAll(
        questionOf(`at_ms // ${DAY_MS}`),
        boundsOf(from).map(BigInt),
      )
      return daysOf(reader.getRowObjects())
    },
    cpuMicroseconds() {
      const { user, system } = process.cpuUsage()
      return user + system
    },
    async [Symbol.asyncDispose]() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

/** One process of PostgreSQL, whose processor time is then that of the answer; undefined if not installed. */
async function postgresql(csv: string, directory: string): Promise<Candidate | undefined> {
  const memory = ['shared_buffers=1GB', 'work_mem=64MB', 'max_wal_size=8GB']
  const server = await startPostgres(directory, [...memory, 'max_parallel_workers_per_gather=0', 'jit=off'])
  if (server === undefined) return undefined
  const { client } = server
  await client.query(`CREATE TABLE events (seq bigint PRIMARY KEY, at_ms bigint NOT NULL, type text NOT NULL,
    kind text NOT NULL, kots numeric(30, 9))`)
  await client.query(`COPY events FROM '${csv}' (FORMAT csv)`)
  await client.query('CREATE INDEX events_at ON events (at_ms)')
  await client.query('VACUUM ANALYZE events')
  return {
    ask: async (from) => daysOf((await client.query(questionOf(`at_ms / ${DAY_MS}`), boundsOf(from))).rows),
    cpuMicroseconds: () => cpuMicroseconds(server.backend),
    [Symbol.asyncDispose]: server[Symbol.asyncDispose],
  }
}

/** Flows in SQL. A correction counts with its own amount, the negative of the corrected event's. */
function questionOf(day: string): string {
  const sum = (name: string, which: string): string =>
    `coalesce(sum(kots) FILTER (WHERE ${which}), 0)::VARCHAR AS ${name}`
  const sums = [
    sum('spent', `type = 'play' OR (type = 'correction' AND kind = 'play')`),
    sum('paid', `type = 'payout' AND kind NOT IN ('loyalty', 'refund')`),
    sum('burned', `type = 'burn' OR (type = 'correction' AND kind = 'burn')`),
  ]
  return `SELECT ${day} AS day, ${sums.join(', ')} FROM events WHERE at_ms >= $1 AND at_ms < $2 GROUP BY day`
}

function boundsOf(from: number): number[] {
  return [from * DAY_MS, (from + YEAR_DAYS) * DAY_MS]
}

function daysOf(rows: readonly Readonly<Record<string, unknown>>[]): readonly Day[] {
  return rows.map(({ day, spent, paid, burned }) => ({
    day: Number(day),
    spent: String(spent),
    paid: String(paid),
    burned: String(burned),
  }))
}

/** Asserts that both have the same figures for every day. The peer has no row for a day without events. */
function assertSame(name: string, own: readonly Day[], theirs: readonly Day[]): void {
  const billionths = (text = '0'): bigint => {
    const [whole = '0', decimals = ''] = text.split('.')
    return BigInt(whole + decimals.padEnd(9, '0'))
  }
  const byDay = new Map(theirs.map((day) => [day.day, day]))
  for (const day of own) {
    const same = (['spent', 'paid', 'burned'] as const).every(
      (figure) => billionths(day[figure]) === billionths(byDay.get(day.day)?.[figure]),
    )
    assert(same, `${name} has the figures of day ${day.day}`)
  }
}

/** Writes the events as CSV, to fill a database. */
function writeEvents(db: DatabaseSync, path: string): void {
  const rows = db
    .prepare(
      `SELECT e.seq || ',' || e.at || ',' || k.type || ',' || k.kind || ',' || ifnull(json_extract(e.line, '$.kots'), '') AS row
       FROM events e JOIN kinds k ON k.code = e.code ORDER BY e.seq`,
    )
    .iterate()
  const file = openSync(path, 'w', 0o644)
  let text = ''
  for (const { row } of rows) {
    text += `${String(row)}\n`
    if (text.length < 1 << 20) continue
    writeSync(file, text)
    text = ''
  }
  writeSync(file, text)
  closeSync(file)
}
