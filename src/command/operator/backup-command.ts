import { existsSync } from 'node:fs'
import { backupStore } from '../../log/store/backup.ts'
import { hasStore, storePath } from '../../log/store/store.ts'
import { asPathError, checkFileFolder } from '../terminal/option-paths.ts'
import { shellQuoted } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError } from '../terminal/world.ts'

/** Copies a log to one file while it is served: put back as `daybook.db` in an empty directory, it serves. */
export async function backUp(data: string, to: string, world: World): Promise<ExitCode> {
  if (!hasStore(data)) throw new CommandError(2, `${data} holds no log`)
  if (existsSync(to)) throw new CommandError(2, `${to} exists already`)
  checkFileFolder(to, '--to')
  const progress = openProgress('copying', 'pages', world)
  try {
    const { events } = await backupStore(storePath(data), to, (left, total) => {
      if (world.stop.aborted) throw new CommandError(1, 'stopped; no copy was made')
      progress.at(total - left, total)
    })
    world.stdout.write(`${to} holds ${events} events\n`)
    return 0
  } catch (error) {
    throw asCopyError(error, to)
  } finally {
    progress.end()
  }
}

const SQLITE_FULL = 13

/** SQLite does not say which of the two files failed: neither is blamed, unless only the copy can have. */
function asCopyError(error: unknown, to: string): unknown {
  const isSqlite = error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR'
  if (!isSqlite) return asPathError(error, '--to')
  const isFull = 'errcode' in error && Number(error.errcode) === SQLITE_FULL
  const reason = isFull ? `the disk of ${shellQuoted(to)} is full` : error.message
  return new CommandError(1, `no copy was made: ${reason}`, { cause: error })
}
