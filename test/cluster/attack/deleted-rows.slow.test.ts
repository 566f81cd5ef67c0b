import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasPostgres } from '../../database/postgres-server.ts'
import { until } from '../../processes/other-program.ts'
import { skipUnless } from '../../processes/test-needs.ts'
import { TEST_KEY } from '../../story/signing.ts'
import { openTableStage, publishAt, type TableStage, untilHead, untilLeads } from '../log/table-stage.ts'

suite('a table whose oldest rows were deleted', { skip: skipUnless(hasPostgres, 'PostgreSQL') }, () => {
  let stage: TableStage
  before(async () => {
    stage = await openTableStage()
  })
  after(() => stage[Symbol.asyncDispose]())

  test('leaves the evidence of a fork after them', async () => {
    const table = await stage.movedLog('a', 1)
    stage.keyFile('b.key', TEST_KEY)
    const a = await stage.start('a', table)
    await untilLeads(a)
    await publishAt(a, 'of both')
    const b = await stage.start('b', table)
    await untilHead(b, 2)
    await b[Symbol.asyncDispose]()
    await publishAt(a, 'of a')
    await a[Symbol.asyncDispose]()
    await table.sql('DELETE FROM daybook_log WHERE place = 4 OR place < 3')
    const other = await stage.start('b', table)
    assert.equal(await publishAt(other, 'of b'), 3)
    const stopped = await stage.start('a', table)
    await until('it stops', async () => stopped.said().includes('"fact":"log-stopped"'))
    await until('the evidence is kept', async () => stopped.said().includes('"fact":"fork-kept"'))
    await stopped[Symbol.asyncDispose]()
    const { code, stdout, stderr } = await stage.cluster('lost', '--data', stage.pathOf('a'))
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^\{"ref":"of a",[^\n]*\}\n$/)
    assert.doesNotMatch(stderr, /begins after the branches parted/)

    // More rows of the table are deleted, and the node is started again.
    for (const ref of ['later', 'newest']) await publishAt(other, ref)
    await table.sql('DELETE FROM daybook_log WHERE place < 6')
    const again = await stage.start('a', table)
    await until('it stops again', async () => /"fact":"(?:log-stopped|table-away)"/.test(again.said()))
    await sleep(3_000)
    await again[Symbol.asyncDispose]()
    assert.equal((await stage.cluster('lost', '--data', stage.pathOf('a'))).stdout, stdout)
  })
})
