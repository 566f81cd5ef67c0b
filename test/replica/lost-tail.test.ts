import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { NO_FAULTS } from '../engine/engine-faults.ts'
import type { ModelCluster } from './model-cluster.ts'
import { placeOf, stopOf, withCluster } from './model-cluster.ts'
import type { ModelWriter } from './model-writer.ts'
import { DEAF, FORGETFUL, LATE_TO_SHOW, NO_MUTANT } from './mutant.ts'

/** A serves a message that the engine loses while A cannot be reached, and B has never seen it. */
async function loseServedMessage({
  engine,
  publish,
  sleep,
  writers: [a, b, c],
}: ModelCluster): Promise<void> {
  assert.equal(await publish(a, 'first'), 'committed')
  await sleep(2000)
  b.run()?.connection.cut()
  c.run()?.connection.cut()
  assert.equal(await publish(a, 'served'), 'committed')
  a.run()?.connection.cut()
  assert.equal(engine.loseTail(1, true).length, 1)
  b.run()?.connection.heal()
  c.run()?.connection.heal()
}

/** The engine loses a message that A has served. Nobody notices, and B appends before it hears of the message. */
async function forkInSilence({ engine, publish, sleep, writers: [a, b] }: ModelCluster): Promise<void> {
  assert.equal(await publish(a, 'first'), 'committed')
  await sleep(2000)
  engine.setFaults({ ...NO_FAULTS, lostHint: 1, lostTold: 1 })
  assert.equal(await publish(a, 'served'), 'committed')
  assert.equal(engine.loseTail(1, false).length, 1)
  assert.equal(await publish(b, 'of b'), 'committed')
  assert.equal(await publish(b, 'of b too'), 'committed')
  engine.setFaults(NO_FAULTS)
}

/** Places of the messages that a writer keeps as evidence. */
const evidenceOf = ({ evidence }: ModelWriter): readonly string[] =>
  [...evidence].map(([branch, messages]) => `${branch}: ${messages.map(({ place }) => place).join(', ')}`)

