import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../../processes/other-program.ts'
import { type StageTable, publishAt, suiteOnTable, untilHead, untilLeads } from './table-stage.ts'
import { cpSync } from 'node:fs'
import { markHighWater } from '../../../src/log/store/high-water.ts'
import { openForReading, storePath } from '../../../src/log/store/store.ts'
import { newestCheckpoint } from '../../../src/log/tree/ready-log.ts'
import { TEST_KEY } from '../../story/signing.ts'

const CHILD = join(import.meta.dirname, 'moving-child.ts')

/** Moves a log in a process that is killed at a point. Returns whether it has come to that point. */
async function killAt(way: 'to' | 'back', data: string, table: StageTable, point: number): Promise<boolean> {
  const words = [CHILD, way, data, table.url, String(point)]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const isThere = await Promise.race([once(child.stdout, 'data').then(() => true), ended.then(() => false)])
  child.kill('SIGKILL')
  await ended
  return isThere
}

suiteOnTable('a move that a crash interrupts', (stage) => {
  for (const [point, rows] of [
    [1, 0],
    [2, 0],
    [3, 2],
  ] as const)
    test(`onto a table at point ${point} is completed by the same call, with each event once`, async () => {
      const name = `to-${point}`
      const data = stage.pathOf(name)
      const table = await stage.newTable()
      stage.makeLog(name)
      const alone = await stage.start(name, null)
      await publishAt(alone, 'one')
      await alone[Symbol.asyncDispose]()
      assert.ok(await killAt('to', data, table, point), 'it comes to the point')
      await until('the server has ended the session', async () => {
        const sessions =
          "SELECT FROM pg_stat_activity WHERE usename = 'daybook' AND datname = current_database()"
        return (await table.sql(sessions)).length === 0
      })
      assert.equal((await table.rows()).length, rows)
      // Before the note, nothing was sent that could be there: the log is alone still.
      const starting = stage.start(name, null)
      if (point === 1) await (await starting)[Symbol.asyncDispose]()
      else await assert.rejects(starting, /a table of PostgreSQL carries this log/)
      const moved = await stage.cluster('move', '--data', data, ...table.words)
      assert.equal(moved.code, 0, moved.stderr)
      assert.match(moved.stdout, /^the log is on the table up to seq 1, in 2 rows:/)
      assert.equal((await stage.cluster('move', '--data', data, ...table.words)).stdout, moved.stdout)
      const node = await stage.start(name, table)
      assert.equal(await publishAt(node, 'two'), 2)
      const checked = await stage.cluster('check', ...table.words)
      assert.equal(checked.code, 0, checked.stderr)
    })

  test('off a table is completed by the same call, at whichever point it ends', async () => {
    const points: boolean[] = []
    for (const point of [1, 3]) {
      const name = `back-${point}`
      const data = stage.pathOf(name)
      const table = await stage.movedLog(name, 1)
      points.push(await killAt('back', data, table, point))
      const again = await stage.cluster('move', '--back', '--data', data, ...table.words)
      // One that was at its end is not there any more.
      if (points.at(-1) === true || again.code === 0) {
        assert.equal(again.code, 0, `point ${point}: ${again.stderr}`)
        assert.match(again.stdout, /^the log is off the table at seq 1: serve it without --log-store/)
      } else assert.match(again.stderr, /no table carries this log/)
      await using node = await stage.start(name, null)
      await untilLeads(node)
      assert.equal(await publishAt(node, 'alone'), 2)
      await untilHead(node, 2)
      const rows = await table.rows()
      assert.equal(rows.length, 3, 'one last row')
    }
    assert.equal(points[0], true, 'the first point was met')
  })
})

suiteOnTable('a log that leaves its table', (stage) => {
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
    await killAt('back', stage.pathOf('a'), table, 1)
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
    assert.match(left.stdout, /^a new log continues from seq 1/)
    await table.sql('TRUNCATE daybook_log')
    const moved = await stage.cluster('move', ...words)
    assert.equal(moved.code, 0, moved.stderr)
    const again = await stage.start('restored', table)
    assert.equal(await publishAt(again, 'of the new log'), 2)
  })
})
