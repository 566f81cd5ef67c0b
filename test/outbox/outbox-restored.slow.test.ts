import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { outboxSql, parseOutboxTable } from '../../src/outbox/outbox-sql.ts'
import { skipUnless } from '../processes/test-needs.ts'
import { until } from './outbox-stage.ts'
import { hasPostgres, type PostgresServer, startPostgresServer } from '../database/postgres-server.ts'

const SQL = outboxSql(parseOutboxTable('daybook_outbox'))
const ORDER = `SELECT draft->>'n' FROM daybook_outbox ORDER BY pos`
const insert = (number: number): string => `INSERT INTO daybook_outbox (draft) VALUES ('{"n":${number}}');`

suite('a copy of an outbox', { skip: skipUnless(hasPostgres, 'postgresql') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-restored-'))
  let server: PostgresServer
  before(async () => {
    server = await startPostgresServer(folder, {
      settings: ['wal_level=logical', 'wal_retrieve_retry_interval=100ms', 'fsync=off'],
    })
    make('source')
    // The rows of the table lie in the order 3, 4, 1, 2, and a dump has them in that order.
    psql(
      'source',
      `${[1, 2, 3, 4].map(insert).join('\n')}
      UPDATE daybook_outbox SET drained_at = now() WHERE draft->>'n' = '1';
      UPDATE daybook_outbox SET status = NULL WHERE draft->>'n' = '2'`,
    )
    assert.equal(psql('source', 'SELECT pos FROM daybook_outbox'), '3\n4\n1\n2\n')
  })
  after(async () => {
    await server?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })

  const psql = (base: string, text: string): string =>
    server.run('psql', [server.url(base), '-qAt', '-v', 'ON_ERROR_STOP=1'], text)
  const dump = (...words: readonly string[]): string =>
    server.run('pg_dump', ['-d', server.url('source'), '--data-only', ...words])
  /** Makes a database with an empty outbox. */
  function make(base: string): void {
    psql('postgres', `CREATE DATABASE ${base}`)
    psql(base, SQL)
  }
  function restoreArchive(base: string, ...words: readonly string[]): void {
    const archive = join(server.host, `${base}.dump`)
    dump('-Fc', '-f', archive)
    server.run('pg_restore', ['-d', server.url(base), '--data-only', ...words, archive])
  }
  const withoutTrigger = (copy: string): string =>
    `ALTER TABLE daybook_outbox DISABLE TRIGGER USER;\n${copy}\nALTER TABLE daybook_outbox ENABLE TRIGGER USER;`
  const copied = (): string =>
    `COPY daybook_outbox FROM STDIN;\n${psql('source', 'COPY daybook_outbox TO STDOUT')}\\.\n`

  const WAYS: Readonly<Record<string, (base: string) => void>> = {
    'pg_dump and psql': (base) => void psql(base, dump()),
    'pg_dump --inserts and psql': (base) => void psql(base, dump('--inserts')),
    pg_restore: (base) => restoreArchive(base),
    'pg_restore of the table alone': (base) => restoreArchive(base, '-t', 'daybook_outbox'),
    'pg_restore --disable-triggers': (base) => restoreArchive(base, '--disable-triggers'),
    'pg_restore --disable-triggers of the table alone': (base) =>
      restoreArchive(base, '--disable-triggers', '-t', 'daybook_outbox'),
    COPY: (base) => void psql(base, copied()),
    'COPY without the trigger': (base) => void psql(base, withoutTrigger(copied())),
    'COPY into a session of a replica': (base) =>
      void psql(base, `SET session_replication_role = replica;\n${copied()}`),
  }

  for (const [index, [way, restore]] of Object.entries(WAYS).entries()) {
    test(`by ${way} keeps the order, and puts new rows after it`, () => {
      const base = `restored_${index}`
      make(base)
      restore(base)
      psql(base, `BEGIN; ${insert(5)} ${insert(6)} COMMIT;`)
      psql(base, `BEGIN ISOLATION LEVEL SERIALIZABLE; ${insert(7)} COMMIT;`)
      assert.deepEqual(psql(base, ORDER).trim().split('\n'), ['1', '2', '3', '4', '5', '6', '7'])
      const isPast = 'SELECT last_value >= (SELECT max(pos) FROM daybook_outbox) FROM daybook_outbox_pos'
      assert.equal(psql(base, isPast), 't\n')
    })
  }

  for (const [base, mode] of [
    ['subscriber', 'ENABLE'],
    ['always', 'ENABLE ALWAYS'],
  ] as const) {
    test(`by logical replication keeps the order, with ${mode} TRIGGER`, async () => {
      make(base)
      psql(base, `ALTER TABLE daybook_outbox ${mode} TRIGGER daybook_outbox_place`)
      psql(
        'source',
        `CREATE PUBLICATION ${base} FOR TABLE daybook_outbox;
        SELECT pg_create_logical_replication_slot('${base}', 'pgoutput')`,
      )
      const connection = `host=${server.host} user=tester dbname=source`
      psql(
        base,
        `CREATE SUBSCRIPTION ${base} CONNECTION '${connection}' PUBLICATION ${base} WITH (create_slot = false)`,
      )
      const rows = (at: string): string => psql(at, `SELECT count(*), max(pos) FROM daybook_outbox`)
      await until(() => rows(base) === rows('source'), 'the rows are copied')
      // A later row comes as it was inserted, and then with its position.
      psql(
        'source',
        `BEGIN; ${insert(5)} ${insert(6)} COMMIT; DELETE FROM daybook_outbox WHERE draft->>'n' = '5'`,
      )
      await until(() => rows(base) === rows('source'), 'the later row is copied')
      const last = psql('source', ORDER)
      psql(base, `DROP SUBSCRIPTION ${base}`)
      psql(base, insert(7))
      assert.equal(psql(base, ORDER), `${last}7\n`)
    })
  }
})
