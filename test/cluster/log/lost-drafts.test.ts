import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { openEvidence } from '../../../src/cluster/log/evidence-folder.ts'
import { type LostDrafts, lostDrafts } from '../../../src/cluster/log/lost-drafts.ts'
import { leaveBranch } from '../../../src/cluster/log/move-back.ts'
import type { TableRow } from '../../../src/cluster/table/log-table.ts'
import { parseDatabaseUrl } from '../../../src/command/database/database-url.ts'
import { readIdentity, storePath } from '../../../src/log/store/store.ts'
import { negate } from '../../../src/protocol/amount.ts'
import type { Draft } from '../../../src/protocol/draft.ts'
import { msOf } from '../../../src/protocol/moment.ts'
import { seqOf } from '../../../src/protocol/seq.ts'
import { openSharedClock } from '../../../src/publish/writer/shared-clock.ts'
import { postDrafts, startLocalNode } from '../../stage/manual-node.ts'
import { TEST_KEY } from '../../story/signing.ts'
import { tradeDraft } from '../../story/trade-draft.ts'
import { type BookNodes, openBookNodes } from '../book/book-nodes.ts'

const TX = '5'.repeat(88)
const folder = mkdtempSync(join(tmpdir(), 'daybook-lost-'))
after(() => rmSync(folder, { recursive: true }))

/** A correction of the trade with this seq. */
function correcting(ref: string, seq: number): Draft {
  const { kots } = tradeDraft('')
  assert.ok(kots !== null)
  const details = { corrects: seqOf(seq) }
  return tradeDraft(ref, { type: 'correction', kind: 'trade', kots: negate(kots), details })
}

/** A trade that replaces the cancelled trade with this seq. */
const restating = (ref: string, seq: number): Draft => tradeDraft(ref, { details: { restates: seqOf(seq) } })

async function submit(nodes: BookNodes, index: number, ...drafts: readonly Draft[]): Promise<void> {
  const outcome = await nodes.node(index).queue().submit(drafts)
  assert.ok(outcome.ok, JSON.stringify(outcome))
}

/** The data directory of a node, with the rows of both branches as evidence. */
function directoryOf(
  name: string,
  nodes: BookNodes,
  index: number,
  branches: Readonly<{ ours: readonly TableRow[]; table: readonly TableRow[] }>,
): string {
  const data = join(folder, name)
  mkdirSync(data)
  const db = nodes.node(index).db()
  db.prepare('VACUUM INTO ?').run(storePath(data))
  openEvidence(data, readIdentity(db).id).keep(branches)
  return data
}

/** Takes the branch of a directory off its table, as the operator does who accepts the loss. */
function leave(data: string): void {
  const database = parseDatabaseUrl('postgres://daybook@127.0.0.1:9/book', null)
  leaveBranch({
    dataDirectory: data,
    keys: [TEST_KEY],
    table: { database, isSingle: true },
    acceptLoss: true,
    nowMs: () => 0,
    monotonicMs: () => 0,
    sleep: () => assert.fail(),
    signal: new AbortController().signal,
    onProgress: () => assert.fail(),
  })
}

type Lost = Readonly<{
  ref: string
  tx?: string
  details?: Readonly<{ corrects?: number; restates?: number }>
}>
const draftsOf = ({ lost }: LostDrafts): readonly Lost[] => lost.map((line) => JSON.parse(line) as Lost)

