import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { BookCluster } from '../../../test/messages/book-cluster.ts'
import { assertSameTables, openCluster } from '../../../test/messages/book-cluster.ts'
import { markedAt, STEP_NOW_MS, stepParts } from '../../../test/messages/step-parts.ts'
import { openDoorStage } from '../../../test/stage/door-stage.ts'
import { OTHER_KEY, signingKeyOf, TEST_KEY } from '../../../test/story/signing.ts'
import type { Message } from '../../log/message/message.ts'
import { decodeMessage } from '../../log/message/message-frame.ts'
import { readIdentity } from '../../log/store/store.ts'
import { readLogVersion } from '../../log/stream/log-version.ts'
import { vkeysOf } from '../../log/tree/served-tree.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { signingVkeys } from '../../log/tree/signing-keys.ts'
import { msOf } from '../../protocol/moment.ts'
import { changeLogKeys } from './change-log-keys.ts'
import { raiseLogVersion } from './raise-version.ts'

const THIRD_KEY = signingKeyOf('5'.repeat(64))
const KEYS = [TEST_KEY, OTHER_KEY]
const VERSION_2 = { frames: 2, needs: '9.8.0' }

/** Two nodes of a log that both keys sign. */
const openNodes = (): BookCluster =>
  openCluster({ nodes: 2, asksChain: false, balances: 'refuse', now: () => msOf(0), keys: KEYS })

function vkeys(cluster: BookCluster, ...keys: readonly SigningKey[]): readonly string[] {
  return vkeysOf(readIdentity(cluster.node(0).db()).origin, keys)
}

/** Asks the first node to change the keys, while the other writer shows that it holds some. */
function change(
  cluster: BookCluster,
  keys: readonly SigningKey[],
  others: readonly SigningKey[],
): ReturnType<typeof changeLogKeys> {
  const parts = stepParts(cluster, markedAt(STEP_NOW_MS, { keys: vkeys(cluster, ...others) }))
  return changeLogKeys({ ...parts, keys: KEYS }, vkeys(cluster, ...keys))
}

function newestMessage({ messages }: BookCluster): Message {
  const decoded = decodeMessage(messages.at(-1)?.bytes ?? new Uint8Array(0))
  assert.ok(decoded.ok)
  return decoded.signed.message
}

suite('a change of the keys of a log on an engine', () => {
  test('is refused while a writer has not shown that it holds all of them', async () => {
    using cluster = openNodes()
    const unready = await change(cluster, [OTHER_KEY], [TEST_KEY])
    assert.ok(!unready.ok)
    assert.equal(unready.code, 'wrong-state')
    assert.match(unready.reason, /^the writer other has not shown that it holds the key: restart it with/)
    const missing = await change(cluster, [TEST_KEY, THIRD_KEY], [TEST_KEY, THIRD_KEY])
    assert.ok(!missing.ok)
    assert.deepEqual(
      [missing.field, missing.reason],
      ['vkeys[1]', 'this node does not hold the key: restart it with its file in --signing-key-file'],
    )
    const silent = await changeLogKeys(
      { ...stepParts(cluster, { silent: ['b'] }), keys: KEYS },
      vkeys(cluster, OTHER_KEY),
    )
    assert.ok(!silent.ok && silent.reason.startsWith('the writer b is silent'))
    assert.equal(cluster.messages.length, 1, 'nothing is appended')
  })

  test('is made on all writers with one message, and a repetition changes nothing', async () => {
    using cluster = openNodes()
    for (let time = 0; time < 2; time += 1) {
      assert.deepEqual(await change(cluster, [OTHER_KEY], KEYS), {
        ok: true,
        vkeys: vkeys(cluster, OTHER_KEY),
        head: 0,
      })
    }
    assert.equal(cluster.messages.length, 2)
    cluster.follow(1)
    assert.deepEqual(signingVkeys(cluster.node(1).db()), vkeys(cluster, OTHER_KEY))
    assertSameTables(cluster.node(0).db(), cluster.node(1).db())
  })

  test('needs a key that signs the log now, because it vouches for the new one', async () => {
    using cluster = openNodes()
    await change(cluster, [OTHER_KEY], KEYS)
    const refused = await change(cluster, [TEST_KEY], KEYS)
    assert.ok(!refused.ok)
    assert.match(refused.reason, /^none of the keys signs the log: give a key that signs it and the new one/)
    assert.ok((await change(cluster, KEYS, KEYS)).ok)
    assert.ok((await change(cluster, [TEST_KEY], KEYS)).ok)
    assert.deepEqual(signingVkeys(cluster.node(0).db()), vkeys(cluster, TEST_KEY))
  })
})

suite('a new version of messages', () => {
  test('is refused while a writer does not read it', async () => {
    using cluster = openNodes()
    const parts = stepParts(cluster, markedAt(STEP_NOW_MS, { frames: [1] }))
    const refused = await raiseLogVersion({ ...parts, newest: VERSION_2 })
    assert.ok(!refused.ok)
    assert.equal(
      refused.reason,
      'the writer other reads no messages of version 2: install Daybook 9.8.0 or newer there',
    )
    assert.equal(cluster.messages.length, 1)
  })

  test('stops a node that does not read it, with the Daybook that it needs', async () => {
    using cluster = openNodes()
    const parts = stepParts(cluster, markedAt(STEP_NOW_MS, { frames: [1, 2] }))
    // The engine accepts the message, and this program, which reads version 1 only, cannot apply it.
    await assert.rejects(
      raiseLogVersion({ ...parts, newest: VERSION_2 }),
      /messages of version 2 follow: install Daybook 9\.8\.0 or newer/,
    )
    parts.book.rollback()
    assert.deepEqual(readLogVersion(parts.db), { frames: 1, needs: '0.1.0' })
  })

  test('is not appended when the log has it already', async () => {
    using cluster = openNodes()
    const newest = { frames: 1, needs: '0.1.0' }
    const answer = await raiseLogVersion({ ...stepParts(cluster, {}), newest })
    assert.deepEqual(answer, { ok: true, isRaised: false, ...newest })
    assert.equal(newestMessage(cluster).is, 'genesis')
  })
})

suite('the door of a node', () => {
  test('takes a list of one or two vkeys, and a step of a log on an engine only', async () => {
    await using stage = await openDoorStage()
    for (const path of ['/cluster/keys', '/cluster/version']) {
      const refused = await stage.ask('POST', path)
      assert.equal(refused.status, 409)
      assert.match(refused.text, /the log of this node is on no engine/)
      assert.equal((await stage.ask('GET', path)).status, 405)
      assert.equal((await stage.ask('POST', `${path}?a=1`)).status, 400)
    }
  })
})
