import { existsSync } from 'node:fs'
import { backupStore } from '../../log/store/backup.ts'
import { readHighWater } from '../../log/store/high-water.ts'
import { writeLastBackup } from '../../log/store/last-backup.ts'
import { openForReading, storePath } from '../../log/store/store.ts'
import { faultAtStart } from '../../log/tree/log-fault.ts'
import { textOfFault } from '../service/background-audit.ts'
import { asPathError, checkFileFolder } from '../terminal/option-paths.ts'
import { shellQuoted } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { requireLog } from '../operator/log-options.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError } from '../terminal/world.ts'

/**
 * Copies a log to one file, even while it is served, and compares the copy with the high-water mark. As `daybook.db` in an empty directory, the
 * copy can be served.
 */
export async function backUp(data: string, to: string, world: World): Promise<ExitCode> {
  requireLog(data)
  if (existsSync(to)) throw new CommandError(2, `--to: ${shellQuoted(to)} exists already; give a new path`)
  checkFileFolder(to, '--to')
  const progress = openProgress('copying', 'pages', world)
  try {
    const at = world.now()
    const mark = readHighWater(data)
    const onProgress = (left: number, total: number): void => {
      if (world.stop.aborted) throw new CommandError(1, 'stopped; no copy was made')
      progress.at(total - left, total)
    }
    const copied = await backupStore(storePath(data), to, onProgress, (copy) => refuseFault(copy, mark))
    const { events } = copied
    writeLastBackup(data, { at, verifiedAt: world.now(), ...copied })
    world.stdout.write(`${to} holds ${events} events\n`)
    return 0
  } catch (error) {
    throw asCopyError(error, to)
  } finally {
    progress.end()
  }
}

/** Refuses a copy that lacks published events, or whose newest events or signature are wrong. */
function refuseFault(copy: string, mark: ReturnType<typeof readHighWater>): void {
  const db = openForReading(copy)
  try {
    const fault = faultAtStart(db, mark)
    if (fault !== null) throw new CommandError(1, `no copy was made: ${textOfFault(fault)}`)
  } finally {
    db.close()
  }
}

const SQLITE_FULL = 13

/** Error for the user. SQLite does not say which of the two files failed; only a full disk is surely that of the copy. */
function asCopyError(error: unknown, to: string): unknown {
  const isSqlite = error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR'
  if (!isSqlite) return asPathError(error, '--to')
  const isFull = 'errcode' in error && Number(error.errcode) === SQLITE_FULL
  const reason = isFull ? `the disk of ${shellQuoted(to)} is full` : error.message
  return new CommandError(1, `no copy was made: ${reason}`, { cause: error })
}
