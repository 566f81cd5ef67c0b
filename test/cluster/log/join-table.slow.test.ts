import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { before, suite, test } from 'node:test'
import { openLogTable } from '../../../src/cluster/table/open-table.ts'
import { parseDatabaseUrl } from '../../../src/command/database/database-url.ts'
import { StoreError, openForReading, readIdentity, storePath } from '../../../src/log/store/store.ts'
import { headOf } from '../../../src/log/tree/log-fault.ts'
import type { SigningKey } from '../../../src/log/tree/signer.ts'
import { hasPostgres } from '../../database/postgres-server.ts'
import { until } from '../../processes/other-program.ts'
import { run, start } from '../../stage/command-stage.ts'
import { skipUnless } from '../../processes/test-needs.ts'
import { OTHER_KEY, TEST_KEY } from '../../story/signing.ts'
import { tableOptions } from '../table/postgres-table-rig.ts'
import { STAGE_LOG, type StageTable, openTableStage, suiteOnTable } from './table-stage.ts'
import { joinTable } from '../../../src/cluster/log/join-table.ts'

/** Nothing listens on the discard port. */
const AWAY = 'postgres://daybook@127.0.0.1:9/book?sslmode=disable'

suiteOnTable('a directory that joins a table', (stage) => {
  let table: StageTable
  before(async () => {
    table = await stage.movedLog('first', 3)
  })

  type Joined = Awaited<ReturnType<typeof joinTable>>

  /** Joins, and waits for the database as long as the reasons to wait are at most so many. */
  async function join(
    name: string,
    from: StageTable = table,
    keys: readonly SigningKey[] = [TEST_KEY],
    reasons: string[] = [],
  ): Promise<Joined> {
    const joined = await joinTable({
      dataDirectory: stage.pathOf(name),
      keys,
      open: () => openLogTable(from.settings.database, tableOptions({ isSingle: true })),
      async wait(reason) {
        reasons.push(reason)
        if (reasons.length === 2) throw new StoreError('waited twice')
      },
    })
    joined.db.close()
    return joined
  }

  const refused = (joining: Promise<Joined>, expected: RegExp): Promise<void> =>
    assert.rejects(joining, (error: unknown) => error instanceof StoreError && expected.test(error.message))

  test('gets the empty store of the log when it is empty, and owes nothing', async () => {
    stage.makeFolder('joined')
    const { owed } = await join('joined')
    assert.equal(owed, null)
    using db = openForReading(storePath(stage.pathOf('joined')))
    assert.equal(readIdentity(db).origin, STAGE_LOG.origin)
    assert.equal(headOf(db), 0)
  })

  test('is refused with words, and gets no store, when the table is empty', async () => {
    stage.makeFolder('early')
    const empty = await stage.newTable()
    await refused(join('early', empty), /^the table has no log yet: put one there with daybook cluster move/)
    assert.ok(!existsSync(storePath(stage.pathOf('early'))))
  })

  test('is told to start from a backup when the first rows were deleted', async () => {
    stage.makeFolder('late')
    const rows = await table.rows()
    await table.sql('DELETE FROM daybook_log WHERE place = 1')
    const joining = join('late')
    await refused(
      joining,
      /^the oldest rows of the table were deleted: .* a backup of another one \(daybook restore\)/,
    )
    await table.put(rows)
  })

  test('is refused when its log is alone, or that of another table', async () => {
    stage.makeLog('alone')
    await refused(
      join('alone'),
      /^no table carries the log of this directory: move it there with daybook cluster move/,
    )
    const other = await stage.movedLog('other', 1)
    const rows = await other.rows()
    await using node = await stage.start('other', table)
    await until('it stops', async () => node.said().includes('"fact":"log-stopped"'))
    assert.match(node.said(), /"place":2,.*"fault":"fork"/)
    assert.deepEqual(await other.rows(), rows)
    await until('it keeps evidence', async () => node.said().includes('"fact":"fork-kept"'))
    const { code, stderr } = await stage.cluster('lost', '--data', stage.pathOf('other'))
    assert.equal(code, 1)
    assert.match(
      stderr,
      /the table had another log than this directory: give the node the address of the database/,
    )
  })

  test('is refused when its keys are not those of the log', async () => {
    stage.makeFolder('foreign')
    await refused(join('foreign', table, [OTHER_KEY]), /^the first row of the table is foreign|key/)
    assert.ok(!existsSync(storePath(stage.pathOf('foreign'))))
  })

  test('waits for a database that is away, and is told why', async () => {
    stage.makeFolder('patient')
    const reasons: string[] = []
    const database = parseDatabaseUrl(AWAY, null)
    const away = { ...table, settings: { ...table.settings, database } }
    await refused(join('patient', away, [TEST_KEY], reasons), /^waited twice$/)
    assert.match(reasons[0] ?? '', /127\.0\.0\.1:9/)
  })

  test('is refused with words when its file of the primary is damaged', async () => {
    const other = await stage.movedLog('damaged', 1)
    writeFileSync(`${stage.pathOf('damaged')}/primary`, '')
    await assert.rejects(stage.start('damaged', other), {
      name: 'CommandError',
      message: /primary names no primary: remove it if the database is the one of this log/,
    })
  })
})

suite('serve --log-store', { skip: skipUnless(hasPostgres, 'PostgreSQL') }, () => {
  test('waits for a database that is away, says so, and ends at a signal without a store', async () => {
    await using stage = await openTableStage()
    const data = stage.makeFolder('waiting')
    const key = stage.keyFile('waiting.key', TEST_KEY)
    const ports = ['--port', '0', '--publish-port', '0', '--signing-key-file', key]
    const { child, says, ended } = start(['serve', '--data', data, '--log-store', AWAY, ...ports])
    await says(/"fact":"table-away"/)
    child.kill('SIGTERM')
    const { code, stderr } = await ended()
    assert.equal(code, 1, stderr)
    assert.match(stderr, /the service was stopped before it had started/)
    assert.ok(!existsSync(storePath(data)))
    const refused = await run(['serve', '--data', data, '--log-store', AWAY, '--accept-loss', ...ports])
    assert.equal(refused.code, 2)
  })
})
