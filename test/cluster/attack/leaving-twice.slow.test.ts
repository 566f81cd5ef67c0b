import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { markHighWater } from '../../../src/log/store/high-water.ts'
import { openForReading, storePath } from '../../../src/log/store/store.ts'
import { newestCheckpoint } from '../../../src/log/tree/ready-log.ts'
import { hasPostgres } from '../../database/postgres-server.ts'
import { until } from '../../processes/other-program.ts'
import { skipUnless } from '../../processes/test-needs.ts'
import { TEST_KEY } from '../../story/signing.ts'
import {
  openTableStage,
  publishAt,
  type StageTable,
  type TableStage,
  untilHead,
  untilLeads,
} from '../log/table-stage.ts'

const CHILD = join(import.meta.dirname, '../log/moving-child.ts')

/** Takes a log off its table in a process that is killed when the last row is noted, and not sent. */
async function killBeforeEnd(data: string, table: StageTable): Promise<void> {
  const child = spawn(process.execPath, [CHILD, 'back', data, table.url, '1'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
}

suite('a log that leaves its table', { skip: skipUnless(hasPostgres, 'PostgreSQL') }, () => {
  let stage: TableStage
  before(async () => {
    stage = await openTableStage()
  })
  after(() => stage[Symbol.asyncDispose]())

  /**
   * Moves a log with one event onto a table, and publishes a second one there, whose row is the third. The copy of its
   * directory lacks the second event, and knows that it was served.
   */
  async function publishedAfterCopy(
    name: string,
    copyName: string,
  ): Promise<{ table: StageTable; copy: string }> {
    const table = await stage.movedLog(name, 1)
    const copy = stage.pathOf(copyName)
    cpSync(stage.pathOf(name), copy, { recursive: true })
    stage.keyFile(`${copyName}.key`, TEST_KEY)
    const node = await stage.start(name, table)
    await untilLeads(node)
    await publishAt(node, 'after the copy')
    await node[Symbol.asyncDispose]()
    const db = openForReading(storePath(stage.pathOf(name)))
    markHighWater(copy, newestCheckpoint(db))
    db.close()
    return { table, copy }
  }

  test('leaves it with one node, also when another one had begun to leave', async () => {
    const table = await stage.movedLog('a', 1)
    stage.keyFile('b.key', TEST_KEY)
    const b = await stage.start('b', table)
    await untilHead(b, 1)
    await b[Symbol.asyncDispose]()
    await killBeforeEnd(stage.pathOf('a'), table)
    assert.equal((await table.rows()).length, 2)
    await table.cut()
    const left = await stage.cluster('move', '--back', '--data', stage.pathOf('b'), ...table.words)
    assert.equal(left.code, 0, left.stderr)
    const late = await stage.cluster('move', '--back', '--data', stage.pathOf('a'), ...table.words)
    assert.match(late.stderr, /another node has taken the log off the table: serve it from that one/)
    assert.equal(late.code, 1)
  })

  test('does not end there when its node lacks what it has served', async () => {
    const { table, copy: older } = await publishedAfterCopy('owing', 'older')
    const lost = (await table.rows()).slice(2)
    await table.sql('DELETE FROM daybook_log WHERE place = 3')
    const refused = await stage.cluster('move', '--back', '--data', older, ...table.words)
    assert.match(refused.stderr, /seq 2: the log ends at seq 1 but was published up to seq 2/)
    assert.equal((await table.rows()).length, 2, 'nothing was appended')
    // The node that has them puts them back, and both go on.
    assert.equal(lost.length, 1)
    const back = await stage.start('owing', table)
    await until('the row is back', async () => (await table.rows()).length === 3)
    await back[Symbol.asyncDispose]()
    const left = await stage.cluster('move', '--back', '--data', older, ...table.words)
    assert.equal(left.code, 0, left.stderr)
  })

  test('can be left with the loss of what no node and no table has', async () => {
    const { table, copy: restored } = await publishedAfterCopy('site', 'restored')
    await table.sql('DELETE FROM daybook_log WHERE place = 3')
    const words = ['--data', restored, ...table.words]
    const left = await stage.cluster('move', '--back', '--accept-loss', ...words)
    assert.equal(left.code, 0, left.stderr)
    assert.match(left.stdout, /^a new log goes on from seq 1/)
    await table.sql('TRUNCATE daybook_log')
    const moved = await stage.cluster('move', ...words)
    assert.equal(moved.code, 0, moved.stderr)
    const again = await stage.start('restored', table)
    assert.equal(await publishAt(again, 'of the new log'), 2)
  })
})
