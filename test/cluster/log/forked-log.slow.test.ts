import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { rmSync, writeFileSync } from 'node:fs'
import { before, test } from 'node:test'
import { openForReading, readIdentity, storePath } from '../../../src/log/store/store.ts'
import { vkeyOf } from '../../../src/command/operator/signing-key-file.ts'
import { until } from '../../processes/other-program.ts'
import { type RunResult, run } from '../../stage/command-stage.ts'
import { postDrafts } from '../../stage/manual-node.ts'
import { TEST_KEY } from '../../story/signing.ts'
import {
  STAGE_LOG,
  type StageNode,
  type StageTable,
  isReady,
  publishAt,
  someDeposit,
  suiteOnTable,
  untilHead,
  untilLeads,
} from './table-stage.ts'

suiteOnTable('a log whose table has lost its tail', (stage) => {
  let table: StageTable
  let ofA: string
  let ofB: string
  before(async () => {
    table = await stage.movedLog('a', 1)
    stage.keyFile('b.key', TEST_KEY)
    ofA = stage.makeFolder('auditor of a')
    ofB = stage.makeFolder('auditor of b')
  })

  const lost = (name: string, ...more: readonly string[]): Promise<RunResult> =>
    stage.cluster('lost', '--data', stage.pathOf(name), ...more)

  /** Verifies a node as an auditor who has saved checkpoints in a folder. */
  const verify = (node: StageNode, saved: string): Promise<RunResult> =>
    run(['verify', node.url, '--key', vkeyOf(TEST_KEY, STAGE_LOG.origin), '--save', saved])

  test('has no lost drafts, and says so, before a fork', async () => {
    const { code, stderr } = await lost('a')
    assert.equal(code, 1)
    assert.match(
      stderr,
      /this directory has no evidence of a fork: run this in the directory of a node that has stopped/,
    )
  })

  test('stops the node that has the other branch, which keeps both as evidence', async () => {
    const a = await stage.start('a', table)
    await untilLeads(a)
    const b = await stage.start('b', table)
    await untilHead(b, 1)
    await b[Symbol.asyncDispose]()
    await publishAt(a, 'of a')
    assert.equal((await verify(a, ofA)).code, 0)
    await a[Symbol.asyncDispose]()
    await table.sql('DELETE FROM daybook_log WHERE place = 3')
    const other = await stage.start('b', table)
    await publishAt(other, 'of b')
    assert.equal((await verify(other, ofB)).code, 0)
    assert.equal((await postDrafts(other.service, ['of both', 'more of b'].map(someDeposit))).status, 200)
    const stopped = await stage.start('a', table)
    await until('the evidence is kept', async () => stopped.said().includes('"fact":"fork-kept"'))
    assert.match(stopped.said(), /"place":[34],.*"fault":"fork"/)
    assert.equal(await isReady(stopped.publishUrl), false)
    await untilHead(stopped, 2)
    assert.equal(await publishAt(other, 'later'), 5)
    const contradicted = await verify(other, ofA)
    assert.equal(contradicted.code, 1, contradicted.stdout)
    await stopped[Symbol.asyncDispose]()
    await other[Symbol.asyncDispose]()
  })

  test('prints the drafts of the branch that lost, to be published again', async () => {
    const { code, stdout, stderr } = await lost('a')
    assert.equal(code, 0, stderr)
    assert.deepEqual(stdout.split('\n').filter(Boolean).map(refOf), ['of a'])
    assert.match(stderr, /drafts that the log lacks: 1; drafts that it has: 0/)
    assert.doesNotMatch(stderr, /of a/, 'refs are private')
    assert.equal((await lost('a', '--present')).stdout, '')
    assert.equal((await lost('b')).code, 1)
  })

  test('goes on with the branch of the stopped node as a new log, when the operator accepts the loss', async () => {
    const words = ['--data', stage.pathOf('a'), ...table.words]
    const plain = await stage.cluster('move', '--back', ...words)
    assert.equal(plain.code, 1)
    assert.match(
      plain.stderr,
      /the table has another row at place 3|the row at place 4 does not continue the log/,
    )
    const former = idOf('a')
    const left = await stage.cluster('move', '--back', '--accept-loss', ...words)
    assert.equal(left.code, 0, left.stderr)
    assert.match(left.stdout, /^a new log continues from seq 2: serve it without --log-store, announce it/)
    assert.notEqual(idOf('a'), former)
    await using alone = await stage.start('a', null)
    assert.equal(await publishAt(alone, 'of the new log'), 3)
    assert.equal((await verify(alone, ofA)).code, 0, 'it grew from what this branch has shown')
    const contradicted = await verify(alone, ofB)
    assert.equal(contradicted.code, 1, contradicted.stdout)
    assert.match(contradicted.stdout + contradicted.stderr, /consistency/)
  })

  test('prints the drafts of the table in the directory that has left it', async () => {
    const { code, stdout, stderr } = await lost('a')
    assert.equal(code, 0, stderr)
    const drafts = stdout.split('\n').filter(Boolean)
    assert.deepEqual(drafts.map(refOf), ['of b', 'of both', 'more of b'])
    const file = stage.pathOf('lost.jsonl')
    writeFileSync(file, stdout)
    await using alone = await stage.start('a', null)
    assert.equal(
      (
        await postDrafts(
          alone.service,
          drafts.map((line) => JSON.parse(line) as object),
        )
      ).status,
      200,
    )
    await untilHead(alone, 6)
    await alone[Symbol.asyncDispose]()
    assert.equal((await lost('a')).stdout, '')
    assert.match((await lost('a')).stderr, /drafts that the log lacks: 0/)
  })

  test('is moved onto the emptied table again, and other nodes begin with an empty directory', async () => {
    await table.sql('TRUNCATE daybook_log')
    const moved = await stage.cluster('move', '--data', stage.pathOf('a'), ...table.words)
    assert.equal(moved.code, 0, moved.stderr)
    const a = await stage.start('a', table)
    await untilLeads(a)
    const former = await stage.start('b', table)
    await until('a node of the former log stops', async () => former.said().includes('"fact":"log-stopped"'))
    await former[Symbol.asyncDispose]()
    rmSync(stage.pathOf('b'), { recursive: true })
    const b = await stage.start('b', table)
    await untilHead(b, 6)
    assert.equal(idOf('b'), idOf('a'))
    assert.equal((await stage.cluster('check', ...table.words)).code, 0)
  })

  function idOf(name: string): string {
    using db = openForReading(storePath(stage.pathOf(name)))
    return readIdentity(db).id
  }
})

const refOf = (line: string): string => (JSON.parse(line) as { ref: string }).ref

suiteOnTable('a table whose oldest rows were deleted', (stage) => {
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
