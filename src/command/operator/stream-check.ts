import { storePath } from '../../log/store/store.ts'
import type { LogStoreSettings } from '../../publish/cluster/log-store-settings.ts'
import type { World } from '../terminal/world.ts'
import { tell } from '../terminal/world.ts'
import { workOnEngine } from './engine-work.ts'

type StreamCheck = Readonly<{
  logStore: LogStoreSettings
  /** Data directory whose store is compared with the engine, and which this process has locked; null without one. */
  data: string | null
  stream: number | null
}>

/**
 * Reads the log from its engine, tells each fault and prints what is right. Returns the number of faults. Throws a
 * CommandError when the engine or the store cannot be read.
 */
export async function checkEngine({ logStore, data, stream }: StreamCheck, world: World): Promise<number> {
  const { checkStreams } = await import('../../publish/cluster/check-stream.ts')
  const words = { verb: 'reading', stopped: 'stopped; the stream was not checked' }
  const store = data === null ? null : storePath(data)
  const checked = await workOnEngine({ logStore, data }, words, world, (engine) =>
    checkStreams({ ...engine, store, stream }),
  )
  const { faults, notices, messages, end } = checked
  for (const said of [...faults, ...notices]) tell(world, said)
  if (faults.length > 0) return faults.length
  const whole = `${messages} messages follow each other up to seq ${end.head} of log ${end.logId}`
  world.stdout.write(`${whole}${store === null ? '' : ', and the store agrees with them'}\n`)
  for (const vkey of store === null ? end.vkeys : []) world.stdout.write(`signed with ${vkey}\n`)
  return 0
}
