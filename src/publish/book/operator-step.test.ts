import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { BookCluster } from '../../../test/messages/book-cluster.ts'
import { assertSameTables, openCluster } from '../../../test/messages/book-cluster.ts'
import { OTHER_KEY, signingKeyOf, TEST_KEY } from '../../../test/story/signing.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import { createStoreFrom } from '../../log/message/genesis.ts'
import { faultOfMessages } from '../../log/message/kept-chain.ts'
import { openForReading, StoreError } from '../../log/store/store.ts'
import { faultAtStart } from '../../log/tree/log-fault.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { writePosition } from '../../log/stream/engine-position.ts'
import { writeLogVersion } from '../../log/stream/log-version.ts'
import { readKeys } from '../../log/tree/signing-keys.ts'
import { msOf } from '../../protocol/moment.ts'
import { MessageFault } from '../replica/replica-book.ts'
import type { OperatorStep } from './operator-step.ts'
import { openBook } from './store-book.ts'

const NOTHING = new Uint8Array(0)

/** Appends a step of the operator on the first node, and applies it on the others. */
function take(cluster: BookCluster, step: OperatorStep): void {
  const book = cluster.node(0).book()
  book.begin()
  book.build(step)
  const bytes = book.message() ?? NOTHING
  const place = book.applied().place + 1
  book.commit(bytes)
  const message = { place, bytes }
  if (place === cluster.messages.length + 1) cluster.append(message)
  else for (const { book: other } of cluster.nodes.slice(1)) other().apply([message])
}

function openNodes(keys: readonly SigningKey[] = [TEST_KEY]): BookCluster {
  return openCluster({
    nodes: 2,
    asksChain: false,
    balances: 'refuse',
    now: () => msOf(Date.UTC(2026, 0, 1)),
    keys,
  })
}

function assertEqual(cluster: BookCluster): void {
  cluster.follow(1)
  assertSameTables(cluster.node(0).db(), cluster.node(1).db())
  for (const { db } of cluster.nodes) {
    assert.equal(faultOfMessages(db()), null)
    assert.equal(faultAtStart(db(), null), null)
  }
}

