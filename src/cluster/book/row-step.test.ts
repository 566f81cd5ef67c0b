import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { assertSameTables, type BookNodes, openBookNodes } from '../../../test/cluster/book/book-nodes.ts'
import { OTHER_KEY, TEST_KEY } from '../../../test/story/signing.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import { inTransaction } from '../../log/store/in-transaction.ts'
import { StoreError } from '../../log/store/store.ts'
import { faultAtStart } from '../../log/tree/log-fault.ts'
import { newestCheckpoint } from '../../log/tree/ready-log.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { readKeys } from '../../log/tree/signing-keys.ts'
import { msOf } from '../../protocol/moment.ts'
import { faultOfKeptRows } from '../row/compare-rows.ts'
import type { LogRow } from '../row/log-row.ts'
import { decodeRow, encodeRow } from '../row/row-frame.ts'
import { leaveTable } from './moved-rows.ts'
import type { RowStep } from './row-step.ts'
import { openTableBook } from './table-book.ts'
import { RowFault } from '../node/cluster-node.ts'
import { readTablePlace, writeTablePlace } from '../row/kept-rows.ts'

const NOTHING = new Uint8Array(0)

/** Bytes of the row of a step on the first node, which is not committed. */
function builtStep(cluster: BookNodes, step: RowStep): Uint8Array {
  const book = cluster.node(0).book()
  book.begin()
  book.build(step)
  const bytes = book.row() ?? NOTHING
  book.rollback()
  return bytes
}

function decoded(bytes: Uint8Array): LogRow {
  const read = decodeRow(bytes)
  assert.ok(read.ok)
  return read.signed.row
}

/** Appends a step of the operator on the first node. */
function take(cluster: BookNodes, step: RowStep): void {
  const book = cluster.node(0).book()
  book.begin()
  book.build(step)
  const bytes = book.row() ?? NOTHING
  const place = book.applied().place + 1
  book.commit(bytes)
  cluster.append({ place, bytes })
}

function openNodes(keys: readonly SigningKey[] = [TEST_KEY]): BookNodes {
  const now = () => msOf(Date.UTC(2026, 0, 1))
  return openBookNodes({ nodes: 2, asksChain: false, balances: 'refuse', now, keys })
}

async function publish(cluster: BookNodes, ...refs: readonly string[]): Promise<void> {
  for (const ref of refs)
    await cluster
      .node(0)
      .queue()
      .submit([tradeDraft(ref)])
}

function assertEqual(cluster: BookNodes): void {
  cluster.follow(1)
  assertSameTables(cluster.node(0).db(), cluster.node(1).db())
  for (const { db } of cluster.nodes) {
    assert.equal(faultOfKeptRows(db()), null)
    assert.equal(faultAtStart(db(), null), null)
  }
}

suite('a change of keys on a table', () => {
  test('is made on all nodes at the same seq, and the newest tree has the new signatures', async () => {
    using cluster = openNodes([TEST_KEY, OTHER_KEY])
    await publish(cluster, 'a')
    take(cluster, { is: 'keys', keys: [OTHER_KEY] })
    assertEqual(cluster)
    await publish(cluster, 'b')
    take(cluster, { is: 'keys', keys: [OTHER_KEY, TEST_KEY] })
    await publish(cluster, 'c')
    assertEqual(cluster)
    const signed = cluster
      .node(1)
      .db()
      .prepare('SELECT length(signature) AS n FROM events ORDER BY seq')
      .all()
    assert.deepEqual(
      signed.map(({ n }) => n),
      [68, 136, 136],
    )
  })

  test('is signed with a key of before it, and a key that was given up signs no later row', async () => {
    using cluster = openNodes([TEST_KEY, OTHER_KEY])
    take(cluster, { is: 'keys', keys: [OTHER_KEY] })
    await publish(cluster, 'a')
    cluster.follow(1, 1)
    const book = cluster.node(1).book()
    assert.deepEqual(book.keys().signing, [OTHER_KEY])
    const next = decoded(cluster.rows[2]?.bytes ?? NOTHING)
    assert.throws(
      () => book.apply([{ place: 3, bytes: encodeRow(next, TEST_KEY) }]),
      /^RowFault: no key of the log has signed it$/,
    )
    assertEqual(cluster)
  })

  test('is in the checkpoint at once, on the node that made it and on the others', async () => {
    using cluster = openNodes([TEST_KEY, OTHER_KEY])
    await publish(cluster, 'a')
    cluster.follow(1)
    take(cluster, { is: 'keys', keys: [OTHER_KEY] })
    cluster.follow(1)
    for (const { book, db } of cluster.nodes)
      assert.equal(book().checkpoint(), newestCheckpoint(db()).checkpoint)
  })

  test('is undone with a wrong row after it in the same transaction', () => {
    using cluster = openNodes([TEST_KEY, OTHER_KEY])
    const { book } = cluster.node(1)
    for (const step of [
      { is: 'keys', keys: [OTHER_KEY] },
      { is: 'end', nonce: Buffer.alloc(32) },
    ] as const) {
      const bytes = builtStep(cluster, step)
      const wrong = [
        { place: 2, bytes },
        { place: 3, bytes },
      ]
      assert.throws(() => book().apply(wrong), { name: 'RowFault', place: 3 })
      assert.deepEqual([book().keys().signing.length, book().isEnded()], [2, false])
    }
  })

  test('stops a node that has not the new key', () => {
    using cluster = openNodes([TEST_KEY, OTHER_KEY])
    take(cluster, { is: 'keys', keys: [TEST_KEY] })
    cluster.follow(1)
    const { db } = cluster.node(1)
    const poor = openTableBook({ db: db(), keys: [TEST_KEY], asksChain: false })
    const bytes = builtStep(cluster, { is: 'keys', keys: [TEST_KEY, OTHER_KEY] })
    const reason = /the log is signed with .*: give the file of that key with --signing-key-file/
    assert.throws(
      () => poor.apply([{ place: 3, bytes }]),
      (error: unknown) => error instanceof RowFault && error.place === 3 && reason.test(error.message),
    )
    assert.equal(poor.keys().signing.length, 1)
  })

  test('is not built by a node that has not the new key', () => {
    using cluster = openNodes()
    assert.throws(
      () => builtStep(cluster, { is: 'keys', keys: [TEST_KEY, OTHER_KEY] }),
      /the log is signed with .*: give the file of that key/,
    )
    const { book, db } = cluster.node(0)
    book().rollback()
    assert.equal(readKeys(db()).length, 1)
  })

  test('at another seq, or that forgets a key, stops the node', () => {
    using cluster = openNodes([TEST_KEY, OTHER_KEY])
    const { book } = cluster.node(1)
    const step = decoded(builtStep(cluster, { is: 'keys', keys: [OTHER_KEY] }))
    assert.ok(step.is === 'keys')
    const later = encodeRow({ ...step, head: 7 }, TEST_KEY)
    assert.throws(() => book().apply([{ place: 2, bytes: later }]), /changes the keys at seq 7 instead of 0/)
    const fewer = encodeRow({ ...step, keys: step.keys.slice(1) }, TEST_KEY)
    assert.throws(() => book().apply([{ place: 2, bytes: fewer }]), /list of keys contradicts that of this/)
    assert.equal(book().keys().signing.length, 2)
  })
})

