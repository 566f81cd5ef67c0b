import assert from 'node:assert/strict'
import { cpSync, rmSync } from 'node:fs'
import { test } from 'node:test'
import { storePath } from '../../../src/log/store/store.ts'
import { removeStore } from '../../../src/log/store/store-files.ts'
import { until } from '../../processes/other-program.ts'
import { run } from '../../stage/command-stage.ts'
import { postDrafts } from '../../stage/manual-node.ts'
import {
  type TableStage,
  isReady,
  publishAt,
  someDeposit,
  suiteOnTable,
  untilHead,
  untilLeads,
} from './table-stage.ts'

suiteOnTable('an older store of a log on a table', (stage) => {
  /** A node with two events whose store is replaced by a backup with one. The table has both. */
  async function restored(name: string): Promise<Awaited<ReturnType<TableStage['newTable']>>> {
    const table = await stage.movedLog(name, 1)
    const copy = stage.pathOf(`${name}.db`)
    assert.equal((await run(['backup', '--data', stage.pathOf(name), '--to', copy])).code, 0)
    const node = await stage.start(name, table)
    assert.equal(await publishAt(node, 'two'), 2)
    await node[Symbol.asyncDispose]()
    removeStore(storePath(stage.pathOf(name)))
    const back = await run(['restore', '--from', copy, '--data', stage.pathOf(name)])
    assert.equal(back.code, 0, back.stderr)
    return table
  }

  test('follows to what the node has served, and leads then', async () => {
    const table = await restored('first')
    const node = await stage.start('first', table)
    assert.equal(await publishAt(node, 'three'), 3)
    assert.equal(await publishAt(node, 'two'), 2, 'the draft is known')
    await untilHead(node, 3)
  })

  test('takes no drafts while its table lacks what the node has served, and never leads there', async () => {
    const table = await restored('short')
    const rows = await table.rows()
    await table.put(rows.slice(0, -1))
    const node = await stage.start('short', table)
    const refused = await postDrafts(node.service, [someDeposit('other')])
    assert.equal(refused.status, 503)
    assert.equal(((await refused.json()) as { code: string }).code, 'not-leading')
    assert.equal(await isReady(node.publishUrl), false)
    await new Promise((done) => setTimeout(done, 1_000))
    assert.doesNotMatch(node.said(), /log-leads/)
    await table.put(rows)
    await untilLeads(node)
    await untilHead(node, 2)
  })

  test('stops the node when the table has other events than it has served', async () => {
    const table = await restored('forked')
    const rows = await table.rows()
    await table.put(rows.slice(0, -1))
    const other = await stage.start('beside', table)
    assert.equal(await publishAt(other, 'another'), 2)
    await other[Symbol.asyncDispose]()
    const node = await stage.start('forked', table)
    const broken = await node.service.broken
    assert.match(
      broken,
      /the table has another log than this node has served|not the one whose checkpoint was published/,
    )
    // An audit that is first ends the writer, and its publish API with it.
    const late = await postDrafts(node.service, [someDeposit('late')]).then(
      ({ status }) => status,
      () => null,
    )
    assert.ok(late === 503 || late === null, String(late))
  })

  test('from before the log was moved is refused, alone and on the table', async () => {
    stage.makeLog('former')
    const alone = await stage.start('former', null)
    await publishAt(alone, 'one')
    await alone[Symbol.asyncDispose]()
    const copy = stage.pathOf('former.copy')
    cpSync(storePath(stage.pathOf('former')), copy)
    const table = await stage.newTable()
    const moved = await stage.cluster('move', '--data', stage.pathOf('former'), ...table.words)
    assert.equal(moved.code, 0, moved.stderr)
    const node = await stage.start('former', table)
    await untilLeads(node)
    await node[Symbol.asyncDispose]()
    removeStore(storePath(stage.pathOf('former')))
    cpSync(copy, storePath(stage.pathOf('former')))
    await assert.rejects(
      stage.start('former', null),
      /a table carries the log, and the store is a copy from before it was moved there/,
    )
    await assert.rejects(stage.start('former', table), /no table carries the log of this directory/)
    rmSync(stage.pathOf('former'), { recursive: true })
    const again = await stage.start('former', table)
    await until('it has the event', async () => (await fetch(`${again.url}/api/v1/events/1`)).status === 200)
  })
})
