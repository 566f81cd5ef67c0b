import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { hasPostgres } from '../../database/postgres-server.ts'
import { skipUnless } from '../../processes/test-needs.ts'
import { openTableStage } from '../log/table-stage.ts'

suite('the SQL of cluster init', { skip: skipUnless(hasPostgres, 'PostgreSQL') }, () => {
  test('makes a table that passes the check, and a second run changes nothing and says why', async () => {
    await using stage = await openTableStage()
    const used = await stage.movedLog('first', 2)
    const rows = await used.rows()
    const { stdout } = await stage.cluster('init', 'book_1')
    assert.throws(() => stage.psql('book_1', stdout), /relation "daybook_log" already exists/)
    assert.deepEqual(await used.rows(), rows)
    assert.equal((await stage.cluster('check', ...used.words)).code, 0)

    stage.psql('postgres', 'CREATE DATABASE fresh')
    const fresh = await stage.cluster('init', 'fresh', '--role', 'nodes_of_fresh')
    stage.psql('fresh', fresh.stdout)
    const url = used.url.replace('//daybook@', '//nodes_of_fresh@').replace('/book_1', '/fresh')
    const checked = await stage.cluster('check', '--log-store', url, '--single-database')
    assert.equal(checked.stderr, 'the table has no row\n')
  })
})
