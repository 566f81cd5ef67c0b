import { readLastBackup } from '../../log/store/last-backup.ts'
import type { Diagnosis } from './diagnosis.ts'
import { ok, warn } from './diagnosis.ts'
import { formatAge, formatBytes } from '../terminal/rounded-quantity.ts'

/** Greatest age of the last backup in milliseconds: a day, and two hours for a backup that takes long. */
const BACKUP_AGE_MS_MAX: number = 26 * 60 * 60 * 1_000

/** Whether the last backup of a data directory is recent. */
export function lastBackupDiagnosis(data: string, nowMs: number): Diagnosis {
  const last = readLastBackup(data)
  if (last === null)
    return warn('backup', 'no verified backup was made: run daybook backup --to FOLDER each night')
  const says = `the last verified one is ${formatAge(nowMs - last.at)} old: ${last.events} events, ${formatBytes(last.bytes)}`
  return nowMs - last.at > BACKUP_AGE_MS_MAX
    ? warn('backup', `${says}: look why no newer one was made, or run daybook backup --to FOLDER now`)
    : ok('backup', says)
}
