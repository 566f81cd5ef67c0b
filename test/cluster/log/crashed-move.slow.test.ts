import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { hasPostgres } from '../../database/postgres-server.ts'
import { until } from '../../processes/other-program.ts'
import { skipUnless } from '../../processes/test-needs.ts'
import {
  openTableStage,
  publishAt,
  type StageTable,
  type TableStage,
  untilHead,
  untilLeads,
} from './table-stage.ts'

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

suite('a move that a crash interrupts', { skip: skipUnless(hasPostgres, 'PostgreSQL') }, () => {
  let stage: TableStage
  before(async () => {
    stage = await openTableStage()
  })
  after(() => stage[Symbol.asyncDispose]())

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
