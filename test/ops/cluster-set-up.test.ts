import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { promisify } from 'node:util'
import { textOf } from '../stage/document.ts'
import { skipWithout } from '../stage/test-needs.ts'

const run = promisify(execFile)
const PAGE = textOf('docs/clusters.md')

suite('the set-up of an engine in docs/clusters.md', () => {
  test('makes the roles and the database of pg_hba.conf before commits wait for a standby', () => {
    const lines = [...textOf('ops/postgres/pg_hba.conf').matchAll(/^hostssl +(\w+) +(\w+) /gm)]
    const [, section = ''] = PAGE.split('\n## PostgreSQL\n')
    const [early = '', late = ''] = section.split('\n2. Include')
    assert.match(early, /CREATE DATABASE daybook;/)
    assert.match(early, /CREATE ROLE replicator LOGIN REPLICATION;/)
    const init = /daybook cluster init 'postgres:\/\/(?<user>\w+)@[^/]*\/(?<database>\w+)\?/.exec(
      late,
    )?.groups
    const passwords = [...section.matchAll(/\\password (\w+)/g)].map(([, role]) => role)
    assert.deepEqual(
      new Set(lines.map(([, database, role]) => `${database} ${role}`)),
      new Set(['daybook daybook', 'replication replicator', `${init?.['database']} ${init?.['user']}`]),
    )
    assert.deepEqual(new Set(lines.map(([, , role]) => role)), new Set(passwords))
  })

  test('makes a certificate for each broker of NATS', { skip: skipWithout('openssl') }, async () => {
    const [, text = ''] = /```sh\n([^`]*openssl[^`]*)```/.exec(PAGE) ?? []
    const folder = mkdtempSync(join(tmpdir(), 'daybook-brokers-'))
    try {
      await run('sh', ['-euc', text], { cwd: folder })
      for (const name of ['a', 'b', 'c']) {
        const checked = ['-CAfile', 'ca.pem', '-verify_hostname', `${name}.example.org`, `${name}.pem`]
        const { stdout } = await run('openssl', ['verify', ...checked], { cwd: folder })
        assert.equal(stdout, `${name}.pem: OK\n`)
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
