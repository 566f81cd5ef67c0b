import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { suite, test } from 'node:test'
import { openMemoryEngine } from '../../../test/engine/memory-engine.ts'
import { openCluster } from '../../../test/messages/book-cluster.ts'
import { markedAt, STEP_NOW_MS, stepParts } from '../../../test/messages/step-parts.ts'
import { openDoorStage } from '../../../test/stage/door-stage.ts'
import { msOf } from '../../protocol/moment.ts'
import type { ReplicaState } from '../replica/replica.ts'
import { rollStream } from './roll-stream.ts'

/** Asks for a roll that is refused before anything is appended. Returns the reason. */
async function refusalWith(
  state: Partial<ReplicaState>,
  next: Readonly<{ complaints?: readonly string[]; messages?: number }> = {},
): Promise<string> {
  using cluster = openCluster({ nodes: 1, asksChain: false, balances: 'refuse', now: () => msOf(0) })
  const clock = { now: () => 0, sleep: (ms: number) => sleep(Math.min(ms, 1)).then(() => undefined) }
  const engine = openMemoryEngine({ clock, random: Math.random })
  engine.setComplaints(next.complaints ?? [])
  for (let place = 1; place <= (next.messages ?? 0); place += 1)
    await engine.connect().log.append(place, new Uint8Array(1))
  const outcome = await rollStream({
    ...stepParts(cluster, state),
    connect: async () => engine.connect(),
    sleep: () => assert.fail('a refusal waits for nothing'),
    signal: new AbortController().signal,
  })
  assert.equal(cluster.messages.length, 1, 'nothing is appended')
  assert.ok(!outcome.ok)
  assert.equal(outcome.code, 'wrong-state')
  return outcome.reason
}

suite('a roll to the next stream', () => {
  test('is refused while another writer is silent, stopped, elsewhere or too old', async () => {
    assert.match(await refusalWith({ isHeard: false }), /has not heard the other writers/)
    assert.match(await refusalWith({ silent: ['other'] }), /the writer other is silent/)
    assert.match(await refusalWith(markedAt(STEP_NOW_MS - 20_001, {})), /the writer other is silent/)
    assert.match(await refusalWith(markedAt(STEP_NOW_MS, { stopped: 'fork' })), /other has stopped/)
    assert.match(await refusalWith(markedAt(STEP_NOW_MS, { stream: 2 })), /other is in stream 2/)
    assert.match(await refusalWith(markedAt(STEP_NOW_MS, { frames: [2] })), /other reads no such messages/)
  })

  test('waits for no mark of a writer that has another key since, because its directory is new', async () => {
    const [former] = markedAt(STEP_NOW_MS - 20_001, {}).marks ?? []
    const [present] = markedAt(STEP_NOW_MS, {}).marks ?? []
    assert.ok(former !== undefined && present !== undefined)
    const marks = [{ ...former, key: 'former' }, present]
    assert.match(await refusalWith({ marks }, { messages: 1 }), /stream 2 has messages already/)
  })

  test('is refused while the next stream is missing, wrong or not empty', async () => {
    const ready = markedAt(STEP_NOW_MS, {})
    assert.match(
      await refusalWith(ready, { complaints: ['it has one replica'] }),
      /2 is not ready: it has one/,
    )
    assert.match(await refusalWith(ready, { messages: 1 }), /stream 2 has messages already/)
  })

  test('is refused by the door of a log that is on no engine, and takes a POST only', async () => {
    await using stage = await openDoorStage()
    const refused = await stage.ask('POST', '/cluster/roll')
    assert.equal(refused.status, 409)
    assert.match(refused.text, /the log of this node is on no engine/)
    assert.equal((await stage.ask('GET', '/cluster/roll')).status, 405)
    assert.equal((await stage.ask('POST', '/cluster/roll?stream=2')).status, 400)
    assert.equal((await stage.ask('POST', '/cluster/roll', '', { authorization: 'Bearer x' })).status, 401)
  })
})
