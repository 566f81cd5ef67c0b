import type { EngineConnection } from '../../engine/log-engine.ts'
import type { PrimaryMemory } from '../../engine/postgres/primary-link.ts'
import type { LogStoreSettings } from './log-store-settings.ts'
import { databaseOf } from './log-store-settings.ts'

type EngineClocks = Readonly<{
  /** Milliseconds since 1970, and of a clock that never jumps. */
  nowMs(): number
  monotonicMs(): number
}>

type EngineSurroundings = EngineClocks &
  Readonly<{
    /** The newest primary of a database over restarts; null for a command without a data directory. */
    memory: PrimaryMemory | null
  }>

/** Connects with the engine of a log, for one of its streams. Throws an `EngineError`. */
export async function openEngine(
  { engine }: LogStoreSettings,
  stream: number,
  { nowMs, monotonicMs, memory }: EngineSurroundings,
): Promise<EngineConnection> {
  // Most services have no engine, and a client of one takes time to load.
  switch (engine.is) {
    case 'nats': {
      const { target, credentials } = engine
      const { openNats } = await import('../../engine/nats/nats-connection.ts')
      return await openNats({ target, credentials, stream, nowMs, monotonicMs })
    }
    case 'postgres': {
      const { isSingle } = engine
      const { openPostgresEngine } = await import('../../engine/postgres/postgres-engine.ts')
      return openPostgresEngine(databaseOf(engine.target), {
        stream,
        isSingle,
        nowMs,
        monotonicMs,
        memory,
      })
    }
  }
}
