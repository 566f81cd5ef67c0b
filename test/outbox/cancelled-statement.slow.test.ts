import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { parseDatabaseUrl } from '../../src/command/database/database-url.ts'
import { connectDatabase, DatabaseError } from '../../src/command/database/database-connection.ts'
import { skipUnless } from '../processes/test-needs.ts'
import { hasPostgres, type PostgresServer, startPostgresServer } from '../database/postgres-server.ts'

/** Rows of 8 KiB, so that the server sends the first ones long before the last. The fifth takes until it is cancelled. */
const SLOW_ROWS = `SELECT n, repeat('x', 8192) AS text, CASE WHEN n = 5 THEN pg_sleep(60)::text END AS pause
  FROM generate_series(1, 9) AS n`
/** The same, of which the fifth row is an error. */
const BAD_ROWS = `SELECT n, repeat('x', 8192) AS text, 1 / (n - 5) AS quotient FROM generate_series(1, 9) AS n`

suite(
  'a connection whose statement fails after some rows',
  { skip: skipUnless(hasPostgres, 'PostgreSQL') },
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-cancelled-'))
    let server: PostgresServer
    before(async () => {
      server = await startPostgresServer(folder)
    })
    after(async () => {
      await server[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    })

    for (const prepare of [false, true]) {
      const how = prepare ? 'a statement that the server has prepared' : 'a plain statement'
      const target = () => parseDatabaseUrl(server.url(), null)
      const numbers = 'SELECT n FROM generate_series(1, 4) AS n'

      test(`gives the next answer whole after it was cancelled (${how})`, async () => {
        const stop = new AbortController()
        await using connection = await connectDatabase(target(), stop.signal)
        await using other = await connectDatabase(target(), stop.signal)
        const [own] = await connection.ask('SELECT pg_backend_pid() AS pid')
        const slow = connection.ask(SLOW_ROWS, [], { prepare })
        const cancelled = assert.rejects(slow, (error) => {
          assert.ok(error instanceof DatabaseError)
          assert.equal(error.answer?.code, '57014')
          return true
        })
        const sleeps = `SELECT count(*)::integer AS sleeps FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'`
        while ((await other.ask(sleeps, [Number(own?.['pid'])]))[0]?.['sleeps'] !== 1);
        await other.ask('SELECT pg_cancel_backend($1)', [Number(own?.['pid'])])
        await cancelled
        const rows = await connection.ask(numbers, [], { prepare })
        assert.deepEqual(
          rows.map((row) => row['n']),
          [1, 2, 3, 4],
        )
      })

      test(`gives the answers to all that was sent behind it (${how})`, async () => {
        const stop = new AbortController()
        await using connection = await connectDatabase(target(), stop.signal)
        const [bad, ...next] = await Promise.allSettled([
          connection.ask(BAD_ROWS, [], { prepare }),
          connection.ask(numbers, [], { prepare }),
          connection.ask(numbers, [], { prepare }),
        ])
        assert.equal(bad.status, 'rejected')
        for (const answer of next) {
          assert.ok(answer.status === 'fulfilled')
          assert.deepEqual(
            answer.value.map((row) => row['n']),
            [1, 2, 3, 4],
          )
        }
      })
    }
  },
)
