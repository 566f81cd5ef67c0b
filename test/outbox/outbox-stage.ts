import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { escapeLiteral } from 'pg'
import { outboxSql, parseOutboxTable } from '../../src/outbox/outbox-sql.ts'
import { administer, type NamedRow } from '../database/administer.ts'
import { run, type RunResult } from '../stage/command-stage.ts'
import { type PostgresServer, startPostgresServer } from '../database/postgres-server.ts'
import { type Service, startService } from '../stage/service.ts'

const WAIT_MS = 30_000
const LOOK_MS = 10
const ROWS = 'SELECT *, draft::text AS draft FROM daybook_outbox ORDER BY pos'

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
    /** Runs statements on one connection, as the user who may do everything. Returns the rows of the last one. */
    sql(...statements: readonly string[]): Promise<readonly NamedRow[]>
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
  const token = ['--token-file', tokenFile] as const
  const words = [
    'publish',
    '--from',
    server.url().replace('tester@', 'daybook@'),
    '--to',
    service.publishUrl,
    ...token,
  ]
  return {
    folder,
    server,
    service,
    tokenFile,
    sql: (...statements) => administer(server, 'postgres', ...statements),
    words,
    async insert(...drafts) {
      await administer(server, 'postgres', 'BEGIN', ...drafts.map(insertionOf), 'COMMIT')
    },
    rows: () => administer<OutboxRow>(server, 'postgres', ROWS),
    drain: (...more) => run([...words, '--once', ...more]),
    async events() {
      const { events } = (await (await fetch(`${service.url}/api/v1/events?limit=10000`)).json()) as {
        events: readonly { kind: string; kots: string | null }[]
      }
      return events.map(({ kind, kots }) => `${kind} ${kots}`)
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Statement that inserts a draft. */
function insertionOf(draft: object): string {
  return `INSERT INTO daybook_outbox (draft) VALUES (${escapeLiteral(JSON.stringify(draft))})`
}

/** Waits until a condition holds. */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const endMs = performance.now() + WAIT_MS
  while (!(await holds())) {
    assert.ok(performance.now() < endMs, `${what} in time`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}