suite('the last row of a log on a table', () => {
  test('ends it on all nodes, and nothing is built or applied after it, also after a start', async () => {
    using cluster = openNodes()
    await publish(cluster, 'a')
    const other = builtStep(cluster, { is: 'end', nonce: Buffer.alloc(32) })
    take(cluster, { is: 'end', nonce: Buffer.alloc(32) })
    assertEqual(cluster)
    for (const { book, restart } of cluster.nodes) {
      assert.equal(book().isEnded(), true)
      restart()
      assert.equal(book().isEnded(), true)
      assert.throws(() => book().begin(), /nothing is built after the last row of a log/)
      assert.throws(
        () => book().apply([{ place: 4, bytes: other }]),
        /it follows the last row of the log, which has left the table/,
      )
      assert.deepEqual([book().isEnded(), book().applied().place], [true, 3])
    }
  })

  test('that was undone ends nothing', async () => {
    using cluster = openNodes()
    builtStep(cluster, { is: 'end', nonce: Buffer.alloc(32) })
    assert.equal(cluster.node(0).book().isEnded(), false)
    await publish(cluster, 'a')
    assertEqual(cluster)
  })

  test('with another head or root stops the node', () => {
    using cluster = openNodes()
    const { book } = cluster.node(1)
    const step = decoded(builtStep(cluster, { is: 'end', nonce: Buffer.alloc(32) }))
    assert.ok(step.is === 'end')
    for (const other of [
      { ...step, head: 7 },
      { ...step, root: new Uint8Array(32) },
    ]) {
      const bytes = encodeRow(other, TEST_KEY)
      assert.throws(() => book().apply([{ place: 2, bytes }]), /it ends another log than this one at seq 0/)
      assert.equal(book().isEnded(), false)
    }
  })
})

suite('a store whose log left the table', () => {
  test('is on no table, and its log is as it was', async () => {
    using cluster = openNodes()
    await publish(cluster, 'a', 'b')
    take(cluster, { is: 'end', nonce: Buffer.alloc(32) })
    const { db } = cluster.node(0)
    inTransaction(db(), () => leaveTable(db()))
    assert.equal(readTablePlace(db()), null)
    assert.equal(db().prepare('SELECT count(*) AS n FROM messages').get()?.['n'], 0)
    assert.equal(faultAtStart(db(), null), null)
    assert.throws(
      () => openTableBook({ db: db(), keys: [TEST_KEY], asksChain: false }),
      new StoreError('the log of this store is on no table: move it with daybook cluster move'),
    )
  })
})

suite('a table of a hundred million rows', () => {
  test('goes on as a short one, on its leader, on a follower and after a start', async () => {
    const far = 100_000_000
    using cluster = openNodes()
    for (const { db, book, restart } of cluster.nodes) {
      writeTablePlace(db(), { ...book().applied(), place: far })
      db().exec('DELETE FROM messages')
      restart()
    }
    const [leader, follower] = cluster.nodes
    assert.ok(leader !== undefined && follower !== undefined)
    await publish(cluster, 'a')
    const row = cluster.rows.at(-1)
    assert.equal(row?.place, far + 1)
    follower.book().apply([row])
    follower.restart()
    assert.deepEqual(follower.book().applied(), leader.book().applied())
    assert.equal(follower.book().kept(0).length, 1)
    assert.equal(faultOfKeptRows(follower.db()), null)
    assertSameTables(leader.db(), follower.db())
  })
})
