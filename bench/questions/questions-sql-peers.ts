import type { DuckDBConnection } from '@duckdb/node-api'
import { closeSync, openSync, writeSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { DAY_MS } from '../../src/protocol/moment.ts'
import { startPostgres } from '../stage/postgres.ts'

/** A window of whole days, and its answer: spent, paid and burned on each day, in billionths. */
export type Window = Readonly<{ fromMs: number; toMs: number }>
export type Day = Readonly<{ atMs: number; spent: bigint; paid: bigint; burned: bigint }>

/** A database with the events in a table. It answers, and reports its processor time. */
export type SqlPeer = AsyncDisposable &
  Readonly<{
    name: string
    ask(window: Window): Promise<readonly Day[]>
    /** Processor time so far of all threads that answer, in ms. */
    cpuMs(): number
  }>

const CHUNK_CHARS = 1 << 20

/** Writes the events as CSV in batches, to fill a database. */
export function writeEvents(store: DatabaseSync, path: string): void {
  const rows = store
    .prepare(
      `SELECT e.seq || ',' || e.at || ',' || k.type || ',' || k.kind || ',' || ifnull(e.contest, '') || ','
         || ifnull(json_extract(e.line, '$.kots'), '') || ',' || ifnull(json_extract(e.line, '$.tx'), '') AS row
       FROM events e JOIN kinds k ON k.code = e.code ORDER BY e.seq`,
    )
    .iterate()
  const file = openSync(path, 'w', 0o644)
  let text = ''
  for (const { row } of rows) {
    text += `${String(row)}\n`
    if (text.length < CHUNK_CHARS) continue
    writeSync(file, text)
    text = ''
  }
  writeSync(file, text)
  closeSync(file)
}

/** Flows in SQL. A correction counts with its own amount, the negative of the corrected event's. */
const SUMS = [
  ['spent', `type = 'play' OR (type = 'correction' AND kind = 'play')`],
  ['paid', `type = 'payout' AND kind NOT IN ('loyalty', 'refund')`],
  ['burned', `type = 'burn' OR (type = 'correction' AND kind = 'burn')`],
] as const

function question(day: string, bounds: readonly [from: string, to: string]): string {
  const sums = SUMS.map(
    ([name, which]) => `coalesce(sum(kots) FILTER (WHERE ${which}), 0)::VARCHAR AS ${name}`,
  )
  return `SELECT ${day} AS day, ${sums.join(', ')} FROM events
    WHERE at_ms >= ${bounds[0]} AND at_ms < ${bounds[1]} GROUP BY day ORDER BY day`
}

/** DuckDB in this process, on all processors. */
export async function duckdb(csv: string): Promise<SqlPeer> {
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: '4GB' })
  const connection = await instance.connect()
  await connection.run(`CREATE TABLE events (seq BIGINT PRIMARY KEY, at_ms BIGINT NOT NULL, type VARCHAR NOT NULL,
    kind VARCHAR NOT NULL, contest BIGINT, kots DECIMAL(18, 9), tx VARCHAR)`)
  await connection.run(`INSERT INTO events SELECT * FROM read_csv('${csv.replaceAll("'", "''")}', header = false,
    columns = {'seq': 'BIGINT', 'at_ms': 'BIGINT', 'type': 'VARCHAR', 'kind': 'VARCHAR', 'contest': 'BIGINT',
      'kots': 'DECIMAL(18, 9)', 'tx': 'VARCHAR'})`)
  const sql = question(`at_ms // ${DAY_MS}`, ['$1', '$2'])
  return {
    name: 'DuckDB',
    ask: async (window) => daysOf(await rowsOf(connection, sql, window)),
    cpuMs() {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1000
    },
    async [Symbol.asyncDispose]() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

async function rowsOf(connection: DuckDBConnection, sql: string, { fromMs, toMs }: Window): Promise<Rows> {
  const reader = await connection.runAndReadAll(sql, [BigInt(fromMs), BigInt(toMs)])
  return reader.getRowObjects()
}

/** Uses one process, whose processor time is then that of the answer. Parallel workers would use more in total. */
const SETTINGS = [
  'shared_buffers=1GB',
  'work_mem=64MB',
  'max_parallel_workers_per_gather=0',
  'jit=off',
  'max_wal_size=8GB',
]

/** PostgreSQL on a socket; undefined if not installed. */
export async function postgresql(csv: string, directory: string): Promise<SqlPeer | undefined> {
  const server = await startPostgres(directory, SETTINGS)
  if (server === undefined) return undefined
  const { client } = server
  await client.query(`CREATE TABLE events (seq bigint PRIMARY KEY, at_ms bigint NOT NULL, type text NOT NULL,
    kind text NOT NULL, contest bigint, kots numeric(30, 9), tx text)`)
  await client.query(`COPY events FROM '${csv.replaceAll("'", "''")}' (FORMAT csv)`)
  await client.query('CREATE INDEX events_at ON events (at_ms)')
  await client.query('VACUUM ANALYZE events')
  const text = question(`at_ms / ${DAY_MS}`, ['$1', '$2'])
  return {
    name: 'PostgreSQL',
    ask: async ({ fromMs, toMs }) => daysOf((await client.query<Rows[number]>(text, [fromMs, toMs])).rows),
    cpuMs: server.cpuMs,
    [Symbol.asyncDispose]: server[Symbol.asyncDispose],
  }
}

type Rows = readonly Readonly<Record<string, unknown>>[]

function daysOf(rows: Rows): readonly Day[] {
  return rows.map(({ day, spent, paid, burned }) => ({
    atMs: Number(day) * DAY_MS,
    spent: billionthsOf(spent),
    paid: billionthsOf(paid),
    burned: billionthsOf(burned),
  }))
}

/** Billionths of a decimal text with any number of trailing zeros. */
function billionthsOf(value: unknown): bigint {
  const [whole = '0', decimals = ''] = String(value).split('.')
  return BigInt(whole + decimals.padEnd(9, '0'))
}
