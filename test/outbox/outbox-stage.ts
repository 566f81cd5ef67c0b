import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { outboxSql, parseOutboxTable } from '../../src/command/outbox/outbox-sql.ts'
import type { RunResult } from '../stage/command-stage.ts'
import { run } from '../stage/command-stage.ts'
import type { PostgresServer } from './postgres-server.ts'
import { startPostgresServer } from './postgres-server.ts'
import type { Service } from '../stage/service.ts'
import { startService } from '../stage/service.ts'

const WAIT_MS = 30_000
const LOOK_MS = 10

/** A row of the outbox, as the platform reads it. */
type OutboxRow = Readonly<{
  id: string
  pos: string | null
  draft: string
  drained_at: Date | null
  status: string | null
  seq: string | null
  log: string | null
}>

/** A platform with an outbox, and a service that publishes it. */
export type OutboxStage = AsyncDisposable &
  Readonly<{
    folder: string
    server: PostgresServer
    service: Service
    tokenFile: string
    /** Connections of the platform, as the user who may do everything. */
    sql: postgres.Sql
    /** Words of the command that drains the outbox. */
    words: readonly string[]
    /** Inserts drafts in one transaction. */
    insert(...drafts: readonly object[]): Promise<void>
    /** All rows in the order of their positions. */
    rows(): Promise<readonly OutboxRow[]>
    /** Drains until no row is left. */
    drain(...more: readonly string[]): Promise<RunResult>
    /** Events of the service's log, as kind and amount. */
    events(): Promise<readonly string[]>
  }>

export async function openOutboxStage(): Promise<OutboxStage> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-outbox-'))
  const [server, service] = await Promise.all([
    startPostgresServer(folder),
    startService({ chain: 'opaque', options: ['--rate-limit', 'off', '--drain', '0'] }),
  ])
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, service.token)
  server.run(
    'psql',
    [server.url(), '-q', '-v', 'ON_ERROR_STOP=1'],
    outboxSql(parseOutboxTable('daybook_outbox')),
  )
  const sql = connectTester(server)
  const token = ['--token-file', tokenFile] as const
  const words = [
    'publish',
    '--from',
    server.url().replace('tester@', 'daybook@'),
    '--to',
    service.door,
    ...token,
  ]
  return {
    folder,
    server,
    service,
    tokenFile,
    sql,
    words,
    async insert(...drafts) {
      await sql.begin(async (transaction) => {
        for (const draft of drafts) {
          await transaction`INSERT INTO daybook_outbox (draft) VALUES (${JSON.stringify(draft)}::text::json)`
        }
      })
    },
    rows: () => sql<OutboxRow[]>`SELECT *, draft::text AS draft FROM daybook_outbox ORDER BY pos`,
    drain: (...more) => run([...words, '--once', ...more]),
    async events() {
      const { events } = (await (await fetch(`${service.url}/api/v1/events?limit=10000`)).json()) as {
        events: readonly { kind: string; kots: string | null }[]
      }
      return events.map(({ kind, kots }) => `${kind} ${kots}`)
    },
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 })
      await server[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Connections of the user who may do everything. */
function connectTester({ host }: PostgresServer, connections = 4): postgres.Sql {
  return postgres({
    host,
    username: 'tester',
    database: 'postgres',
    max: connections,
    connect_timeout: 30,
    onnotice: () => undefined,
  })
}

/** Waits until a condition holds. */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const endMs = performance.now() + WAIT_MS
  while (!(await holds())) {
    assert.ok(performance.now() < endMs, `${what} in time`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}