suite('a change of keys', () => {
  test('is made on all nodes at the same seq, and the newest tree has the new signatures', async () => {
    using cluster = openNodes([TEST_KEY, OTHER_KEY])
    await cluster
      .node(0)
      .queue()
      .submit([tradeDraft('a')])
    take(cluster, { is: 'keys', keys: [OTHER_KEY] })
    assertEqual(cluster)
    await cluster
      .node(0)
      .queue()
      .submit([tradeDraft('b')])
    take(cluster, { is: 'keys', keys: [OTHER_KEY, TEST_KEY] })
    await cluster
      .node(0)
      .queue()
      .submit([tradeDraft('c')])
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

  test('stops a node that has not the new key', () => {
    using cluster = openNodes()
    const book = cluster.node(0).book()
    book.begin()
    book.build({ is: 'keys', keys: [TEST_KEY, OTHER_KEY] })
    const bytes = book.message() ?? NOTHING
    book.rollback()
    const reason = /the log is signed with .*: give the file of that key with --signing-key-file/
    assert.throws(
      () =>
        cluster
          .node(1)
          .book()
          .apply([{ place: 2, bytes }]),
      (error: unknown) => error instanceof MessageFault && reason.test(error.message),
    )
    assert.equal(readKeys(cluster.node(1).db()).length, 1)
  })
})

suite('a change of the version', () => {
  test('to the present one changes nothing, and to a newer one stops the node with the version that it needs', () => {
    using cluster = openNodes()
    take(cluster, { is: 'version', frames: 1, needs: '0.1.0' })
    assertEqual(cluster)
    const book = cluster.node(0).book()
    book.begin()
    book.build({ is: 'version', frames: 2, needs: '9.8.0' })
    const bytes = book.message() ?? NOTHING
    book.rollback()
    const fault = /messages of version 2 follow: install Daybook 9\.8\.0 or newer/
    assert.throws(
      () =>
        cluster
          .node(1)
          .book()
          .apply([{ place: 3, bytes }]),
      fault,
    )
  })
})

suite('a store of a newer Daybook', () => {
  test('is refused, with the Daybook that reads the messages of its log', () => {
    using cluster = openNodes()
    writeLogVersion(cluster.node(0).db(), { frames: 2, needs: '9.8.0' })
    const nodeKey = signingKeyOf('6'.repeat(64))
    assert.throws(
      () => openBook({ db: cluster.node(0).db(), keys: [TEST_KEY], nodeKey, asksChain: false }),
      new StoreError('the messages of this log have version 2: install Daybook 9.8.0 or newer'),
    )
  })
})

suite('a seal', () => {
  test('ends a stream, and the next one begins with the log as it is', async () => {
    using cluster = openNodes()
    await cluster
      .node(0)
      .queue()
      .submit([tradeDraft('a')])
    cluster.follow(1)
    take(cluster, { is: 'seal', why: 'roll' })
    cluster.follow(1)
    for (const { book } of cluster.nodes) {
      const { stream, place } = book().applied()
      assert.deepEqual([stream, place], [2, 0])
    }
    assert.throws(
      () =>
        cluster
          .node(1)
          .book()
          .apply([{ place: 4, bytes: cluster.messages[1]?.bytes ?? NOTHING }]),
      /it is at place 4, and place 1 is missing/,
    )
    take(cluster, { is: 'genesis' })
    const { stream, place } = cluster.node(1).book().applied()
    assert.deepEqual([stream, place], [2, 1])
    assert.equal(cluster.node(0).book().kept(0).length, 1)
    assertSameTables(cluster.node(0).db(), cluster.node(1).db())
  })

  test('that moves the log back leads to no other stream', () => {
    using cluster = openNodes()
    take(cluster, { is: 'seal', why: 'roll' })
    const book = cluster.node(0).book()
    book.begin()
    book.build({ is: 'genesis' })
    const genesis = book.message() ?? NOTHING
    book.rollback()
    const { book: other } = cluster.node(1)
    other().begin()
    other().build({ is: 'seal', why: 'back' })
    other().commit(other().message() ?? NOTHING)
    assert.equal(other().sealed(), 'back')
    assert.throws(() => other().apply([{ place: 1, bytes: genesis }]), MessageFault)
    assert.equal(other().sealed(), 'back')
  })
})

suite('a stream of a hundred million messages', () => {
  test('goes on as a short one, on its writer, on a follower and after a start', async () => {
    const far = 100_000_000
    using cluster = openNodes()
    for (const { db, book, restart } of cluster.nodes) {
      const { stream, digest } = book().applied()
      writePosition(db(), { stream, place: far, digest })
      db().exec('DELETE FROM messages')
      restart()
    }
    const [writer, follower] = cluster.nodes
    assert.ok(writer !== undefined && follower !== undefined)
    await writer.queue().submit([tradeDraft('a')])
    const message = cluster.messages.at(-1)
    assert.equal(message?.place, far + 1)
    follower.book().apply([message])
    follower.restart()
    assert.deepEqual(follower.book().applied(), writer.book().applied())
    assert.equal(follower.book().kept(0).length, 1)
    assert.equal(faultOfMessages(follower.db()), null)
    assertSameTables(writer.db(), follower.db())
  })
})

suite('a node that joins', () => {
  const empty = (): string => join(mkdtempSync(join(tmpdir(), 'daybook-join-')), 'daybook.db')

  test('needs the key of the log, and a stream that begins without events', async () => {
    using cluster = openNodes()
    const path = empty()
    const first = cluster.messages[0]?.bytes ?? NOTHING
    assert.throws(
      () => createStoreFrom(path, first, [OTHER_KEY]),
      new StoreError('the log of the stream is signed with another key: give it with --signing-key-file'),
    )
    assert.throws(
      () => createStoreFrom(path, first.subarray(1), [TEST_KEY]),
      /the first message of the stream cannot be read/,
    )
    await cluster
      .node(0)
      .queue()
      .submit([tradeDraft('a')])
    assert.throws(
      () => createStoreFrom(path, cluster.messages[1]?.bytes ?? NOTHING, [TEST_KEY]),
      /does not begin with the first message of a log/,
    )
    take(cluster, { is: 'seal', why: 'roll' })
    const book = cluster.node(0).book()
    book.begin()
    book.build({ is: 'genesis' })
    const later = book.message() ?? NOTHING
    book.rollback()
    assert.throws(
      () => createStoreFrom(path, later, [TEST_KEY]),
      /the stream begins at seq 1: start this node from a backup/,
    )
    assert.ok(!existsSync(path))
    rmSync(join(path, '..'), { recursive: true })
  })
})

suite('the kept messages', () => {
  test('are checked: each follows the one before it, and the newest is the one that the store names', async () => {
    using cluster = openNodes()
    for (const ref of ['a', 'b', 'c'])
      await cluster
        .node(0)
        .queue()
        .submit([tradeDraft(ref)])
    const db = cluster.node(0).db()
    const damage = (sql: string): string | null => {
      db.exec(`SAVEPOINT damage; ${sql}`)
      const fault = faultOfMessages(db)
      db.exec('ROLLBACK TO damage; RELEASE damage')
      return fault
    }
    assert.equal(damage(''), null)
    assert.match(
      damage('UPDATE messages SET bytes = substr(bytes, 2) WHERE place = 3') ?? '',
      /place 3 cannot be read/,
    )
    assert.match(
      damage('DELETE FROM messages WHERE place = 3') ?? '',
      /place 4 does not follow the one before it/,
    )
    assert.match(damage('UPDATE messages SET place = 9 WHERE place = 4') ?? '', /place 9 is not of this log/)
    assert.match(damage('DELETE FROM messages WHERE place = 4') ?? '', /the newest is not that of place 4/)
    assert.match(damage('DELETE FROM messages') ?? '', /the newest is not that of place 4/)
    assert.equal(damage('DELETE FROM messages WHERE place < 3'), null)
    openForReading(cluster.node(0).path).close()
  })
})
