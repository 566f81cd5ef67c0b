import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { ROW_BYTES_MAX, type TableRow } from '../../../src/cluster/table/log-table.ts'
import { openLogTable } from '../../../src/cluster/table/open-table.ts'
import { parseDatabaseUrl } from '../../../src/command/database/database-url.ts'
import { hasPostgres } from '../../database/postgres-server.ts'
import { skipUnless } from '../../processes/test-needs.ts'
import { openTableStage, type TableStage } from '../log/table-stage.ts'
import { tableOptions } from '../table/postgres-table-rig.ts'
import { moveRows } from '../../../src/cluster/log/move-log.ts'

/** Longer than PostgreSQL keeps a silent session of a node, in milliseconds. */
const SILENT_MS = 6_500
const HUGE_ROW_BYTES = 48 * 1024 * 1024

suite('a table', { skip: skipUnless(hasPostgres, 'PostgreSQL') }, () => {
  let stage: TableStage
  before(async () => {
    stage = await openTableStage()
  })
  after(() => stage[Symbol.asyncDispose]())

  test('takes the rows of a log that is so large that its first rows are long in coming', async () => {
    const table = await stage.newTable()
    function* rows(): Generator<TableRow, void> {
      yield { place: 1, bytes: Buffer.from('one') }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SILENT_MS)
      yield { place: 2, bytes: Buffer.from('two') }
    }
    const options = tableOptions({ isSingle: true })
    await moveRows(parseDatabaseUrl(table.url, null), rows(), options, () => undefined)
    assert.equal((await table.rows()).length, 2)
  })

  test('with a huge row gives no more of it than shows that it is none', async () => {
    const table = await stage.newTable()
    const huge = `convert_to(repeat('x', ${HUGE_ROW_BYTES}), 'UTF8')`
    await table.sql(`INSERT INTO daybook_log VALUES (1, ${huge})`)
    const options = tableOptions({ isSingle: true })
    await using open = openLogTable(parseDatabaseUrl(table.url, null), options)
    const { rows } = await open.look(1, ROW_BYTES_MAX, 0)
    assert.deepEqual(
      rows.map(({ bytes }) => bytes.length),
      [ROW_BYTES_MAX + 1],
    )
  })
})
