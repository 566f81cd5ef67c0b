import type { EngineConnection } from '../../engine/log-engine.ts'
import { EngineError } from '../../engine/log-engine.ts'
import { StoreError } from '../../log/store/store.ts'
import type { LogStoreSettings } from '../../publish/cluster/log-store-settings.ts'
import { openEngine } from '../../publish/cluster/open-engine.ts'
import { openPrimaryFile } from '../../publish/cluster/primary-file.ts'
import { openProgress } from '../terminal/progress.ts'
import type { World } from '../terminal/world.ts'
import { CommandError } from '../terminal/world.ts'

/** Parts that the work of a command on an engine gets. */
type EngineWork = Readonly<{
  /** Connects with a stream. Throws an `EngineError`. */
  connect(stream: number): Promise<EngineConnection>
  signal: AbortSignal
  /** Shows the number of messages so far. */
  onProgress(messages: number): void
}>

type EngineWords = Readonly<{
  /** Word for the work with the messages, such as "reading". */
  verb: string
  /** Sentence about the log when the operator stops the command. */
  stopped: string
}>

/** The engine of a log, and the data directory that the command works on; null for none. */
type WorkedLog = Readonly<{ logStore: LogStoreSettings; data: string | null }>

/** Runs the work of a command on the engine of a log, with its progress. Throws a CommandError that says what is wrong. */
export async function workOnEngine<T>(
  { logStore, data }: WorkedLog,
  { verb, stopped }: EngineWords,
  world: World,
  work: (of: EngineWork) => Promise<T>,
): Promise<T> {
  // A former primary is refused as by the node. Only the node notes a new one.
  const memory = data === null ? null : { ...openPrimaryFile(data), write: () => undefined }
  const surroundings = { nowMs: world.now, monotonicMs: world.monotonicMs, memory }
  const progress = openProgress(verb, 'messages', world)
  try {
    return await work({
      connect: (stream) => openEngine(logStore, stream, surroundings),
      signal: world.stop,
      onProgress: (messages) => progress.at(messages, messages),
    })
  } catch (cause) {
    if (world.stop.aborted) throw new CommandError(1, stopped, { cause })
    if (cause instanceof EngineError || cause instanceof StoreError)
      throw new CommandError(1, cause.message, { cause })
    throw cause
  } finally {
    progress.end()
  }
}
