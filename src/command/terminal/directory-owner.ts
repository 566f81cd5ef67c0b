import { statSync } from 'node:fs'
import { shellQuoted } from './output.ts'
import { CommandError, type World } from './world.ts'

/**
 * Refuses that root serves, loads or moves the data directory of another user. That user could not use the files of root,
 * so the service would not start any more.
 */
export function refuseOtherOwner(data: string, { isRoot }: World): void {
  const owner = statSync(data, { throwIfNoEntry: false })?.uid ?? 0
  if (!isRoot || owner === 0) return
  throw new CommandError(
    2,
    `${shellQuoted(data)} belongs to the user ${owner}, who could not use files of root: run the command as that user, such as runuser -u daybook -- daybook …`,
  )
}
