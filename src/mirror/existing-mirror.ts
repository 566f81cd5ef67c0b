import { DaybookError } from '../client/daybook-error.ts'
import { writeMirrorMeta } from '../log/store/mirror-meta.ts'
import { openForWriting, readIdentity, storePath } from '../log/store/store.ts'
import { headOf } from '../log/tree/log-fault.ts'
import { mirrorMetaOf } from './book/mirror-rows.ts'
import type { MirrorSettings } from './mirror-settings.ts'
import type { Origin } from './origin/open-origin.ts'
import { readOriginKeys } from './origin/origin-answers.ts'
import type { OriginKeys, Pins } from './proof/origin-keys.ts'

/** Whether the mirror of a directory can go on, or is to be built anew for the log that continues its own. */
type Existing = Readonly<{ is: 'ready'; events: number }> | Readonly<{ is: 'followed' }>

/**
 * Looks at the store that a directory has, and writes changed settings to it. Asks the origin only with `followFormer`.
 * Throws a `StoreError` when the store is no mirror.
 */
export async function existingMirror(
  settings: MirrorSettings,
  origin: Origin,
  signal: AbortSignal,
): Promise<Existing> {
  const db = openForWriting(storePath(settings.dataDirectory))
  try {
    const meta = mirrorMetaOf(db, settings.dataDirectory)
    const { vkeys } = settings
    const pins = vkeys.length > 0 ? { vkeys, firstUse: false } : meta
    // Given keys are written when they have proved something.
    if (meta.of !== origin.url) writeMirrorMeta(db, { ...meta, of: origin.url })
    if (!settings.followFormer) return { is: 'ready', events: headOf(db) }
    const { id } = readIdentity(db)
    const keys = await followedKeys(origin, pins, signal)
    if (keys === null || keys.logId === id || !keys.former.some((log) => log.id === id))
      return { is: 'ready', events: headOf(db) }
    return { is: 'followed' }
  } finally {
    db.close()
  }
}

/** The keys of the log that the origin has now; null while it cannot be reached: what the mirror has can be served. */
async function followedKeys(origin: Origin, pins: Pins, signal: AbortSignal): Promise<OriginKeys | null> {
  try {
    return (await readOriginKeys(origin, pins, signal)).keys
  } catch (error) {
    if (error instanceof DaybookError) return null
    throw error
  }
}
