import assert from 'node:assert/strict'
import { mkdirSync, renameSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, suite, test } from 'node:test'
import { moveToTable } from '../../../src/cluster/log/move-log.ts'
import { hasPostgres } from '../../database/postgres-server.ts'
import { skipUnless } from '../../processes/test-needs.ts'
import { TEST_KEY } from '../../story/signing.ts'
import { openTableStage, publishAt, type TableStage, untilLeads } from '../log/table-stage.ts'

suite('a log whose table is lost', { skip: skipUnless(hasPostgres, 'PostgreSQL') }, () => {
  let stage: TableStage
  before(async () => {
    stage = await openTableStage()
  })
  after(() => stage[Symbol.asyncDispose]())

  test('is moved again onto fewer rows, also after a move that ended in the middle of its note', async () => {
    const table = await stage.movedLog('again', 0)
    const data = stage.pathOf('again')
    const node = await stage.start('again', table)
    await untilLeads(node)
    for (const ref of ['one', 'two', 'three']) await publishAt(node, ref)
    await node[Symbol.asyncDispose]()
    await table.sql('TRUNCATE daybook_log')

    const mark = join(data, 'high-water')
    const moving = moveToTable({
      dataDirectory: data,
      keys: [TEST_KEY],
      table: table.settings,
      acceptLoss: true,
      nowMs: Date.now,
      monotonicMs: () => performance.now(),
      sleep: (ms, signal) => sleep(ms, undefined, { signal }),
      signal: new AbortController().signal,
      // The disk of the mark fails from here on.
      onProgress(place) {
        if (place > 1) return
        renameSync(mark, `${mark}.away`)
        mkdirSync(mark)
      },
    })
    await assert.rejects(moving, /EISDIR/)
    rmdirSync(mark)
    renameSync(`${mark}.away`, mark)
    assert.equal((await table.rows()).length, 0)

    const moved = await stage.cluster('move', '--accept-loss', '--data', data, ...table.words)
    assert.equal(moved.code, 0, moved.stderr)
    assert.match(moved.stdout, /up to seq 3, in 2 rows/)
    const again = await stage.start('again', table)
    assert.equal(await publishAt(again, 'four'), 4)
  })

  test('is not moved when the operator stops the move, which does not blame the database', async () => {
    const table = await stage.newTable()
    stage.makeLog('stopping')
    const moving = moveToTable({
      dataDirectory: stage.pathOf('stopping'),
      keys: [TEST_KEY],
      table: table.settings,
      acceptLoss: true,
      nowMs: Date.now,
      monotonicMs: () => performance.now(),
      sleep: (ms, signal) => sleep(ms, undefined, { signal }),
      signal: AbortSignal.abort(),
      onProgress: () => undefined,
    })
    await assert.rejects(moving, { name: 'StoreError', message: 'stopped' })
    await using alone = await stage.start('stopping', null)
    assert.equal(await publishAt(alone, 'one'), 1)
  })

  test('with rows that no standby confirms is not said to have other rows', async () => {
    const table = await stage.movedLog('unsure', 1)
    const { settings, words } = table
    assert.ok(settings.isSingle)
    const strict = words.filter((word) => word !== '--single-database')
    const moved = await stage.cluster('move', '--data', stage.pathOf('unsure'), ...strict)
    assert.equal(moved.code, 1)
    assert.match(moved.stderr, /no synchronous standby confirms the row at place 2/)
  })
})