suite('the drafts of a branch that lost a fork', () => {
  test('are drafts for the publish API: held ones too, and corrections once their events have a seq', async () => {
    using nodes = openBookNodes({ nodes: 2, asksChain: true, balances: 'refuse', now: () => msOf(0) })
    await submit(nodes, 0, tradeDraft('shared'), tradeDraft('held before', { tx: TX }))
    nodes.follow(1)
    const shared = nodes.rows.length
    await submit(nodes, 0, tradeDraft('wrong'), tradeDraft('held', { tx: TX }))
    await submit(nodes, 0, correcting('right', 2), correcting('shared right', 1))
    await submit(nodes, 0, tradeDraft('dropped', { tx: TX }), tradeDraft('other'))
    await nodes.node(0).queue().held.drop(['dropped', 'held before'], 'paid twice')
    const first = nodes.loseTail(shared)
    await submit(nodes, 1, { ...tradeDraft('other'), kind: 'sell' })
    const second = nodes.loseTail(shared)

    const stopped = lostDrafts(directoryOf('stopped', nodes, 0, { ours: first, table: second }))
    assert.deepEqual(
      draftsOf(stopped).map(({ ref, tx = null, details }) => [ref, tx, details?.corrects]),
      [
        ['wrong', null, undefined],
        ['held', TX, undefined],
        ['shared right', null, 1],
      ],
    )
    assert.deepEqual([stopped.waiting, stopped.ended, stopped.isWhole], [1, 1, true])
    assert.deepEqual(stopped.present, [
      { ref: 'other', status: 'published', seq: 2, same: false, wasDropped: false },
    ])

    // The other direction: the node that stopped has the branch that goes on.
    const data = directoryOf('left', nodes, 1, { ours: second, table: first })
    assert.equal(lostDrafts(data).lost.length, 0, 'its own draft is in the table, with other content')
    leave(data)
    const left = lostDrafts(data)
    assert.deepEqual(left.lost, stopped.lost)
    assert.deepEqual(left.present[0], {
      ref: 'held before',
      status: 'held',
      seq: null,
      same: true,
      wasDropped: true,
    })
    assert.deepEqual([left.waiting, left.ended], [1, 1])
    await Promise.all([nodes.node(0).endWriting(), nodes.node(1).endWriting()])
  })

  test('are corrections and restatements once the events that they name have a seq', async () => {
    using nodes = openBookNodes({ nodes: 2, asksChain: false, balances: 'refuse', now: () => msOf(0) })
    await submit(nodes, 0, tradeDraft('shared'))
    nodes.follow(1)
    const shared = nodes.rows.length
    await submit(nodes, 0, tradeDraft('wrong'), correcting('undo', 2), restating('again', 2))
    await submit(nodes, 0, correcting('undo shared', 1), restating('shared again', 1))
    const first = nodes.loseTail(shared)
    // The branch that goes on has another cancelled event in the place of `wrong`.
    await submit(nodes, 1, tradeDraft('other'), correcting('undo other', 2))
    const second = nodes.loseTail(shared)
    await Promise.all([nodes.node(0).endWriting(), nodes.node(1).endWriting()])
    const data = directoryOf('rounds', nodes, 1, { ours: second, table: first })
    leave(data)
    const clock = openSharedClock()
    clock.set(msOf(Date.now()))
    const newLog = { origin: 'daybook.test/books', chain: 'opaque', simulated: false } as const
    const rounds: (readonly (readonly [ref: string, named: number | undefined])[])[] = []
    for (let round = 0; round < 3; round += 1) {
      const found = lostDrafts(data)
      const drafts = draftsOf(found)
      rounds.push(drafts.map(({ ref, details }) => [ref, details?.corrects ?? details?.restates]))
      assert.equal(found.waiting, round === 0 ? 2 : 0)
      if (drafts.length === 0) continue
      await using node = await startLocalNode(data, newLog, [TEST_KEY], clock)
      const answer = await postDrafts(node, drafts)
      assert.equal(answer.status, 200, await answer.text())
    }
    assert.deepEqual(rounds, [
      [
        ['wrong', undefined],
        ['undo shared', 1],
        ['shared again', 1],
      ],
      [
        ['undo', 4],
        ['again', 4],
      ],
      [],
    ])
  })

  test('are asked for at the other nodes too when the evidence begins after the parting', async () => {
    using nodes = openBookNodes({ nodes: 2, asksChain: false, balances: 'refuse', now: () => msOf(0) })
    await submit(nodes, 0, tradeDraft('shared'))
    await submit(nodes, 0, tradeDraft('one'))
    await submit(nodes, 0, tradeDraft('two'))
    const branch = nodes.loseTail(2)
    const half = { ours: branch, table: branch.slice(1) }
    assert.equal(lostDrafts(directoryOf('half', nodes, 0, half)).isWhole, false)
    await nodes.node(0).endWriting()
  })
})
