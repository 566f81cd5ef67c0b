import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { randomOf } from '../../sim/random.ts'
import { openMemoryEngine } from '../engine/memory-engine.ts'
import { openModelClock } from '../stage/virtual-clock.ts'
import { stopOf } from './model-cluster.ts'
import type { ModelWriter } from './model-writer.ts'
import { openModelWriter } from './model-writer.ts'
import type { Mutant } from './mutant.ts'
import { NO_MUTANT } from './mutant.ts'

/** Opens writers of two streams. The marks of both streams pass, as on NATS. */
function openStreams() {
  const clock = openModelClock()
  const random = randomOf('seal').next
  const listeners = new Set<(bytes: Uint8Array) => void>()
  /** Whether the appends of the writers get lost on their way. */
  const net = { losesAppends: false }
  const mutant: Mutant = {
    connection: (connection) => ({
      ...connection,
      log: {
        ...connection.log,
        append: async (place, bytes) =>
          net.losesAppends ? 'unknown' : await connection.log.append(place, bytes),
      },
      tell(bytes) {
        const told = Uint8Array.from(bytes)
        for (const listener of listeners) void clock.sleep(1).then(() => listener(told))
      },
      onTold: (listener) => void listeners.add(listener),
    }),
  }
  const streams = [1, 2].map((stream) => ({ stream, engine: openMemoryEngine({ clock, random }) }))
  const writers: ModelWriter[] = []
  return {
    clock,
    net,
    first: () => streams[0]?.engine.messages().length,
    open(name: string, at: number): ModelWriter {
      const { stream, engine } = streams[at] ?? assert.fail()
      const settings = { engine, stream, timers: clock, random, onSigned: () => undefined, mutant }
      const writer = openModelWriter(name, settings)
      writers.push(writer)
      return writer
    },
    publish: async (writer: ModelWriter, ref: string): Promise<string> => {
      const result = await writer.submit([{ ref, needs: null, attempt: ref }])
      return result === 'died' ? result : result.is
    },
    [Symbol.dispose]() {
      for (const writer of writers) writer.crash()
      clock.stop()
    },
  }
}

suite('a writer appends nothing to a stream without a seal while others are in the next one', () => {
  test('when it has joined since', async () => {
    using streams = openStreams()
    const { clock, publish } = streams
    const [before, one, late] = [streams.open('before', 0), streams.open('one', 1), streams.open('late', 0)]
    before.start()
    await clock.sleep(12_000)
    assert.equal(await publish(before, 'first'), 'committed')
    before.crash()
    one.start()
    await clock.sleep(12_000)
    late.start()
    await clock.sleep(15_000)
    assert.equal(await publish(one, 'second'), 'committed')
    assert.notEqual(await publish(late, 'another second'), 'committed')
    assert.deepEqual(late.run()?.replica.state().waitsFor, ['one'])
    assert.equal(streams.first(), 1)
  })

  test('and leaves the lead to them', async () => {
    using streams = openStreams()
    const { clock } = streams
    const [late, one] = [streams.open('a late one', 0), streams.open('one', 1)]
    late.start()
    one.start()
    await clock.sleep(15_000)
    const leads = (): readonly unknown[] => [late, one].map((writer) => writer.run()?.replica.leads())
    assert.deepEqual(leads(), [false, true])
  })

  test('also not the message that it has offered before', async () => {
    using streams = openStreams()
    const { clock, net, publish } = streams
    const [late, one] = [streams.open('late', 0), streams.open('one', 1)]
    late.start()
    await clock.sleep(12_000)
    net.losesAppends = true
    const published = publish(late, 'first')
    await clock.sleep(100)
    one.start()
    await clock.sleep(2000)
    net.losesAppends = false
    await clock.sleep(5000)
    assert.equal(streams.first(), 0)
    late.crash()
    assert.notEqual(await published, 'committed')
  })
})

suite('a writer whose stream has no seal', () => {
  for (const [seal, found] of [
    ['lost', 'lost'],
    ['on its way', undefined],
  ] as const)
    test(`stops when the next stream has begun and the seal is ${seal}: ${found ?? 'not at all'}`, async () => {
      const clock = openModelClock()
      const random = randomOf('next').next
      const engine = openMemoryEngine({ clock, random })
      const settings = { engine, timers: clock, random, onSigned: () => undefined, mutant: NO_MUTANT }
      const before = openModelWriter('before', settings)
      const hasNextStream = async (): Promise<boolean> => {
        if (seal === 'on its way') await before.submit([{ ref: 'seal', needs: null, attempt: 'seal' }])
        return true
      }
      const late = openModelWriter('late', { ...settings, hasNextStream })
      try {
        before.start()
        await clock.sleep(12_000)
        await before.submit([{ ref: 'first', needs: null, attempt: 'first' }])
        late.start()
        await clock.sleep(15_000)
        assert.equal(stopOf(late), found)
      } finally {
        for (const writer of [before, late]) writer.crash()
        clock.stop()
      }
    })
})
