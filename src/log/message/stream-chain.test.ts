import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { BookCluster } from '../../../test/messages/book-cluster.ts'
import { nodeSigner, openCluster } from '../../../test/messages/book-cluster.ts'
import { OTHER_KEY, TEST_KEY } from '../../../test/story/signing.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import { msOf } from '../../protocol/moment.ts'
import type { OperatorStep } from '../../publish/book/operator-step.ts'
import type { Message } from './message.ts'
import { decodeMessage, encodeMessage } from './message-frame.ts'
import type { StreamChain } from './stream-chain.ts'
import { openStreamChain } from './stream-chain.ts'

/** Steps of the operator after one event, which end the first stream and begin the next one. */
const STEPS: readonly OperatorStep[] = [
  { is: 'keys', keys: [OTHER_KEY, TEST_KEY] },
  { is: 'version', frames: 1, needs: '0.1.0' },
  { is: 'seal', why: 'roll' },
  { is: 'genesis' },
]

/** A node that has written the steps, and its messages. */
async function openWritten(): Promise<Disposable & Readonly<{ messages: readonly Uint8Array[] }>> {
  const keys = [TEST_KEY, OTHER_KEY]
  const cluster: BookCluster = openCluster({
    nodes: 1,
    asksChain: false,
    balances: 'refuse',
    now: () => msOf(0),
    keys,
  })
  const node = cluster.node(0)
  await node.queue().submit([tradeDraft('a')])
  const steps = STEPS.map((step) => {
    const book = node.book()
    book.begin()
    book.build(step)
    const bytes = book.message() ?? assert.fail()
    book.commit(bytes)
    return bytes
  })
  const messages = [...cluster.messages.map(({ bytes }) => bytes), ...steps]
  return { messages, [Symbol.dispose]: () => cluster[Symbol.dispose]() }
}

/** Opens a chain with the first of these messages. */
function chainOf(messages: readonly Uint8Array[]): StreamChain {
  const chain = openStreamChain({ stream: 1, prev: null, treeAt: () => null })
  for (const bytes of messages) {
    const { stream, place, sealed } = chain.end()
    const added = chain.add(place + 1, bytes)
    assert.equal(added.fault, null, `stream ${stream}, place ${place + 1}, ${sealed}`)
  }
  return chain
}

function messageIn(bytes: Uint8Array | undefined): Message {
  const decoded = decodeMessage(bytes ?? new Uint8Array(0))
  return decoded.ok ? decoded.signed.message : assert.fail(decoded.reason)
}

suite('a chain of messages', () => {
  test('goes on with each step of the operator, into the next stream', async () => {
    using written = await openWritten()
    const ends = written.messages.map((_, index) => {
      const { stream, place, sealed, head, vkeys } = chainOf(written.messages.slice(0, index + 1)).end()
      return [stream, place, sealed, head, vkeys.length]
    })
    assert.deepEqual(ends, [
      [1, 1, null, 0, 2],
      [1, 2, null, 1, 2],
      [1, 3, null, 1, 2],
      [1, 4, null, 1, 2],
      [2, 0, 'roll', 1, 2],
      [2, 1, null, 1, 2],
    ])
  })

  for (const [index, change, reason] of [
    [2, { head: 0 }, 'it changes the keys at seq 0 instead of 1'],
    [2, { head: 2 }, 'it changes the keys at seq 2 instead of 1'],
    [3, { frames: 2, needs: '9.8.0' }, 'messages of version 2 follow: Daybook 9.8.0 or newer reads them'],
    [4, { next: 3 }, 'it names the stream 3 as the next one'],
    [4, { head: 2 }, 'it names another log than the one at seq 1'],
    [4, { root: new Uint8Array(32) }, 'it names another log than the one at seq 1'],
    [5, { head: 0 }, 'it names another log than the one at seq 1'],
    [5, { root: new Uint8Array(32) }, 'it names another log than the one at seq 1'],
    [5, { keys: [] }, 'it lists other keys than the stream before'],
  ] as const) {
    test(`has no ${STEPS[index - 2]?.is ?? ''} with another ${Object.keys(change).join(' and ')}`, async () => {
      using written = await openWritten()
      const message = { ...messageIn(written.messages[index]), ...change } as Message
      const chain = chainOf(written.messages.slice(0, index))
      const added = chain.add(chain.end().place + 1, encodeMessage(message, nodeSigner(message.logId, 0)))
      assert.equal(added.fault, reason)
    })
  }

  test('begins no stream as another log', async () => {
    using written = await openWritten()
    const genesis = messageIn(written.messages[5])
    assert.ok(genesis.is === 'genesis')
    for (const other of [{ id: 'f'.repeat(32) }, { origin: 'other.example/log' }]) {
      const message: Message = { ...genesis, identity: { ...genesis.identity, ...other } }
      const added = chainOf(written.messages.slice(0, 5)).add(
        1,
        encodeMessage(message, nodeSigner(message.logId, 0)),
      )
      assert.equal(added.fault, 'it is of another log')
    }
  })
})