suite('a writer whose engine has lost its tail', () => {
  test('offers the messages that it has kept again: same bytes, same places', () =>
    withCluster(NO_MUTANT, async ({ engine, publish, sleep, writers: [a, b, c] }) => {
      for (let index = 0; index < 5; index += 1) assert.equal(await publish(a, `ref ${index}`), 'committed')
      await sleep(2000)
      const lost = engine.loseTail(3, false)
      await sleep(25_000)
      assert.deepEqual(
        engine
          .messages()
          .slice(2)
          .map(({ place, bytes }) => ({ place, bytes })),
        lost.map(({ place, bytes }) => ({ place, bytes })),
      )
      assert.equal(await publish(b, 'after'), 'committed')
      await sleep(2000)
      assert.deepEqual([a, b, c].map(placeOf), [6, 6, 6])
      assert.deepEqual([a, b, c].map(stopOf), [undefined, undefined, undefined])
    }))

  test('hears the other writers before it appends', () =>
    withCluster(NO_MUTANT, async (cluster) => {
      const [a, b, c] = cluster.writers
      await loseServedMessage(cluster)
      const published = cluster.publish(b, 'of b')
      await cluster.sleep(5000)
      assert.equal(b.run()?.replica.state().isHeard, false, 'B waits for A')
      a.run()?.connection.heal()
      assert.equal(await published, 'committed')
      await cluster.sleep(2000)
      assert.deepEqual([a, b, c].map(placeOf), [3, 3, 3])
      assert.deepEqual([a, b, c].map(stopOf), [undefined, undefined, undefined])
    }))

  test('names a writer that is silent for 10 seconds, and appends then', () =>
    withCluster(NO_MUTANT, async (cluster) => {
      const [a, b] = cluster.writers
      await loseServedMessage(cluster)
      a.crash()
      await cluster.sleep(9000)
      assert.equal(b.run()?.replica.state().isHeard, false)
      await cluster.sleep(3000)
      assert.deepEqual(b.run()?.replica.state().silent, ['A'])
      assert.equal(await cluster.publish(b, 'of b'), 'committed')
    }))

  test('keeps both branches as evidence and stops, as all others do, when its place is taken', () =>
    withCluster(NO_MUTANT, async (cluster) => {
      const [a, b, c] = cluster.writers
      await loseServedMessage(cluster)
      await cluster.sleep(12_000)
      assert.equal(await cluster.publish(b, 'of b'), 'committed')
      a.run()?.connection.heal()
      await cluster.sleep(15_000)
      assert.deepEqual([a, b, c].map(stopOf), ['fork', 'fork', 'fork'])
      assert.deepEqual(evidenceOf(a), ['ours: 2', 'engine: 2'])
      assert.equal(placeOf(a), 2)
      for (const writer of cluster.writers) assert.equal(await cluster.publish(writer, 'late'), 'stopped')
      assert.equal(cluster.engine.messages().length, 2)
    }))

  test('refills an empty stream when all known writers are heard, because it may be on another engine', () =>
    withCluster(NO_MUTANT, async ({ engine, publish, sleep, writers: [a, b, c] }) => {
      assert.equal(await publish(a, 'first'), 'committed')
      await sleep(2000)
      c.crash()
      await sleep(12_000)
      const lost = engine.loseTail(1, true)
      await sleep(30_000)
      // A start forgets nothing of this.
      a.crash()
      a.start()
      await sleep(30_000)
      assert.deepEqual(engine.messages(), [])
      assert.deepEqual(a.run()?.replica.state().waitsFor, ['C'])
      assert.equal(await publish(a, 'refused'), 'unavailable')
      c.start()
      await sleep(30_000)
      assert.deepEqual(
        engine.messages().map(({ bytes }) => bytes),
        lost.map(({ bytes }) => bytes),
      )
      assert.equal(await publish(b, 'after'), 'committed')
      await sleep(2000)
      assert.deepEqual([a, b, c].map(placeOf), [2, 2, 2])
    }))

  test('does not append in place of a message that it has heard of, although nothing shows the loss', () =>
    withCluster(NO_MUTANT, async ({ engine, publish, sleep, writers: [a, b, c] }) => {
      assert.equal(await publish(a, 'first'), 'committed')
      await sleep(2000)
      engine.setFaults({ ...NO_FAULTS, lostHint: 1 })
      assert.equal(await publish(a, 'served'), 'committed')
      assert.equal(engine.loseTail(1, false).length, 1)
      await sleep(5)
      assert.equal(await publish(b, 'of b'), 'committed')
      await sleep(2000)
      assert.deepEqual([a, b, c].map(placeOf), [3, 3, 3])
      assert.deepEqual([a, b, c].map(stopOf), [undefined, undefined, undefined])
    }))

  test('cannot prevent a fork before it hears of the lost message, and then stops as all others do', () =>
    withCluster(NO_MUTANT, async (cluster) => {
      await forkInSilence(cluster)
      await cluster.sleep(15_000)
      assert.deepEqual(cluster.writers.map(stopOf), ['fork', 'fork', 'fork'])
      assert.deepEqual(evidenceOf(cluster.writers[0]), ['ours: 2', 'engine: 2, 3'])
    }))

  test('keeps both branches when the engine shows the other branch late', () =>
    withCluster(LATE_TO_SHOW, async (cluster) => {
      await forkInSilence(cluster)
      await cluster.sleep(15_000)
      assert.equal(stopOf(cluster.writers[0]), 'fork')
      assert.deepEqual(evidenceOf(cluster.writers[0]), ['ours: 2', 'engine: 2, 3'])
    }))

  test('calls it a fork when another writer continues a message that the engine has lost', () =>
    withCluster(NO_MUTANT, async ({ engine, publish, sleep, writers: [a, b] }) => {
      assert.equal(await publish(a, 'first'), 'committed')
      await sleep(2000)
      engine.setFaults({ ...NO_FAULTS, lostHint: 1, lostTold: 1 })
      assert.equal(await publish(a, 'served'), 'committed')
      assert.equal(engine.loseTail(1, false).length, 1)
      assert.equal(await publish(b, 'of b'), 'committed')
      // A has not noticed yet, and continues its own message at the next free place.
      assert.equal(await publish(a, 'of a'), 'committed')
      await sleep(2000)
      assert.equal(stopOf(b), 'fork')
      assert.deepEqual(evidenceOf(b), ['ours: 2', 'engine: 2, 3'])
      engine.setFaults(NO_FAULTS)
      await sleep(15_000)
      assert.equal(stopOf(a), 'fork')
      assert.deepEqual(evidenceOf(a), ['ours: 2, 3', 'engine: 2, 3'])
    }))

  test('stops when it has not kept what is missing', () =>
    withCluster(FORGETFUL, async ({ engine, publish, sleep, writers: [a] }) => {
      assert.equal(await publish(a, 'first'), 'committed')
      engine.loseTail(1, true)
      await sleep(15_000)
      assert.equal(stopOf(a), 'lost')
    }))

  test('would fork the log if it heard nobody', () =>
    withCluster(DEAF, async (cluster) => {
      const [a, b] = cluster.writers
      await loseServedMessage(cluster)
      assert.equal(await cluster.publish(b, 'of b'), 'committed')
      a.run()?.connection.heal()
      await cluster.sleep(5000)
      assert.equal(stopOf(a), 'fork')
    }))
})
