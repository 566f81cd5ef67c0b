import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Ms, MS_MAX, msOf } from '../../protocol/moment.ts'
import { writeDurably } from '../store/durable-rename.ts'
import { formatSealed, parseSealed } from '../store/sealed-json.ts'

/**
 * Last verified backup of a log. `at` is when it began, so it contains everything published before. `verifiedAt` is
 * when its check ended.
 */
type LastBackup = Readonly<{ at: Ms; verifiedAt: Ms; events: number; bytes: number }>

/** File in the data directory that describes the last backup, for metrics and `doctor`. */
export const LAST_BACKUP_FILE = 'last-backup'

/** Replaces the description of the last backup. It is on the disk when this returns. */
export function writeLastBackup(dataDirectory: string, { at, verifiedAt, events, bytes }: LastBackup): void {
  writeDurably(join(dataDirectory, LAST_BACKUP_FILE), formatSealed({ at, verifiedAt, events, bytes }))
}

/** Reads the description of the last backup; null when there is none, or it is damaged. */
export function readLastBackup(dataDirectory: string): LastBackup | null {
  try {
    return lastBackupOf(parseSealed(readFileSync(join(dataDirectory, LAST_BACKUP_FILE))))
  } catch (error) {
    if (error instanceof SyntaxError || (error instanceof Error && 'syscall' in error)) return null
    throw error
  }
}

function lastBackupOf(json: unknown): LastBackup | null {
  if (typeof json !== 'object' || json === null) return null
  if (!('at' in json && 'verifiedAt' in json && 'events' in json && 'bytes' in json)) return null
  const { at, verifiedAt, events, bytes } = json
  if (![at, verifiedAt, events, bytes].every((one) => Number.isSafeInteger(one) && Number(one) >= 0))
    return null
  if (Number(at) > MS_MAX || Number(verifiedAt) > MS_MAX) return null
  return {
    at: msOf(Number(at)),
    verifiedAt: msOf(Number(verifiedAt)),
    events: Number(events),
    bytes: Number(bytes),
  }
}
