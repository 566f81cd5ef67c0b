import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { MS_MAX, msOf } from '../../protocol/moment.ts'
import { writeDurably } from '../store/durable-rename.ts'
import { formatSealed, parseSealed } from '../store/sealed-json.ts'

/**
 * Last verified backup of a log. `at` is when it began, so it contains everything published before. `verifiedAt` is
 * when its check ended.
 */
type LastBackup = Readonly<z.infer<typeof LAST_BACKUP>>

const count = z.int().min(0)
const moment = count.max(MS_MAX).transform(msOf)
const LAST_BACKUP = z.object({ at: moment, verifiedAt: moment, events: count, bytes: count })

/** File in the data directory that describes the last backup, for metrics and `doctor`. */
export const LAST_BACKUP_FILE = 'last-backup'

/** Replaces the description of the last backup. It is on the disk when this returns. */
export function writeLastBackup(dataDirectory: string, { at, verifiedAt, events, bytes }: LastBackup): void {
  writeDurably(join(dataDirectory, LAST_BACKUP_FILE), formatSealed({ at, verifiedAt, events, bytes }))
}

/** Reads the description of the last backup; null when there is none, or it is damaged. */
export function readLastBackup(dataDirectory: string): LastBackup | null {
  try {
    return (
      LAST_BACKUP.safeParse(parseSealed(readFileSync(join(dataDirectory, LAST_BACKUP_FILE)))).data ?? null
    )
  } catch (error) {
    if (error instanceof SyntaxError || (error instanceof Error && 'syscall' in error)) return null
    throw error
  }
}
