import { randomOf } from '../../sim/random.ts'
import type { MemoryEngine } from '../engine/memory-engine.ts'
import { openMemoryEngine } from '../engine/memory-engine.ts'
import { openModelClock } from '../stage/virtual-clock.ts'
import type { ModelWriter } from './model-writer.ts'
import { openModelWriter } from './model-writer.ts'
import type { Mutant } from './mutant.ts'

/** Three writers of one log, in virtual time. */
export type ModelCluster = Readonly<{
  engine: MemoryEngine
  writers: readonly [ModelWriter, ModelWriter, ModelWriter]
  /** Starts a further writer, perhaps with the node name or the node key of another. */
  join(name: string, claims: Readonly<{ node?: string; key?: string }>): ModelWriter
  now(): number
  sleep(ms: number): Promise<void>
  /** Publishes one draft, and returns how that ended. */
  publish(writer: ModelWriter, ref: string): Promise<string>
}>

/** Runs a story with three writers that have heard each other. */
export async function withCluster(
  mutant: Mutant,
  story: (cluster: ModelCluster) => Promise<void>,
): Promise<void> {
  const clock = openModelClock()
  const random = randomOf('cluster').next
  const engine = openMemoryEngine({ clock, random })
  const settings = { engine, timers: clock, random, onSigned: () => undefined, mutant }
  const open = (name: string): ModelWriter => openModelWriter(name, settings)
  const joined: ModelWriter[] = []
  const writers = [open('A'), open('B'), open('C')] as const
  for (const writer of writers) writer.start()
  await clock.sleep(12_000)
  try {
    await story({
      engine,
      writers,
      join(name, claims) {
        const writer = openModelWriter(name, settings, claims)
        joined.push(writer)
        writer.start()
        return writer
      },
      now: clock.now,
      sleep: clock.sleep,
      async publish(writer, ref) {
        const result = await writer.submit([{ ref, needs: null, attempt: ref }])
        return result === 'died' ? result : result.is
      },
    })
  } finally {
    for (const writer of [...writers, ...joined]) writer.crash()
    clock.stop()
  }
}

/** Cause of a writer's stop; undefined while it runs. */
export const stopOf = ({ run }: ModelWriter): string | undefined => run()?.replica.state().stopped?.is

/** Place of a writer's newest message. */
export const placeOf = ({ run }: ModelWriter): number | undefined => run()?.replica.state().end.place
