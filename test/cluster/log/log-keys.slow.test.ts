import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { before, test } from 'node:test'
import { vkeyOf } from '../../../src/command/operator/signing-key-file.ts'
import { until } from '../../processes/other-program.ts'
import type { RunResult } from '../../stage/command-stage.ts'
import { LOCAL_TOKEN, postDrafts } from '../../stage/manual-node.ts'
import { OTHER_KEY, TEST_KEY, signingKeyOf } from '../../story/signing.ts'
import {
  STAGE_LOG,
  type StageNode,
  type StageTable,
  answersOf,
  isReady,
  publishAt,
  someDeposit,
  suiteOnTable,
  untilHead,
  untilLeads,
} from './table-stage.ts'

const [OLD, NEW, THIRD] = [TEST_KEY, OTHER_KEY, signingKeyOf('5'.repeat(64))].map((key) =>
  vkeyOf(key, STAGE_LOG.origin),
)

suiteOnTable('a change of the keys of a log on a table', (stage) => {
  let table: StageTable
  let nodes: readonly StageNode[]
  before(async () => {
    table = await stage.movedLog('first', 1)
    writeFileSync(stage.pathOf('token'), LOCAL_TOKEN, { mode: 0o600 })
    const keys = [TEST_KEY, OTHER_KEY]
    const leader = await stage.start('first', table, { keys })
    await untilLeads(leader)
    nodes = [leader, await stage.start('second', table, { keys }), await stage.start('lacking', table)]
    for (const node of nodes) await untilHead(node, 1)
  })

  /** Asks the leader, and a node that follows before it. */
  const change = (...vkeys: readonly (string | undefined)[]): Promise<RunResult> =>
    changeAt([nodes[1], nodes[0]], vkeys)

  const changeAt = (
    asked: readonly (StageNode | undefined)[],
    vkeys: readonly (string | undefined)[],
  ): Promise<RunResult> => {
    const to = asked.flatMap((node) => node?.publishUrl ?? [])
    const words = ['--to', to.join(','), '--token-file', stage.pathOf('token')]
    return stage.cluster('keys', ...words, ...vkeys.map(String))
  }

  /** Waits until the first two nodes have the same checkpoint, with so many signatures. */
  const untilSigned = (signatures: number): Promise<void> =>
    until(`${signatures} keys sign on both nodes`, async () => {
      const both = nodes.slice(0, 2)
      const [one, other] = await Promise.all(
        both.map(async ({ url }) => (await fetch(`${url}/api/v1/log/checkpoint`)).text()),
      )
      return one === other && one?.split('\n').filter((line) => line.startsWith('— ')).length === signatures
    })

  test('is refused for a key that the leader lacks, and when none of the keys signs the log', async () => {
    const missing = await change(OLD, THIRD)
    assert.equal(missing.code, 1)
    assert.match(
      missing.stderr,
      /this node does not hold the key: restart all nodes with its file in --signing-key-file/,
    )
    const lacking = await changeAt(nodes.toReversed(), [OLD, NEW])
    assert.match(
      lacking.stderr,
      /this node does not hold the key/,
      'also by a node that follows, which it would stop',
    )
    const foreign = await change(NEW)
    assert.equal(foreign.code, 1)
    assert.match(foreign.stderr, /none of the keys signs the log: give a key that signs it and the new one/)
    for (const words of [[OLD, OLD], [OLD, NEW, THIRD], ['no vkey']]) {
      const { code, stderr } = await change(...words)
      assert.equal(code, 1, stderr)
    }
    assert.equal((await table.rows()).length, 2)
  })

  test('is made on all nodes that hold the keys with one row, and a repetition changes nothing', async () => {
    const changed = await change(OLD, NEW)
    assert.equal(changed.code, 0, changed.stderr)
    assert.equal(changed.stdout, `the log is signed with these keys at seq 1:\n${OLD}\n${NEW}\n`)
    assert.equal((await change(NEW, OLD)).stdout, changed.stdout)
    assert.equal((await table.rows()).length, 3)
    await untilSigned(2)
  })

  test('stops a node that lacks the new key, which says which file it needs', async () => {
    const lacking = nodes[2] ?? assert.fail()
    await until('it stops', async () => lacking.said().includes('"fact":"log-stopped"'))
    assert.ok(
      lacking
        .said()
        .includes(`the log is signed with ${NEW}: give the file of that key with --signing-key-file`),
    )
    assert.equal((await fetch(`${lacking.url}/api/v1/events/1`)).status, 200, 'it serves what it has')
    assert.equal(await isReady(lacking.publishUrl), false)
    await until('the metric is reported', async () => {
      return /^daybook_log_stopped 1$/m.test(await (await fetch(`${lacking.publishUrl}/metrics`)).text())
    })
    const refused = await postDrafts(lacking.service, [someDeposit('late')])
    const { code, detail } = (await refused.json()) as { code: string; detail: string }
    assert.equal(code, 'store-unavailable')
    assert.match(detail, /--signing-key-file$/, 'without the stack of an error')
    await lacking[Symbol.asyncDispose]()
    const again = await stage.start('lacking', table, { keys: [TEST_KEY, OTHER_KEY] })
    await untilHead(again, 1)
  })

  test('leaves the old key out with a second step, and all nodes answer with the same bytes', async () => {
    const [leader, follower] = nodes
    assert.ok(leader !== undefined && follower !== undefined)
    const changed = await change(NEW)
    assert.equal(changed.stdout, `the log is signed with these keys at seq 1:\n${NEW}\n`, changed.stderr)
    await untilSigned(1)
    assert.equal(await publishAt(leader, 'after the change'), 2)
    await untilHead(follower, 2)
    const paths = ['log/keys', 'log/checkpoint', 'log/proof/2']
    assert.deepEqual(await answersOf(follower.url, paths), await answersOf(leader.url, paths))
    const signed = await fetch(`${leader.url}/api/v1/log/keys`)
    assert.match(await signed.text(), /"state":"retired".*"state":"signing".*daybook key rotation v1/)
    const joined = await stage.start('joined', table, { keys: [TEST_KEY, OTHER_KEY] })
    await untilHead(joined, 2)
    assert.deepEqual(await answersOf(joined.url, paths), await answersOf(leader.url, paths))
    assert.equal((await stage.cluster('check', ...table.words)).code, 0)
  })
})
