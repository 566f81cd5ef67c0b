import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { randomOf } from '../../sim/random.ts'
import type { MemoryEngine } from '../engine/memory-engine.ts'
import { openMemoryEngine } from '../engine/memory-engine.ts'
import { openModelClock } from '../stage/virtual-clock.ts'
import { stopOf } from './model-cluster.ts'
import type { ModelWriter } from './model-writer.ts'
import { openModelWriter } from './model-writer.ts'
import { NO_MUTANT } from './mutant.ts'

/** Publishes some drafts at a writer, and asserts that all are committed. */
async function publish(writer: ModelWriter, ...refs: readonly string[]): Promise<void> {
  for (const ref of refs) {
    const result = await writer.submit([{ ref, needs: null, attempt: ref }])
    assert.equal(result === 'died' ? result : result.is, 'committed', ref)
  }
}

suite('a writer of the former engine of a log that was moved to another one', () => {
  for (const [where, count] of [
    ['behind', 3],
    ['ahead of', 7],
  ] as const)
    test(`stops alone when it comes back, ${where} the others`, async () => {
      const clock = openModelClock()
      const random = randomOf('returning').next
      const open = (name: string, engine: MemoryEngine): ModelWriter =>
        openModelWriter(name, { engine, timers: clock, random, onSigned: () => undefined, mutant: NO_MUTANT })
      const [former, engine] = [openMemoryEngine({ clock, random }), openMemoryEngine({ clock, random })]
      const stale = open('C', former)
      const [a, b] = [open('A', engine), open('B', engine)]
      for (const writer of [stale, a, b]) writer.start()
      try {
        await clock.sleep(12_000)
        await publish(stale, ...Array.from({ length: count }, (_, index) => `former ${index}`))
        stale.crash()
        await publish(a, 'one', 'two', 'three', 'four')
        const back = open('C', engine)
        back.disk.messages.push(...stale.disk.messages)
        back.start()
        await clock.sleep(15_000)
        assert.deepEqual([a, b, back].map(stopOf), [undefined, undefined, 'fault'])
        assert.match(back.run()?.replica.state().stopped?.reason ?? '', /another stream of this log/)
        await publish(a, 'five', 'six', 'seven', 'eight')
        await clock.sleep(15_000)
        assert.deepEqual([a, b].map(stopOf), [undefined, undefined])
        assert.deepEqual(
          [a, b, back].map(({ evidence }) => evidence.size),
          [0, 0, 0],
        )
        back.crash()
      } finally {
        for (const writer of [a, b]) writer.crash()
        clock.stop()
      }
    })
})
