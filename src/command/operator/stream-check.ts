import { EngineError } from '../../engine/log-engine.ts'
import { StoreError } from '../../log/store/store.ts'
import type { CheckedStreams } from '../../publish/cluster/check-stream.ts'
import type { LogStoreSettings } from '../../publish/cluster/log-store-settings.ts'
import { openEngine } from '../../publish/cluster/open-engine.ts'
import { openProgress } from '../terminal/progress.ts'
import type { World } from '../terminal/world.ts'
import { CommandError, tell } from '../terminal/world.ts'

type StreamCheck = Readonly<{
  logStore: LogStoreSettings
  /** Store to compare with the engine, which this process has locked; null without one. */
  store: string | null
  stream: number | null
}>

/**
 * Reads the log from its engine, tells each fault and prints what is right. Returns the number of faults. Throws a
 * CommandError when the engine or the store cannot be read.
 */
export async function checkEngine({ logStore, store, stream }: StreamCheck, world: World): Promise<number> {
  const { checkStreams } = await import('../../publish/cluster/check-stream.ts')
  const progress = openProgress('reading', 'messages', world)
  let checked: CheckedStreams
  try {
    checked = await checkStreams({
      connect: (of) => openEngine(logStore, of, { nowMs: world.now, monotonicMs: world.monotonicMs }),
      store,
      stream,
      signal: world.stop,
      onProgress: (messages) => progress.at(messages, messages),
    })
  } catch (cause) {
    if (world.stop.aborted) throw new CommandError(1, 'stopped; the stream was not checked', { cause })
    if (cause instanceof EngineError || cause instanceof StoreError)
      throw new CommandError(1, cause.message, { cause })
    throw cause
  } finally {
    progress.end()
  }
  const { faults, notices, messages, end } = checked
  for (const said of [...faults, ...notices]) tell(world, said)
  if (faults.length > 0) return faults.length
  const whole = `${messages} messages follow each other up to seq ${end.head} of log ${end.logId}`
  world.stdout.write(`${whole}${store === null ? '' : ', and the store agrees with them'}\n`)
  for (const vkey of store === null ? end.vkeys : []) world.stdout.write(`signed with ${vkey}\n`)
  return 0
}
