import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { hasPostgres } from '../../outbox/postgres-server.ts'
import { until } from '../../processes/other-program.ts'
import { skipUnless } from '../../stage/test-needs.ts'
import { TEST_KEY } from '../../story/signing.ts'
import { openTableStage, publishAt, untilHead, untilLeads } from './table-stage.ts'

suite('a table without its old rows', { skip: skipUnless(hasPostgres, 'PostgreSQL') }, () => {
  test('does not keep a forked node from its evidence, and one that needs them hears of it', async () => {
    await using stage = await openTableStage()
    const table = await stage.movedLog('a', 1)
    stage.keyFile('b.key', TEST_KEY)
    stage.keyFile('c.key', TEST_KEY)
    const a = await stage.start('a', table)
    await untilLeads(a)
    const c = await stage.start('c', table)
    await untilHead(c, 1)
    await c[Symbol.asyncDispose]()
    await publishAt(a, 'old')
    const b = await stage.start('b', table)
    await untilHead(b, await publishAt(a, 'of both'))
    await b[Symbol.asyncDispose]()
    await publishAt(a, 'of a')
    await a[Symbol.asyncDispose]()
    await table.sql(
      'DELETE FROM daybook_log WHERE place = (SELECT max(place) FROM daybook_log)',
      'DELETE FROM daybook_log WHERE place < (SELECT max(place) FROM daybook_log)',
    )
    await using other = await stage.start('b', table)
    await publishAt(other, 'of b')
    const stopped = await stage.start('a', table)
    await until('the evidence is kept', async () => stopped.said().includes('"fact":"fork-kept","count":2'))
    await stopped[Symbol.asyncDispose]()
    const { code, stdout, stderr } = await stage.cluster('lost', '--data', stage.pathOf('a'))
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^\{"ref":"of a",[^\n]*\n$/)
    await using behind = await stage.start('c', table)
    await until('the node says so', async () =>
      /"fact":"table-away","reason":"[^"]*start this node from a newer backup/.test(behind.said()),
    )
  })
})
