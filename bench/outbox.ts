import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { outboxSql, parseOutboxTable } from '../src/outbox/outbox-sql.ts'
import { openOutboxStage } from '../test/outbox/outbox-stage.ts'
import { hasPostgres, type PostgresServer, startPostgresServer } from '../test/outbox/postgres-server.ts'
import { share } from './stage/measure.ts'
import { table, thousands } from './stage/report.ts'

/** Measures what the trigger of the outbox costs the platform: inserts with it and without it, in turns. */

const ROUNDS = 3
const TURN_SECONDS = 2
const DRAFT = `'{"type":"play","kind":"entry","contestId":1,"kots":"2.5"}'`
/** Rows that wait when the drainer starts. */
const WAITING = 30_000
/** The same table without the trigger. */
const PLAIN = `CREATE TABLE plain (LIKE daybook_outbox INCLUDING ALL)`
const CASES = [1, 6, 16].flatMap((writers) => [1, 10].map((rows) => ({ writers, rows })))

if (hasPostgres) process.stdout.write(`${await outbox()}\n`)
else process.stdout.write('## The outbox\n\nPostgreSQL is not installed.\n')

async function outbox(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-bench-outbox-'))
  try {
    await using server = await startPostgresServer(directory)
    server.run('psql', [server.url(), '-q'], `${outboxSql(parseOutboxTable('daybook_outbox'))}${PLAIN}`)
    const rows = CASES.map(({ writers, rows: perTransaction }) => {
      const turns = Array.from({ length: ROUNDS }, () =>
        ['daybook_outbox', 'plain'].map((name) => turn(server, directory, { name, writers, perTransaction })),
      )
      const ratios = turns.map(([own = 0, plain = 0]) => own / plain)
      const [own, plain] = [0, 1].map((index) =>
        share(
          turns.map((both) => both[index] ?? 0),
          0.5,
        ),
      )
      return [
        `${writers}, ${perTransaction}`,
        perSecond(own),
        perSecond(plain),
        share(ratios, 0.5).toFixed(2),
      ]
    })
    return [
      '## The outbox',
      '',
      `Transactions a second that insert into the outbox, by writers and rows of a transaction, and the same into a table without the trigger. PostgreSQL with fsync on this disk, in turns of ${TURN_SECONDS} s, ${ROUNDS} rounds; the medians count.`,
      '',
      table(['writers, rows', 'outbox', 'without trigger', 'ratio'], rows),
      '',
      `The drainer publishes ${perSecond(await drainRate())} rows a second when ${thousands(WAITING)} wait.`,
      '',
    ].join('\n')
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Rows a second that the drainer publishes, its connections included. */
async function drainRate(): Promise<number> {
  await using stage = await openOutboxStage()
  const draft = `'{"type":"treasury","kind":"deposit","kots":"1"}'`
  await stage.sql(
    `INSERT INTO daybook_outbox (draft) SELECT ${draft}::json FROM generate_series(1, ${WAITING})`,
  )
  const beganMs = performance.now()
  const { code, stderr } = await stage.drain()
  if (code !== 0) throw new Error(stderr)
  return WAITING / ((performance.now() - beganMs) / 1_000)
}

/** Transactions a second of one turn, by PostgreSQL's own load generator. */
function turn(
  server: PostgresServer,
  directory: string,
  { name, writers, perTransaction }: Readonly<{ name: string; writers: number; perTransaction: number }>,
): number {
  const script = join(directory, 'script.sql')
  writeFileSync(
    script,
    `INSERT INTO ${name} (draft) SELECT ${DRAFT}::json FROM generate_series(1, ${perTransaction});\n`,
  )
  const words = ['-n', '-c', `${writers}`, '-j', '1', '-T', `${TURN_SECONDS}`, '-f', script, server.url()]
  return Number(/^tps = ([\d.]+)/m.exec(server.run('pgbench', words))?.[1])
}

function perSecond(value: number | undefined): string {
  return thousands(Math.round(value ?? 0))
}
