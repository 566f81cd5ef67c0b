import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { EngineError } from '../../src/engine/log-engine.ts'
import { NO_FAULTS } from '../engine/engine-faults.ts'
import type { ModelDraft } from './memory-book.ts'
import { placeOf, stopOf, withCluster } from './model-cluster.ts'
import type { ModelWriter } from './model-writer.ts'
import type { Mutant } from './mutant.ts'
import { NO_MUTANT } from './mutant.ts'

/** An engine whose settings can be read once. */
const UNREADABLE: Mutant = {
  connection(connection) {
    let asked = 0
    return {
      ...connection,
      async inspect() {
        asked += 1
        if (asked > 1) throw new EngineError('the settings cannot be read')
        return await connection.inspect()
      },
    }
  },
}

const stateOf = (writer: ModelWriter) => writer.run()?.replica.state() ?? assert.fail('the writer runs')
const draft = (ref: string, needs: string | null = null): ModelDraft => ({ ref, needs, attempt: ref })

suite('a writer of a log on an engine', () => {
  test('builds on the newest message, also after another writer was first', () =>
    withCluster(NO_MUTANT, async ({ publish, sleep, writers }) => {
      const ends = await Promise.all(writers.map((writer, index) => publish(writer, `ref ${index}`)))
      assert.deepEqual(ends, ['committed', 'committed', 'committed'])
      await sleep(2000)
      assert.deepEqual(writers.map(placeOf), [3, 3, 3])
      assert.equal(new Set(writers.map(({ disk }) => Buffer.concat(disk.messages).toString())).size, 1)
    }))

  test('keeps its transaction open for a second at most', () =>
    withCluster(NO_MUTANT, async ({ engine, now, publish, sleep, writers: [a] }) => {
      engine.setFaults({ ...NO_FAULTS, lostRequest: 1 })
      const began = now()
      const published = publish(a, 'ref')
      await sleep(500)
      assert.equal(stateOf(a).append, 'offered')
      while (stateOf(a).append === 'offered') await sleep(10)
      assert.ok(now() - began <= 1100)
      assert.equal(stateOf(a).append, 'unsettled')
      engine.setFaults(NO_FAULTS)
      assert.equal(await published, 'committed')
      assert.equal(engine.messages().length, 1)
    }))

  test('says unknown when the engine does not tell the owner of a place, and never that nothing was published', () =>
    withCluster(NO_MUTANT, async ({ engine, publish, sleep, writers: [a, b] }) => {
      engine.setFaults({ ...NO_FAULTS, lostAnswer: 1, unreadable: 1 })
      const published = publish(a, 'ref')
      const after = publish(a, 'after')
      assert.equal(await published, 'unknown')
      assert.equal(await after, 'unavailable')
      assert.equal(stateOf(a).append, 'unsettled')
      engine.setFaults(NO_FAULTS)
      const again = await b.submit([draft('ref')])
      assert.deepEqual(again, { is: 'committed', value: { seqs: [1] } })
      await sleep(1000)
      assert.equal(stateOf(a).append, 'idle')
      assert.equal(engine.messages().length, 1, 'the same refs are published once')
    }))

  test('refuses only after a read barrier', () =>
    withCluster(NO_MUTANT, async ({ engine, publish, sleep, writers: [a, b] }) => {
      // B learns of nothing by itself: its reads lag.
      engine.setFaults({ ...NO_FAULTS, lostHint: 1, lagMs: 300 })
      assert.equal(await publish(a, 'first'), 'committed')
      assert.deepEqual(await b.submit([draft('second', 'first')]), { is: 'committed', value: { seqs: [2] } })
      assert.deepEqual(await b.submit([draft('third', 'nothing')]), {
        is: 'committed',
        value: { missing: 'nothing' },
      })
      b.run()?.connection.cut()
      const refused = await b.submit([draft('third', 'nothing')])
      assert.notEqual(refused, 'died')
      assert.equal(typeof refused === 'object' && refused.is, 'unavailable')
      await sleep(1)
    }))

  test('has a barrier for its readers', () =>
    withCluster(NO_MUTANT, async ({ engine, publish, writers: [a, b] }) => {
      engine.setFaults({ ...NO_FAULTS, lostHint: 1, lagMs: 200 })
      assert.equal(await publish(a, 'first'), 'committed')
      assert.equal(await b.run()?.replica.barrier(), true)
      assert.equal(placeOf(b), 1)
      b.run()?.connection.cut()
      assert.equal(await b.run()?.replica.barrier(), false)
    }))

  test('serves its old head while its disk is full, and goes on when there is room', () =>
    withCluster(NO_MUTANT, async ({ engine, publish, sleep, writers: [a, b] }) => {
      a.disk.isFull = true
      const published = publish(a, 'ref')
      await sleep(3000)
      assert.equal(engine.messages().length, 1, 'the engine accepted the message')
      assert.equal(placeOf(a), 0)
      assert.equal(stateOf(a).isFailing, true)
      assert.equal(await publish(b, 'of b'), 'committed')
      a.disk.isFull = false
      assert.equal(await published, 'committed')
      assert.equal(await publish(a, 'after'), 'committed')
      assert.equal(placeOf(a), 3)
    }))

  test('refuses from 5 seconds between the clocks, and goes on below', () =>
    withCluster(NO_MUTANT, async ({ engine, publish, sleep, writers: [a] }) => {
      engine.setClockOffset(-5000)
      await sleep(11_000)
      assert.equal(await publish(a, 'ref'), 'clock')
      engine.setClockOffset(4990)
      await sleep(11_000)
      assert.equal(await publish(a, 'ref'), 'committed')
      assert.equal(stateOf(a).engine.offset?.offsetMs, 4990)
    }))

  test('stops publishing while the engine is not set up as it must be', () =>
    withCluster(NO_MUTANT, async ({ engine, publish, sleep, writers: [a] }) => {
      engine.setComplaints(['the stream has 1 replica; it needs 3'])
      await sleep(61_000)
      assert.equal(await publish(a, 'ref'), 'unavailable')
      assert.deepEqual(stateOf(a).engine.complaints, ['the stream has 1 replica; it needs 3'])
      engine.setComplaints([])
      await sleep(6000)
      assert.equal(await publish(a, 'ref'), 'committed')
    }))

  test('keeps its view of the settings while they cannot be read', () =>
    withCluster(UNREADABLE, async ({ publish, sleep, writers: [a] }) => {
      assert.deepEqual(stateOf(a).engine.complaints, [])
      a.run()?.connection.heal()
      assert.equal(await publish(a, 'ref'), 'committed')
      await sleep(61_000)
      assert.equal(await publish(a, 'after'), 'committed')
    }))

  test('goes on at once after a change when the other writers answer', () =>
    withCluster(NO_MUTANT, async ({ publish, sleep, writers: [a] }) => {
      assert.equal(await publish(a, 'ref'), 'committed')
      a.run()?.connection.heal()
      assert.deepEqual(stateOf(a).waitsFor.toSorted(), ['B', 'C'])
      await sleep(100)
      assert.equal(stateOf(a).isHeard, true)
      assert.deepEqual(stateOf(a).waitsFor, [])
    }))

  test('stops at a message that does not continue the log, and names its place', () =>
    withCluster(NO_MUTANT, async ({ engine, publish, sleep, writers }) => {
      const [a] = writers
      assert.equal(await publish(a, 'first'), 'committed')
      await sleep(2000)
      await engine.connect().log.append(2, Buffer.from(JSON.stringify({ place: 9, prev: '', drafts: [] })))
      await sleep(2000)
      for (const writer of writers) {
        assert.deepEqual([stopOf(writer), stateOf(writer).stopped?.place], ['fault', 2])
        assert.deepEqual([placeOf(writer), stateOf(writer).voidTotal], [1, 1])
        assert.equal(await publish(writer, 'late'), 'stopped')
      }
    }))

  test('does work of its own accord when it made the newest message, or when nobody else does', () =>
    withCluster(NO_MUTANT, async ({ publish, sleep, writers }) => {
      const leading = (): string =>
        writers.flatMap(({ name, run }) => (run()?.replica.leads() === true ? [name] : [])).join()
      assert.equal(leading(), 'A', 'the first by name, when there is no message')
      const [, b, c] = writers
      assert.equal(await publish(c, 'of c'), 'committed')
      await sleep(5000)
      assert.equal(leading(), 'C')
      c.crash()
      await sleep(2500)
      assert.match(leading(), /A/)
      await sleep(2000)
      assert.equal(leading(), 'A')
      assert.equal(await publish(b, 'of b'), 'committed')
      await sleep(1000)
      assert.equal(leading(), 'B')
    }))

  test('closes within a second, and answers what waits', () =>
    withCluster(NO_MUTANT, async ({ engine, now, publish, sleep, writers: [a] }) => {
      engine.setFaults({ ...NO_FAULTS, lostRequest: 1 })
      const waiting = [publish(a, 'offered'), publish(a, 'after')]
      await sleep(10)
      const began = now()
      await a.run()?.replica[Symbol.asyncDispose]()
      assert.ok(now() - began <= 1100)
      assert.deepEqual(await Promise.all(waiting), ['unknown', 'unavailable'])
    }))

  test('follows a long log in transactions of 256 messages, between which others have their turn', async () => {
    const sizes: number[] = []
    const turns: number[] = []
    let turn = 0
    const counting = {
      book: (book: Parameters<NonNullable<typeof NO_MUTANT.book>>[0]) => ({
        ...book,
        apply(messages: Parameters<typeof book.apply>[0]) {
          sizes.push(messages.length)
          turns.push(turn)
          queueMicrotask(() => void (turn += 1))
          book.apply(messages)
        },
      }),
    }
    await withCluster(counting, async ({ publish, sleep, writers: [a, b, c] }) => {
      b.crash()
      for (let index = 0; index < 600; index += 1) assert.equal(await publish(a, `ref ${index}`), 'committed')
      sizes.length = 0
      c.crash()
      turns.length = 0
      b.start()
      await sleep(15_000)
      assert.equal(placeOf(b), 600)
      assert.equal(Math.max(...sizes), 256)
      assert.equal(new Set(turns).size, turns.length)
    })
  })
})
