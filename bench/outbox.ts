import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { outboxSql, parseOutboxTable } from '../src/outbox/outbox-sql.ts'
import { hasPostgres, startPostgresServer } from '../test/database/postgres-server.ts'
import { benchSettings, inTurns, type Measured, report } from './stage/report.ts'

/** Measures what the trigger of the outbox costs the platform: inserts with it and without it, on PostgreSQL with fsync. */

const ROUNDS = 3
const DRAFT = `'{"type":"play","kind":"entry","contestId":1,"kots":"2.5"}'`
const WRITERS = [1, 6, 16]
const turnSeconds = benchSettings().full ? 2 : 1

if (hasPostgres) await outbox()
else process.stderr.write('outbox: PostgreSQL is not installed\n')

async function outbox(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-bench-outbox-'))
  try {
    await using server = await startPostgresServer(directory)
    const plain = 'CREATE TABLE plain (LIKE daybook_outbox INCLUDING ALL)'
    server.run('psql', [server.url(), '-q'], `${outboxSql(parseOutboxTable('daybook_outbox'))}${plain}`)
    const rows: Measured[] = []
    for (const writers of WRITERS) {
      // PostgreSQL's own load generator.
      const [ours = [], theirs = []] = await inTurns(ROUNDS, ['daybook_outbox', 'plain'], (table) => {
        const script = join(directory, 'script.sql')
        writeFileSync(script, `INSERT INTO ${table} (draft) VALUES (${DRAFT});\n`)
        const words = [
          '-n',
          '-c',
          `${writers}`,
          '-j',
          '1',
          '-T',
          `${turnSeconds}`,
          '-f',
          script,
          server.url(),
        ]
        return Number(/^tps = ([\d.]+)/m.exec(server.run('pgbench', words))?.[1])
      })
      const what = `insert into the outbox, ${writers} writer${writers === 1 ? '' : 's'}`
      rows.push({ what, unit: 'transactions/s', peer: 'without the trigger', ours, theirs, better: 'more' })
    }
    report(rows)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
