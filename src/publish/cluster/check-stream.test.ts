import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { suite, test } from 'node:test'
import { openMemoryEngine } from '../../../test/engine/memory-engine.ts'
import type { BookCluster } from '../../../test/messages/book-cluster.ts'
import { nodeSigner, openCluster } from '../../../test/messages/book-cluster.ts'
import { OTHER_KEY } from '../../../test/story/signing.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import type { Message } from '../../log/message/message.ts'
import { decodeMessage, encodeMessage } from '../../log/message/message-frame.ts'
import { certifyNode } from '../../log/message/node-key.ts'
import { msOf } from '../../protocol/moment.ts'
import type { CheckedStreams } from './check-stream.ts'
import { checkStreams } from './check-stream.ts'

/** Two nodes, of which the first has written five messages, and the other has applied three of them. */
async function openWritten(): Promise<BookCluster> {
  const cluster = openCluster({ nodes: 2, asksChain: false, balances: 'report', now: () => msOf(0) })
  const queue = cluster.node(0).queue()
  for (const ref of ['a', 'b', 'c', 'd']) {
    await queue.submit([tradeDraft(ref)])
  }
  await queue.close()
  cluster.follow(1, 2)
  return cluster
}

/** Checks an engine that has these messages, one stream each. */
async function checked(
  streams: readonly (readonly Uint8Array[])[],
  store: string | null = null,
  complaints: readonly string[] = [],
): Promise<CheckedStreams> {
  const clock = { now: () => 0, sleep: (ms: number) => sleep(Math.min(ms, 1)).then(() => undefined) }
  return await checkStreams({
    async connect(stream) {
      const engine = openMemoryEngine({ clock, random: Math.random })
      engine.setComplaints(complaints)
      const connection = engine.connect()
      for (const [index, bytes] of (streams[stream - 1] ?? []).entries()) {
        assert.equal(await connection.log.append(index + 1, bytes), 'appended')
      }
      return connection
    },
    store,
    stream: null,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  })
}

const bytesOf = ({ messages }: BookCluster): readonly Uint8Array[] => messages.map(({ bytes }) => bytes)

/** The message at a place with other content, signed by a node of the log. */
function changed(cluster: BookCluster, place: number, change: Partial<Message>): Uint8Array {
  const decoded = decodeMessage(cluster.messages[place - 1]?.bytes ?? new Uint8Array(0))
  assert.ok(decoded.ok)
  const { message } = decoded.signed
  return encodeMessage({ ...message, ...change } as Message, nodeSigner(message.logId, 0))
}

suite('the check of a stream', () => {
  test('finds no fault in a log, and says how far a store is behind', async () => {
    using cluster = await openWritten()
    const alone = await checked([bytesOf(cluster)])
    assert.deepEqual([alone.faults, alone.notices, alone.messages, alone.end.head], [[], [], 5, 4])
    assert.equal(alone.end.vkeys.length, 1)
    const { faults, notices } = await checked([bytesOf(cluster)], cluster.node(0).path)
    assert.deepEqual([faults, notices], [[], []])
    const behind = await checked([bytesOf(cluster)], cluster.node(1).path)
    assert.deepEqual([behind.faults, behind.notices], [[], ['the store is 2 events behind the engine']])
  })

  test('finds what the engine has lost, and what is wrong with its settings', async () => {
    using cluster = await openWritten()
    const lost = await checked([bytesOf(cluster).slice(0, 4)], cluster.node(0).path)
    assert.match(String(lost.faults), /^the engine ends at place 4 of stream 1, and the store at place 5/)
    assert.deepEqual((await checked([bytesOf(cluster)], null, ['it has one replica'])).faults, [
      'it has one replica',
    ])
    assert.deepEqual((await checked([[]])).faults, ['stream 1 has no message'])
  })

  for (const [name, change, reason] of [
    ['another chain', { prev: new Uint8Array(32) }, /place 3: it does not follow the message at place 2/],
    ['another place', { place: 4 }, /place 3: it was made for place 4/],
    ['another log', { logId: 'f'.repeat(32) }, /place 3: it is of another log/],
    ['another first seq', { first: 7 }, /place 3: it begins with seq 7 after seq 1/],
    ['another root', { root: new Uint8Array(32) }, /place 3: its root is not that of its events/],
    ['other lines', { lines: ['{"seq":2,"other":1}'] }, /place 3: its root is not that of its events/],
  ] as const) {
    test(`finds a message of ${name}, and names its place`, async () => {
      using cluster = await openWritten()
      const bytes = bytesOf(cluster).toSpliced(2, 1, changed(cluster, 3, change))
      const { faults } = await checked([bytes])
      assert.equal(faults.length, 1)
      assert.match(String(faults), reason)
    })
  }

  test('finds a message that no node of the log has signed, or that cannot be read', async () => {
    using cluster = await openWritten()
    const decoded = decodeMessage(bytesOf(cluster)[2] ?? new Uint8Array(0))
    assert.ok(decoded.ok)
    const { message } = decoded.signed
    const foreign = encodeMessage(message, certifyNode(message.logId, OTHER_KEY, OTHER_KEY))
    assert.match(
      String((await checked([bytesOf(cluster).toSpliced(2, 1, foreign)])).faults),
      /place 3: no key of the log has certified the node/,
    )
    const cut = bytesOf(cluster).toSpliced(2, 1, (bytesOf(cluster)[2] ?? new Uint8Array(0)).subarray(1))
    assert.match(String((await checked([cut])).faults), /place 3: it does not begin as a message/)
  })

  test('finds a store that differs in an event, a kept message or its place', async () => {
    for (const [change, reason] of [
      ["UPDATE events SET line = line || ' ' WHERE seq = 2", /place 3: the store has another event as seq 2/],
      ["UPDATE messages SET bytes = x'00' WHERE place = 4", /place 4: the store keeps another message/],
      [
        `UPDATE meta SET value = '${'0'.repeat(64)}' WHERE key = 'engine_digest'`,
        /place 5: the store names another message/,
      ],
    ] as const) {
      using cluster = await openWritten()
      cluster.node(0).db().exec(change)
      const { faults } = await checked([bytesOf(cluster)], cluster.node(0).path)
      assert.equal(faults.length, 1)
      assert.match(String(faults), reason)
    }
  })

  test('goes on in the next stream after a seal', async () => {
    using cluster = await openWritten()
    const { book } = cluster.node(0)
    const steps = ([{ is: 'seal', why: 'roll' }, { is: 'genesis' }] as const).map((step) => {
      book().begin()
      book().build(step)
      const bytes = book().message() ?? new Uint8Array(0)
      book().commit(bytes)
      return bytes
    })
    const [seal = new Uint8Array(0), genesis = new Uint8Array(0)] = steps
    const store = cluster.node(0).path
    const { faults, messages, end } = await checked([[...bytesOf(cluster), seal], [genesis]])
    assert.deepEqual([faults, messages, end.stream, end.place], [[], 7, 2, 1])
    const own = await checked([[], [genesis]], store)
    assert.deepEqual([own.faults, own.messages, own.end.head], [[], 1, 4])
    const open = await checked([[...bytesOf(cluster), seal], []])
    assert.deepEqual(open.notices, ['stream 1 is sealed, and the next one is empty'])
    const other = await checked([[...bytesOf(cluster), seal, genesis]])
    assert.match(String(other.faults), /stream 1, place 7: it follows a seal/)
  })
})
