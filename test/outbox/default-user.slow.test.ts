import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { userInfo } from 'node:os'
import { test } from 'node:test'
import { skipUnless } from '../processes/test-needs.ts'
import { hasPostgres, startPostgresServer } from '../database/postgres-server.ts'
import { openFolder } from '../story/damaged-log.ts'

const MODULES = {
  url: import.meta.resolve('../../src/command/database/database-url.ts'),
  connection: import.meta.resolve('../../src/command/database/database-connection.ts'),
}
/** Prints the user and the database of a session at the address in its environment. */
const PROGRAM = `
  import { parseDatabaseUrl } from ${JSON.stringify(MODULES.url)}
  import { connectDatabase } from ${JSON.stringify(MODULES.connection)}
  const target = parseDatabaseUrl(process.env.DATABASE_URL, null)
  await using connection = await connectDatabase(target, AbortSignal.timeout(60_000))
  const [row] = await connection.ask('SELECT current_user AS user, current_database() AS database')
  console.log(JSON.stringify(row))
`

test(
  'an address without a user means the user of the system, also where cron or a container sets no USER',
  { skip: skipUnless(hasPostgres, 'PostgreSQL') },
  async () => {
    using folder = openFolder()
    await using server = await startPostgresServer(folder.path)
    const { username } = userInfo()
    server.run('createuser', ['-h', server.host, '-U', 'tester', username])
    server.run('createdb', ['-h', server.host, '-U', 'tester', username])
    const place = `host=${encodeURIComponent(server.host)}`
    const addresses = [
      [`postgres:///postgres?${place}`, { user: username, database: 'postgres' }],
      [`postgres:///?${place}`, { user: username, database: username }],
      [`postgres://tester@/postgres?${place}`, { user: 'tester', database: 'postgres' }],
    ] as const
    for (const [url, expected] of addresses) {
      const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
        env: { DATABASE_URL: url },
        encoding: 'utf8',
      })
      assert.equal(stdout.trim(), JSON.stringify(expected), stderr)
    }
  },
)
