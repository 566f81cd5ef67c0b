import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { randomOf } from '../../sim/random.ts'
import { openMemoryEngine } from '../engine/memory-engine.ts'
import { openModelClock } from './model-clock.ts'
import { stopOf } from './model-cluster.ts'
import type { ModelWriter } from './model-writer.ts'
import { openModelWriter } from './model-writer.ts'
import type { Mutant } from './mutant.ts'
import { NO_MUTANT } from './mutant.ts'

test('a writer appends nothing to a stream without a seal while others are in the next one', async () => {
  const clock = openModelClock()
  const random = randomOf('seal').next
  const listeners = new Set<(bytes: Uint8Array) => void>()
  // The marks of all streams pass, as on NATS.
  const mutant: Mutant = {
    connection: (connection) => ({
      ...connection,
      tell(bytes) {
        const told = Uint8Array.from(bytes)
        for (const listener of listeners) void clock.sleep(1).then(() => listener(told))
      },
      onTold: (listener) => void listeners.add(listener),
    }),
  }
  const streams = [1, 2].map((stream) => ({ stream, engine: openMemoryEngine({ clock, random }) }))
  const open = (name: string, at: number): ModelWriter => {
    const { stream, engine } = streams[at] ?? assert.fail()
    return openModelWriter(name, { engine, stream, timers: clock, random, onSigned: () => undefined, mutant })
  }
  const publish = async (writer: ModelWriter, ref: string): Promise<string> => {
    const result = await writer.submit([{ ref, needs: null, attempt: ref }])
    return result === 'died' ? result : result.is
  }
  const [before, one, late] = [open('before', 0), open('one', 1), open('late', 0)]
  try {
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
    assert.equal(streams[0]?.engine.messages().length, 1)
  } finally {
    for (const writer of [before, one, late]) writer.crash()
    clock.stop()
  }
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
