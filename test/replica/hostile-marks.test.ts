import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { certifyNode } from '../../src/log/message/node-key.ts'
import { sealMark } from '../../src/publish/marks/sealed-mark.ts'
import type { ReplicaState } from '../../src/publish/replica/replica.ts'
import { OTHER_KEY } from '../story/signing.ts'
import { placeOf, stopOf, withCluster } from './model-cluster.ts'
import type { ModelWriter } from './model-writer.ts'
import { EPOCH_MS, MODEL_LOG, modelSigner } from '../messages/model-keys.ts'
import { NO_MUTANT } from './mutant.ts'
import { SOME_MARK } from '../messages/some-mark.ts'

const stateOf = ({ run }: ModelWriter): ReplicaState => run()?.replica.state() ?? assert.fail()

suite('a stranger who tells marks', () => {
  test('stops no writer with forged, torn and too large ones, which are counted', () =>
    withCluster(NO_MUTANT, async ({ engine, now, publish, sleep, writers: [a, b, c] }) => {
      assert.equal(await publish(a, 'first'), 'committed')
      const stranger = engine.connect()
      const mark = { ...SOME_MARK, atMs: EPOCH_MS + Math.round(now()), place: 900, stopped: 'fork' }
      const forged = sealMark(mark, { node: certifyNode(MODEL_LOG, OTHER_KEY, OTHER_KEY) })
      const stolen = sealMark(mark, { node: { ...modelSigner('B'), key: OTHER_KEY } })
      const unsigned = Buffer.from(JSON.stringify(mark))
      for (const bytes of [forged, stolen, unsigned, forged.subarray(7), Buffer.alloc(100_000), Buffer.of()])
        stranger.tell(bytes)
      await sleep(1000)
      assert.deepEqual([a, b, c].map(stopOf), [undefined, undefined, undefined])
      assert.deepEqual(
        [a, b, c].map((writer) => stateOf(writer).refusedMarks),
        [6, 6, 6],
      )
      assert.deepEqual(
        stateOf(a)
          .marks.map(({ mark: { node } }) => node)
          .toSorted(),
        ['B', 'C'],
      )
      assert.equal(await publish(b, 'second'), 'committed')
    }))

  test('makes no silent writer heard with marks that it told before', () =>
    withCluster(NO_MUTANT, async ({ engine, publish, sleep, writers: [a, b, c] }) => {
      const heard: Uint8Array[] = []
      const stranger = engine.connect()
      stranger.onTold((bytes) => void heard.push(bytes))
      a.run()?.connection.cut()
      assert.equal(await publish(b, 'first'), 'committed')
      await sleep(2000)
      b.crash()
      const replayed = [...heard]
      assert.ok(replayed.length > 2)
      a.run()?.connection.heal()
      for (let waits = 0; waits < 8; waits += 1) {
        for (const bytes of replayed) stranger.tell(bytes)
        await sleep(1000)
      }
      assert.equal(stateOf(a).isHeard, false, 'A has heard marks of B, and no answer')
      await sleep(4000)
      assert.deepEqual([stateOf(a).isHeard, stateOf(a).silent], [true, ['B']])
      assert.deepEqual([placeOf(a), stopOf(a), stopOf(c)], [1, undefined, undefined])
    }))

  test('repeats no question and no claim: an old mark is not heard at all', () =>
    withCluster(NO_MUTANT, async ({ engine, sleep, writers: [a] }) => {
      const heard: Uint8Array[] = []
      const stranger = engine.connect()
      stranger.onTold((bytes) => void heard.push(bytes))
      await sleep(11_000)
      const replayed = [...heard]
      await sleep(16_000)
      const before = stateOf(a).refusedMarks
      for (const bytes of replayed) stranger.tell(bytes)
      await sleep(100)
      assert.equal(stateOf(a).refusedMarks - before, replayed.length)
    }))
})

suite('two nodes', () => {
  for (const [what, claims] of [
    ['name', { node: 'B', key: 'own' }],
    ['key', { node: 'D', key: 'B' }],
    ['key', { node: 'B', key: 'B' }],
  ] as const) {
    test(`that share a ${what} are reported, and the later one takes no drafts (${JSON.stringify(claims)})`, () =>
      withCluster(NO_MUTANT, async ({ join, publish, sleep, writers: [a, b] }) => {
        const second = join('second', claims)
        await sleep(15_000)
        for (const writer of [a, b, second])
          assert.deepEqual(
            stateOf(writer).twins.map(({ shared, names }) => [shared, names]),
            [[what, ['B', claims.node]]],
          )
        assert.equal(await publish(second, 'late'), 'unavailable')
        assert.equal(await publish(b, 'of b'), 'committed')
        b.crash()
        await sleep(25_000)
        assert.deepEqual(stateOf(second).twins, [])
        assert.equal(await publish(second, 'alone'), 'committed')
      }))
  }

  test('that are one after the other are no fault', () =>
    withCluster(NO_MUTANT, async ({ sleep, writers }) => {
      const [a, b] = writers
      b.crash()
      await sleep(100)
      b.start()
      await sleep(25_000)
      for (const writer of [a, b]) assert.deepEqual(stateOf(writer).twins, [])
    }))
})
