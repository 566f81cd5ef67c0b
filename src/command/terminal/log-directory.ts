import { statSync } from 'node:fs'
import { type MirrorMeta, readMirrorMeta } from '../../log/store/mirror-meta.ts'
import { hasStore, openForReading, StoreError, storePath } from '../../log/store/store.ts'
import type { CommandContext } from './command-context.ts'
import { UsageError } from './command-error.ts'
import { shellQuoted } from './output.ts'

/** Log that a directory mirrors; null without a mirror, or for a store that cannot be opened. */
export function mirrorIn(data: string): MirrorMeta | null {
  if (!hasStore(data)) return null
  try {
    using db = openForReading(storePath(data))
    return readMirrorMeta(db)
  } catch (error) {
    // The command itself reports a store of another schema.
    if (error instanceof StoreError) return null
    throw error
  }
}

/** Refuses a command that writes a log in the directory of a mirror, because only its origin publishes. */
export function refuseMirrorDirectory(data: string): void {
  const mirror = mirrorIn(data)
  if (mirror === null) return
  throw new UsageError(
    `${data} holds a mirror of ${mirror.of}: serve it with daybook mirror ${mirror.of} --data ${data}, or choose another directory`,
  )
}

/**
 * Refuses root to serve, load or move the data directory of another user. That user could not use root's files, so the
 * service would no longer start.
 */
export function refuseOtherOwner(data: string, { isRoot }: CommandContext): void {
  const owner = statSync(data, { throwIfNoEntry: false })?.uid ?? 0
  if (!isRoot || owner === 0) return
  throw new UsageError(
    `${shellQuoted(data)} belongs to the user ${owner}, who could not use files of root: run the command as that user, such as runuser -u daybook -- daybook …`,
  )
}
