import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { suite, test } from 'node:test'
import { openMemoryEngine } from '../../../test/engine/memory-engine.ts'
import { openCluster } from '../../../test/messages/book-cluster.ts'
import { openDoorStage } from '../../../test/stage/door-stage.ts'
import { msOf } from '../../protocol/moment.ts'
import type { ReplicaState } from '../replica/replica.ts'
import type { WriterMark } from '../replica/writer-mark.ts'
import { rollStream } from './roll-stream.ts'

const MARK: WriterMark = {
  v: 1,
  node: 'other',
  run: 'r',
  logId: 'log',
  stream: 1,
  place: 1,
  digest: '',
  seq: 0,
  root: '',
  program: '1.0.0',
  frames: [1],
  keys: [],
  leads: null,
  asks: false,
  contends: false,
  stopped: null,
}
const STATE: ReplicaState = {
  append: 'idle',
  end: { place: 1, digest: new Uint8Array(32) },
  last: 1,
  unsettledMs: null,
  unknownTotal: 0,
  voidTotal: 0,
  isHeard: true,
  waitsFor: [],
  silent: [],
  marks: [],
  stopped: null,
  isFailing: false,
  engine: { offset: null, complaints: [] },
}
const NOW_MS = 100_000
const markedAt = (atMs: number, mark: Partial<WriterMark>): Partial<ReplicaState> => ({
  marks: [{ mark: { ...MARK, ...mark }, atMs }],
})

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
  const fail = (): never => assert.fail('nothing is appended')
  const outcome = await rollStream({
    book: cluster.node(0).book(),
    path: {
      commit: fail,
      isOpen: fail,
      hasRoom: fail,
      sizeOf: fail,
      sizeOfDecision: fail,
      sizeOfWord: fail,
      requestMax: 0,
      requestsMax: 0,
    },
    connect: async () => engine.connect(),
    state: () => ({ ...STATE, ...state }),
    monotonicMs: () => NOW_MS,
    sleep: fail,
    signal: new AbortController().signal,
  })
  assert.ok(!outcome.ok)
  assert.equal(outcome.code, 'wrong-state')
  return outcome.reason
}

suite('a roll to the next stream', () => {
  test('is refused while another writer is silent, stopped, elsewhere or too old', async () => {
    assert.match(await refusalWith({ isHeard: false }), /has not heard the other writers/)
    assert.match(await refusalWith({ silent: ['other'] }), /the writer other is silent/)
    assert.match(await refusalWith(markedAt(NOW_MS - 20_001, {})), /the writer other is silent/)
    assert.match(await refusalWith(markedAt(NOW_MS, { stopped: 'fork' })), /other has stopped/)
    assert.match(await refusalWith(markedAt(NOW_MS, { stream: 2 })), /other is in stream 2/)
    assert.match(await refusalWith(markedAt(NOW_MS, { frames: [2] })), /other reads no such messages/)
  })

  test('is refused while the next stream is missing, wrong or not empty', async () => {
    const ready = markedAt(NOW_MS, {})
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
