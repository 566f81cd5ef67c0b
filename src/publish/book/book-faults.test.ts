import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import type { BookCluster } from '../../../test/messages/book-cluster.ts'
import { assertSameTables, nodeSigner, openCluster, rowsOf } from '../../../test/messages/book-cluster.ts'
import { WRONG_COMMITS } from '../../../test/messages/wrong-commits.ts'
import { randomMessages } from '../../../test/messages/random-messages.ts'
import { OTHER_KEY, TEST_KEY } from '../../../test/story/signing.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import { DAY_MS, msOf } from '../../protocol/moment.ts'
import { certifyNode } from '../../log/message/node-key.ts'
import type { Message } from '../../log/message/message.ts'
import { decodeMessage, encodeMessage } from '../../log/message/message-frame.ts'
import { MessageFault } from '../replica/replica-book.ts'

type Commit = Extract<Message, { is: 'commit' }>

const ZEROS = new Uint8Array(32)

/** Two nodes; the first has written four messages, of which the third closes a month and the fourth holds a draft. */
async function openWritten(): Promise<BookCluster> {
  let nowMs = Date.UTC(2026, 0, 31)
  const cluster = openCluster({ nodes: 2, asksChain: true, balances: 'refuse', now: () => msOf(nowMs) })
  const queue = cluster.node(0).queue()
  await queue.submit([tradeDraft('a'), tradeDraft('b')])
  nowMs += 2 * DAY_MS
  await queue.submit([tradeDraft('c')])
  await queue.submit([tradeDraft('d', { tx: 'transaction-d' })])
  await queue.held.drop(['d'], 'not paid')
  await queue.close()
  return cluster
}

/** The message at a place with other content, signed by the node that made it. */
function changed(
  { messages }: BookCluster,
  place: number,
  change: (commit: Commit) => Partial<Message>,
): Uint8Array {
  const decoded = decodeMessage(messages[place - 1]?.bytes ?? ZEROS)
  assert.ok(decoded.ok)
  const { message } = decoded.signed
  assert.ok(message.is === 'commit')
  return encodeMessage({ ...message, ...change(message) } as Message, nodeSigner(message.logId, 0))
}

suite('a message with', () => {
  for (const [name, place, change, reason] of WRONG_COMMITS) {
    test(`${name} stops the node at its place, and leaves its books as they were`, async () => {
      using cluster = await openWritten()
      const [one, other] = [cluster.node(0), cluster.node(1)]
      cluster.follow(1, place - 2)
      const before = other.book().applied()
      const wrong = { place, bytes: changed(cluster, place, change) }
      assert.throws(() => other.book().apply([wrong]), faultWith(place, reason))
      assert.deepEqual(other.book().applied(), before)
      cluster.follow(1)
      assertSameTables(one.db(), other.db())
    })
  }

  test('any fault leaves nothing of the messages before it in the same transaction', async () => {
    using cluster = await openWritten()
    const { book, db } = cluster.node(1)
    const wrong = { place: 4, bytes: changed(cluster, 4, () => ({ root: ZEROS })) }
    assert.throws(() => book().apply([...cluster.messages.slice(1, 3), wrong]), faultWith(4, /root/))
    assert.deepEqual([book().applied().place, book().appender.head().seq], [1, 0])
    cluster.follow(1)
    assertSameTables(cluster.node(0).db(), db())
  })
})

suite('a message of the right place with any content', () => {
  test('is a fault or fits, and after a fault the books are as they were', async () => {
    using cluster = await openWritten()
    cluster.follow(1)
    const { book, db } = cluster.node(1)
    const { logId } = position(cluster, 2)
    const tables = (): string => JSON.stringify(ROWS.map((table) => rowsOf(db(), table)))
    let faults = 0
    fc.assert(
      fc.property(randomMessages, fc.boolean(), (content, fitsEnd) => {
        const { place, digest: prev, stream } = book().applied()
        const first = book().appender.head().seq + 1
        const placed = { ...content, v: 1, logId, stream, place: place + 1, prev } as Message
        const message = placed.is === 'commit' && fitsEnd ? { ...placed, first } : placed
        const before = tables()
        try {
          book().apply([{ place: place + 1, bytes: encodeMessage(message, nodeSigner(logId, 0)) }])
        } catch (error) {
          assert.ok(error instanceof MessageFault, String(error))
          assert.equal(tables(), before)
          faults += 1
        }
      }),
      { numRuns: 150 },
    )
    assert.ok(faults > 100, `${faults} faults`)
  })
})

const ROWS = [
  'events',
  'details',
  'refs',
  'held',
  'settled',
  'vouched',
  'signing_keys',
  'months',
  'messages',
  'meta',
]

