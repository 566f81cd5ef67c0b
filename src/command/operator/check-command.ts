import { rmSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { readHighWater } from '../../log/store/high-water.ts'
import { faultAtStart } from '../../log/tree/log-fault.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { faultOfKeys } from '../../log/tree/signing-keys.ts'
import { hasStore, openForReading, storePath } from '../../log/store/store.ts'
import { recompute } from '../../publish/recompute.ts'
import { auditWhole, textOfFault } from '../service/background-audit.ts'
import { openProgress } from '../terminal/progress.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError, takeDirectory, tell } from '../terminal/world.ts'

/**
 * Recomputes everything in a store from the log's lines, its tree and its signatures too, and says what differs. With
 * the log's own keys at hand its newest tree must be signed with them.
 */
export async function check(data: string, world: World, keys: readonly SigningKey[] = []): Promise<ExitCode> {
  if (!hasStore(data)) throw new CommandError(2, `${data} holds no log`)
  // The service would publish while tables are compared: it is checked while it rests, or as a backup.
  using _lock = takeDirectory(data)
  const store = storePath(data)
  const scratch = join(data, 'daybook.db.checking')
  const { bsize, bavail } = statfsSync(data)
  if (bsize * bavail < statSync(store).size) {
    throw new CommandError(1, 'the check needs as much free disk as the store is large')
  }
  const remove = (): void => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${scratch}${suffix}`, { force: true })
  }
  const progress = openProgress('checking', 'events', world)
  remove()
  try {
    const fault = await auditFault(data, keys, world)
    if (fault !== null) tell(world, fault)
    const steps = recompute(store, scratch)
    let step = steps.next()
    while (step.done !== true) {
      progress.at(step.value, step.value)
      // Steps that follow at once would keep a signal waiting to the end.
      await turn()
      if (world.stop.aborted) {
        steps.return({ events: step.value, differences: [] })
        throw new CommandError(1, `stopped after ${step.value} events; nothing is said of the store`)
      }
      step = steps.next()
    }
    progress.end()
    const { events, differences } = step.value
    for (const { table, rows, first } of differences) {
      tell(world, `${table}: ${rows} rows differ from what the log says, the first at ${first}`)
    }
    if (fault !== null || differences.length > 0) return 1
    world.stdout.write(`${events} events: every table is what the log says, and the log is what was signed\n`)
    return 0
  } finally {
    progress.end()
    remove()
  }
}

/** What the tree, the signatures, the keys and the high-water mark have against the log; null when nothing. */
async function auditFault(data: string, keys: readonly SigningKey[], world: World): Promise<string | null> {
  const db = openForReading(storePath(data))
  try {
    const fault = (await auditWhole(db, () => null, world)) ?? faultAtStart(db, readHighWater(data), keys)
    return fault === null ? await faultOfKeys(db) : textOfFault(fault)
  } finally {
    db.close()
  }
}
