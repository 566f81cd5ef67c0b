import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { SERVE_ON_TABLE } from '../../../src/cluster/command/table-options.ts'
import { setupSql } from '../../../src/cluster/table/table-setup.ts'
import type { TableRow } from '../../../src/cluster/table/log-table.ts'
import { openMainLines } from '../../../src/command/log-lines/log-lines.ts'
import type { Service } from '../../../src/command/service/service.ts'
import { parseDatabaseUrl } from '../../../src/command/database/database-url.ts'
import type { NewLog } from '../../../src/log/store/store.ts'
import { readyLog } from '../../../src/log/tree/ready-log.ts'
import type { SigningKey } from '../../../src/log/tree/signer.ts'
import { msOf } from '../../../src/protocol/moment.ts'
import type { Judge } from '../../../src/command/plug/option.ts'
import { type SharedClock, openSharedClock } from '../../../src/publish/writer/shared-clock.ts'
import { type NamedRow, administer } from '../../database/administer.ts'
import { type PostgresServer, hasPostgres, startPostgresServer } from '../../database/postgres-server.ts'
import { freePort } from '../../processes/free-ports.ts'
import { until } from '../../processes/other-program.ts'
import { type RunResult, run } from '../../stage/command-stage.ts'
import { manualContext, postDrafts, startLocalNode } from '../../stage/manual-node.ts'
import { TEST_KEY } from '../../story/signing.ts'
import type { TableSettings } from '../../../src/cluster/table/open-table.ts'
import { after, before, suite } from 'node:test'
import { skipUnless } from '../../processes/test-needs.ts'

/** Identity of the logs of the stage. */
export const STAGE_LOG: NewLog = { origin: 'daybook.test/table', chain: 'solana', simulated: false }

/** A database with the table of a log, on the server of a stage. Nodes reach it without a standby. */
export type StageTable = Readonly<{
  url: string
  /** Options of a command that uses the table. */
  words: readonly string[]
  settings: TableSettings
  /** Runs statements as an administrator. Returns the rows of the last one. */
  sql(...statements: readonly string[]): Promise<readonly NamedRow[]>
  rows(): Promise<readonly TableRow[]>
  /** Replaces all rows. */
  put(rows: readonly TableRow[]): Promise<void>
  /** Ends all sessions of nodes. */
  cut(): Promise<void>
}>

/** A node in this process, and its log lines so far. */
export type StageNode = AsyncDisposable &
  Readonly<{ service: Service; url: string; publishUrl: string; said(): string }>

type NodeOptions = Readonly<{
  keys?: readonly SigningKey[]
  clock?: SharedClock
  judge?: Judge
}>

/** One server of PostgreSQL without a standby, and a folder for data directories. */
export type TableStage = AsyncDisposable &
  Readonly<{
    folder: string
    pathOf(name: string): string
    /** Makes an empty directory. Returns its path. */
    makeFolder(name: string): string
    /** Writes the file of a key. Returns its path. */
    keyFile(name: string, key: SigningKey): string
    /** Makes a database, and the table in it. */
    newTable(): Promise<StageTable>
    /** Makes the empty log of a directory, and its key file. */
    makeLog(name: string, keys?: readonly SigningKey[]): void
    /** Starts a node that is alone, or on a table. It ends with the stage. */
    start(name: string, table: StageTable | null, options?: NodeOptions): Promise<StageNode>
    /** Runs psql in a database as an administrator, with SQL as its input. Throws with what it says. */
    psql(database: string, sql: string): string
    /** Runs `cluster` with these words. */
    cluster(...words: readonly string[]): Promise<RunResult>
    /** Makes a log, publishes as many deposits, and moves it onto a new table. */
    movedLog(name: string, deposits: number): Promise<StageTable>
  }>

