import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { textOf } from '../stage/document.ts'

/** The page, without its line breaks inside paragraphs. */
const PAGE = textOf('docs/clusters.md').replaceAll(/(?<=\S)\n +(?=\S)/g, ' ')

suite('the set-up of a database in docs/clusters.md', () => {
  test('makes the roles and the database of pg_hba.conf before commits wait for a standby', () => {
    const lines = [...textOf('ops/postgres/pg_hba.conf').matchAll(/^hostssl +(\w+) +(\w+) /gm)]
    const [, section = ''] = PAGE.split('\n## Five steps\n')
    const [early = '', late = ''] = section.split(' Include ')
    assert.match(early, /CREATE DATABASE daybook;/)
    assert.match(early, /CREATE ROLE replicator LOGIN REPLICATION;/)
    const init = /daybook cluster init .*dbname=(?<database>\w+) user=(?<user>\w+)/.exec(late)?.groups
    const passwords = [...section.matchAll(/\\password (\w+)/g)].map(([, role]) => role)
    assert.deepEqual(
      new Set(lines.map(([, database, role]) => `${database} ${role}`)),
      new Set(['daybook daybook', 'replication replicator', `${init?.['database']} ${init?.['user']}`]),
    )
    assert.deepEqual(new Set(lines.map(([, , role]) => role)), new Set(passwords))
  })
})
