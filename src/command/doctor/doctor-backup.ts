import { lstatSync, statSync } from 'node:fs'
import { backupsIn, type FolderBackup } from '../../log/backup/backup-folder.ts'
import { readLastBackup } from '../../log/backup/last-backup.ts'
import { OTHERS } from '../operator/signing-key-file.ts'
import { isFolder } from '../terminal/option-paths.ts'
import { shellQuoted } from '../terminal/output.ts'
import { formatAge, formatBytes } from '../terminal/rounded-quantity.ts'
import { CommandError, type World } from '../terminal/world.ts'
import { type Diagnosis, note, ok, warn, wrong } from './diagnosis.ts'
import { keysInside } from './doctor-files.ts'
import { formatCount } from '../../protocol/amount.ts'

/** Greatest age of the last backup in milliseconds: a day, and two hours for a backup that takes long. */
const BACKUP_AGE_MS_MAX: number = 26 * 60 * 60 * 1_000

/** Whether the last backup of a data directory is recent. */
export function lastBackupDiagnosis(data: string, world: World): Diagnosis {
  const last = readLastBackup(data)
  const command = backupCommand(world, data, 'FOLDER')
  if (last === null) return warn('backup', `no verified backup was made: run ${command} each night`)
  const ageMs = world.now() - last.at
  const says = `the last verified one is ${formatAge(ageMs)} old: ${formatCount(last.events, 'event')}, ${formatBytes(last.bytes)}`
  return ageMs > BACKUP_AGE_MS_MAX ? warn('backup', `${says}; ${orMake(command)}`) : ok('backup', says)
}

function orMake(command: string): string {
  return `look why no newer one was made, or run ${command} now`
}

/** Command that makes a backup. */
function backupCommand({ program }: World, data: string, to: string): string {
  return `${program} backup --data ${shellQuoted(data)} --to ${shellQuoted(to)}`
}

/** The log whose backups a folder should have, and its data directory; null for any log. */
type BackedUpLog = Readonly<{ id: string; data: string }>

/** Examines a folder of backups: age of the newest, modes, keys, and whether it is on the disk of the log. */
export function backupsDiagnosis(
  folder: string,
  log: BackedUpLog | null,
  world: World,
): readonly Diagnosis[] {
  if (!isFolder(folder)) throw new CommandError(2, `--backups: ${shellQuoted(folder)} is no folder`)
  const backups = [...backupsIn(folder)].filter(
    ({ content }) => content !== null && (log === null || content.log === log.id),
  )
  const isSameDisk = log !== null && statSync(folder).dev === statSync(log.data).dev
  return [
    newestOf(folder, backups, backupCommand(world, log?.data ?? 'DIR', folder), world.now()),
    ...(world.hasFileModes ? modesOfBackups(folder, backups) : []),
    ...keysInside(folder),
    ...(isSameDisk
      ? [
          note(
            'backups',
            `${folder} is on the disk of the log and is lost with it: copy it to another machine`,
          ),
        ]
      : []),
  ]
}

type Backups = readonly FolderBackup[]

function newestOf(folder: string, backups: Backups, command: string, nowMs: number): Diagnosis {
  const [newest] = backups
  if (newest === undefined) return wrong('backups', `${folder} has no backup of this log`)
  const ageMs = nowMs - newest.atMs
  const says = `${backups.length} in ${folder}, the newest ${formatAge(ageMs)} old with ${formatCount(newest.content?.events ?? 0, 'event')}`
  return ageMs > BACKUP_AGE_MS_MAX ? warn('backups', `${says}; ${orMake(command)}`) : ok('backups', says)
}

function modesOfBackups(folder: string, backups: Backups): readonly Diagnosis[] {
  const open = backups.filter(({ path }) => (lstatSync(path).mode & OTHERS) !== 0)
  const [first] = open
  const files =
    first === undefined
      ? []
      : [
          wrong(
            'backups',
            `${first.path}${open.length === 1 ? '' : ` and ${open.length - 1} more`} may be read by other users, with the refs: chmod 600`,
          ),
        ]
  const isOpen = (statSync(folder).mode & OTHERS) !== 0
  return isOpen ? [...files, warn('backups', `${folder}: other users may look into it: chmod 700`)] : files
}