export async function openTableStage(): Promise<TableStage> {
  await using opening = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'daybook-table-'))
  opening.defer(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o755)
  const port = await freePort()
  const server = await startPostgresServer(folder, { port })
  opening.defer(() => server.end('SIGKILL'))
  const nodes = opening.use(new AsyncDisposableStack())
  const pathOf = (name: string): string => join(folder, name)
  const keyFile = (name: string, key: SigningKey): string => {
    writeFileSync(pathOf(name), key.privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
    return pathOf(name)
  }
  let databases = 0
  const stage: TableStage = {
    folder,
    pathOf,
    makeFolder(name) {
      mkdirSync(pathOf(name))
      return pathOf(name)
    },
    keyFile,
    async newTable() {
      databases += 1
      const database = `book_${databases}`
      await administer(server, 'postgres', `CREATE DATABASE ${database}`)
      const table = tableIn(server, database)
      await table.sql(setupSql('daybook', database) ?? '')
      return table
    },
    makeLog(name, keys = [TEST_KEY]) {
      readyLog(pathOf(name), STAGE_LOG, { keys, acceptNewKey: false, acceptLoss: false })
      keyFile(`${name}.key`, keys[0] ?? TEST_KEY)
    },
    async start(name, table, { keys = [TEST_KEY], clock, judge } = {}) {
      const node = await startNode(pathOf(name), table, keys, clock ?? presentClock(), judge ?? null)
      nodes.use(node)
      return node
    },
    psql(database, sql) {
      const words = ['-h', server.host, '-p', String(port), '-U', 'tester', '-d', database]
      return server.run('psql', [...words, '-v', 'ON_ERROR_STOP=1'], sql)
    },
    cluster: (...words) => run(['cluster', ...words]),
    async movedLog(name, deposits) {
      const table = await stage.newTable()
      stage.makeLog(name)
      if (deposits > 0) {
        await using node = await stage.start(name, null)
        const refs = Array.from({ length: deposits }, (_, index) => `${name}-${index + 1}`)
        assert.equal((await postDrafts(node.service, refs.map(someDeposit))).status, 200)
      }
      const moved = await stage.cluster('move', '--data', pathOf(name), ...table.words)
      assert.equal(moved.code, 0, moved.stderr)
      return table
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
  const open = opening.move()
  return stage
}

/** A suite of tests with a stage of their own, where PostgreSQL is installed. */
export function suiteOnTable(name: string, tests: (stage: TableStage) => void): void {
  suite(name, { skip: skipUnless(hasPostgres, 'PostgreSQL') }, () => {
    const stage = {} as TableStage
    before(async () => void Object.assign(stage, await openTableStage()))
    after(() => stage[Symbol.asyncDispose]())
    tests(stage)
  })
}

/** A draft that any log takes. */
export const someDeposit = (ref: string): object => ({ ref, type: 'treasury', kind: 'deposit', kots: '1' })

/** Publishes a deposit as soon as the node takes drafts. Returns its seq. */
export async function publishAt({ service }: StageNode, ref: string): Promise<number> {
  let seq = 0
  await until(`a node publishes ${ref}`, async () => {
    const answer = await postDrafts(service, [someDeposit(ref)])
    const body = (await answer.json()) as { drafts?: readonly { seq: number }[] }
    seq = body.drafts?.[0]?.seq ?? 0
    return answer.status === 200
  })
  return seq
}

/** Waits until a node has this many events, and no more. */
export async function untilHead({ url }: StageNode, seq: number): Promise<void> {
  await until(`the node has seq ${seq}`, async () => (await jsonAt<Headed>(url, 'status')).head.seq === seq)
}

type Headed = Readonly<{ head: { seq: number } }>

/** JSON of a path of the public API. */
export async function jsonAt<Answer>(url: string, path: string): Promise<Answer> {
  return (await (await fetch(`${url}/api/v1/${path}`)).json()) as Answer
}

/** Waits until a node takes drafts. */
export async function untilLeads({ publishUrl }: Pick<StageNode, 'publishUrl'>): Promise<void> {
  await until('the node leads', () => isReady(publishUrl))
}

/** Whether a node takes drafts, by its private listener. */
export async function isReady(publishUrl: string): Promise<boolean> {
  return (await fetch(`${publishUrl}/readyz?for=publish`)).status === 200
}

/** Bytes of answers of a node, in base64. */
export async function answersOf(url: string, paths: readonly string[]): Promise<readonly string[]> {
  const answers: string[] = []
  for (const path of paths) {
    const response = await fetch(`${url}/api/v1/${path}`, { headers: { 'accept-encoding': 'identity' } })
    const body = Buffer.from(await response.arrayBuffer()).toString('base64')
    answers.push(`${path} ${response.status} ${response.headers.get('etag') ?? ''} ${body}`)
  }
  return answers
}

function presentClock(): SharedClock {
  const clock = openSharedClock()
  clock.set(msOf(Date.now()))
  return clock
}

async function startNode(
  data: string,
  table: StageTable | null,
  keys: readonly SigningKey[],
  clock: SharedClock,
  judge: Judge | null,
): Promise<StageNode> {
  let said = ''
  const stderr = new PassThrough().on('data', (bytes: Buffer) => (said += bytes.toString()))
  const lines = openMainLines({ ...manualContext(clock.now), stderr })
  const given = table === null ? {} : { logStore: table.url, singleDatabase: true }
  const carrier = SERVE_ON_TABLE.carrier?.(given) ?? null
  const service = await startLocalNode(data, STAGE_LOG, keys, clock, {
    lines,
    settings: { carrier, judge },
  })
  let isOpen = true
  return {
    service,
    url: `http://127.0.0.1:${service.port}`,
    publishUrl: `http://127.0.0.1:${service.publishPort}`,
    said: () => said,
    async [Symbol.asyncDispose]() {
      if (isOpen) await service[Symbol.asyncDispose]()
      isOpen = false
    },
  }
}

function tableIn(server: PostgresServer, database: string): StageTable {
  const url = `postgres://daybook@127.0.0.1:${server.port}/${database}?sslmode=disable`
  const sql: StageTable['sql'] = (...statements) => administer(server, database, ...statements)
  return {
    url,
    words: ['--log-store', url, '--single-database'],
    settings: { database: parseDatabaseUrl(url, null), isSingle: true },
    sql,
    async rows() {
      const rows = await sql('SELECT place, body FROM daybook_log ORDER BY place')
      return rows.map(({ place, body }) => {
        assert.ok(body instanceof Uint8Array)
        return { place: Number(place), bytes: new Uint8Array(body) }
      })
    },
    async put(rows) {
      // A node that looks meanwhile never sees an empty table.
      const kept = rows.map(({ place }) => place).join() || '0'
      await sql(
        `DELETE FROM daybook_log WHERE place NOT IN (${kept})`,
        ...rows.map(({ place, bytes }) => {
          const body = `'\\x${Buffer.from(bytes).toString('hex')}'`
          return `INSERT INTO daybook_log VALUES (${place}, ${body}) ON CONFLICT (place) DO UPDATE SET body = ${body}`
        }),
      )
    },
    async cut() {
      await sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'daybook' AND datname = current_database()",
      )
    },
  }
}
