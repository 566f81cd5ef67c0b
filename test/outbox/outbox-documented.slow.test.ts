import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { run } from '../stage/command-stage.ts'
import { blocksOf, textOf } from '../stage/document.ts'
import { hasPostgres, type PostgresServer, startPostgresServer } from '../database/postgres-server.ts'
import { skipUnless } from '../processes/test-needs.ts'

const blocks = blocksOf(textOf('docs/outbox.md'))
const sql = blocks.filter(({ language }) => language === 'sql').map(({ text }) => text)

suite('docs/outbox.md', () => {
  suite('on PostgreSQL', { skip: skipUnless(hasPostgres, 'postgresql') }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-documented-'))
    let server: PostgresServer
    before(async () => {
      server = await startPostgresServer(folder)
    })
    after(async () => {
      await server?.[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    })
    const psql = (text: string): string =>
      server.run('psql', [server.url(), '-qAt', '-v', 'ON_ERROR_STOP=1'], text)

    test('has statements that run', async () => {
      psql((await run(['publish', '--sql'])).stdout)
      for (const text of sql) psql(text)
      assert.equal(psql('SELECT count(*), min(pos) FROM daybook_outbox'), '1|1\n')
    })

    test('gives rows that were inserted without the trigger positions in their order, after all others', () => {
      const [repair = ''] = sql.filter((text) => text.includes('WITH placed'))
      psql(`TRUNCATE daybook_outbox; INSERT INTO daybook_outbox (draft, pos) VALUES ('{"n":51}', 1000);
        ALTER TABLE daybook_outbox DISABLE TRIGGER USER;
        INSERT INTO daybook_outbox (draft, inserted_at)
          SELECT json_build_object('n', n), now() - n * interval '1 second' FROM generate_series(1, 50) n;
        ALTER TABLE daybook_outbox ENABLE TRIGGER USER;`)
      psql(repair)
      psql(`INSERT INTO daybook_outbox (draft) VALUES ('{"n":0}')`)
      const placed = psql(`SELECT draft->>'n' FROM daybook_outbox ORDER BY pos`)
        .trim()
        .split('\n')
        .map(Number)
      assert.deepEqual(
        placed,
        Array.from({ length: 52 }, (_, index) => 51 - index),
      )
    })

    test('names a schema that the table is made in', async () => {
      const { stdout } = await run(['publish', '--sql', '--table', 'platform.events_out'])
      psql(`CREATE SCHEMA platform; ${stdout}`)
      psql(`INSERT INTO platform.events_out (draft) VALUES ('{}')`)
      assert.match(psql('SELECT pos, id FROM platform.events_out'), /^1\|/)
      for (const name of ['Outbox', 'a.b.c', 'x; DROP TABLE y', '"x"', '']) {
        assert.equal((await run(['publish', '--sql', '--table', name])).code, 2, name)
      }
    })
  })
})