function position({ messages }: BookCluster, place: number): Message {
  const decoded = decodeMessage(messages[place - 1]?.bytes ?? ZEROS)
  assert.ok(decoded.ok)
  return decoded.signed.message
}

suite('a message', () => {
  test('that follows another one is of another branch, if a node of the log signed it', async () => {
    using cluster = await openWritten()
    const book = cluster.node(1).book()
    const message = { ...position(cluster, 2), prev: ZEROS } as Message
    for (const [key, isOfOtherBranch] of [
      [TEST_KEY, true],
      [OTHER_KEY, false],
    ] as const) {
      const bytes = encodeMessage(message, certifyNode(message.logId, OTHER_KEY, key))
      assert.throws(() => book.apply([{ place: 2, bytes }]), { name: 'MessageFault', isOfOtherBranch })
    }
  })

  test('after a gap stops the node', async () => {
    using cluster = await openWritten()
    const [, , third] = cluster.messages
    assert.ok(third !== undefined)
    assert.throws(
      () => cluster.node(1).book().apply([third]),
      faultWith(3, /^it is at place 3, and place 2 is missing$/),
    )
  })

  test('that cannot be decoded, or is of a newer version, stops the node', async () => {
    using cluster = await openWritten()
    const book = cluster.node(1).book()
    const bytes = Buffer.from(cluster.messages[1]?.bytes ?? ZEROS)
    assert.throws(
      () => book.apply([{ place: 2, bytes: bytes.subarray(1) }]),
      faultWith(2, /^it does not begin as a message$/),
    )
    bytes.write('2', 3)
    assert.throws(() => book.apply([{ place: 2, bytes }]), faultWith(2, /^it is of frame version 2$/))
  })

  test('of a node that no key of the log certified stops the node', async () => {
    using cluster = await openWritten()
    const decoded = decodeMessage(cluster.messages[1]?.bytes ?? ZEROS)
    assert.ok(decoded.ok)
    const { message } = decoded.signed
    const foreign = encodeMessage(message, certifyNode(message.logId, OTHER_KEY, OTHER_KEY))
    const reason = /^no key of the log has certified the node that signed it$/
    assert.throws(
      () =>
        cluster
          .node(1)
          .book()
          .apply([{ place: 2, bytes: foreign }]),
      faultWith(2, reason),
    )
  })

  test('is kept, so that a node that is ahead of the engine can offer it again', async () => {
    using cluster = await openWritten()
    cluster.follow(1)
    for (const { book } of cluster.nodes) {
      assert.deepEqual(book().kept(2).map(plain), cluster.messages.slice(1).map(plain))
    }
  })

  test('is null of a commit that changed nothing, and the next commit is built on the same books', async () => {
    using cluster = await openWritten()
    const { book } = cluster.node(0)
    const { appender, held } = book()
    book().begin()
    appender.append(tradeDraft('e'), { ref: 'e', digest: ZEROS }, msOf(0))
    held.hold(tradeDraft('f'), 'f', 'none', msOf(0))
    appender.drop()
    held.drop()
    assert.equal(book().message(), null)
    book().rollback()
    await cluster
      .node(0)
      .queue()
      .submit([tradeDraft('g')])
    cluster.follow(1)
    assertSameTables(cluster.node(0).db(), cluster.node(1).db())
  })

  test('that was accepted while the local commit failed is applied like that of another node', async () => {
    using cluster = await openWritten()
    const { book, db } = cluster.node(0)
    book().begin()
    book().appender.append(tradeDraft('e'), { ref: 'e', digest: ZEROS }, msOf(0))
    book().appender.keep()
    const bytes = book().message() ?? ZEROS
    book().rollback()
    const accepted = { place: book().applied().place + 1, bytes }
    book().apply([accepted])
    cluster.follow(1)
    cluster.node(1).book().apply([accepted])
    assertSameTables(db(), cluster.node(1).db())
  })

  test('names the signed tree of the committed log while a message is built after a lost one', async () => {
    using cluster = await openWritten()
    const { book } = cluster.node(0)
    cluster.node(0).restart()
    const { appender, begin, checkpoint, rollback } = book()
    const committed = checkpoint()
    for (const ref of ['e', 'f']) {
      begin()
      appender.append(tradeDraft(ref), { ref, digest: ZEROS }, msOf(appender.head().atMs ?? 0))
      appender.keep()
      assert.equal(checkpoint(), committed)
      rollback()
      assert.equal(checkpoint(), committed)
    }
  })
})

function plain({ place, bytes }: Readonly<{ place: number; bytes: Uint8Array }>): readonly unknown[] {
  return [place, Buffer.from(bytes).toString('hex')]
}

function faultWith(place: number, reason: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof MessageFault, String(error))
    assert.equal(error.place, place)
    assert.match(error.message, reason)
    return true
  }
}
