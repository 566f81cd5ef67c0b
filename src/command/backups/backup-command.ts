import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  backupName,
  lockBackups,
  removeOldBackups,
  removeUnfinished,
} from '../../log/backup/backup-folder.ts'
import { backupStore } from '../../log/backup/backup.ts'
import { writeLastBackup } from '../../log/backup/last-backup.ts'
import { freeBytes } from '../../log/store/disk-probe.ts'
import { type HighWater, readHighWater } from '../../log/store/high-water.ts'
import { openForReading, readStoreIdentity, StoreError, storePath } from '../../log/store/store.ts'
import { faultAtStart } from '../../log/tree/log-fault.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { formatCount } from '../../protocol/amount.ts'
import type { Ms } from '../../protocol/moment.ts'
import { checkStore } from '../operator/check-command.ts'
import { directoryOption, requireLog } from '../operator/log-options.ts'
import { readKnownKeys } from '../operator/signing-key-file.ts'
import { textOfFault } from '../service/background-audit.ts'
import { type CommandContext, type ExitCode, printNotice } from '../terminal/command-context.ts'
import { CommandError, UsageError } from '../terminal/command-error.ts'
import { checkFileFolder, isFolder, makeFolder, systemReason } from '../terminal/option-paths.ts'
import { optionOf, wholeBetween } from '../terminal/options.ts'
import { formatBytes, shellQuoted } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import type { CommandSpec, ProgramContext } from '../plug/option.ts'
import { asCopyError, newName } from './new-copy.ts'

const STOPPED = 'stopped; no copy was made'
const FAILED = { said: 'no copy was made', option: '--to' } as const
/** Most days for which a folder may keep backups: ten years. */
const DAYS_MAX = 3_660

type BackupOptions = Readonly<{ data: string; to: string; keepDays: number; verify: 'quick' | 'full' }>

/** The command `backup`. */
export function backupCommand({ context }: ProgramContext): CommandSpec {
  const option = optionOf('backup')
  return {
    name: 'backup',
    description: 'copy a log and verify the copy; the service may keep running',
    options: [
      directoryOption(),
      option(
        '--to <path>',
        'folder that keeps verified copies by day, or a new file for one copy; a new folder ends with /; required',
      ).makeOptionMandatory(),
      option('--keep-days <n>', 'days with a backup that a folder keeps; older ones are removed')
        .argParser(wholeBetween(1, DAYS_MAX))
        .default(30),
      option('--verify <how>', 'quick: pages, newest events, signature; full: everything, as check does')
        .choices(['quick', 'full'])
        .default('quick'),
    ],
    async run({ verify, ...options }: BackupOptions) {
      const isFull = verify === 'full'
      const keys = isFull ? readKnownKeys(undefined, options.data, context) : []
      return await backUp({ ...options, isFull, keys }, context)
    },
  }
}

type BackupSettings = Omit<BackupOptions, 'verify'> &
  Readonly<{
    /** Whether the copy is checked as `daybook check` does. */
    isFull: boolean
    /** Keys of which one must have signed the log, for a full check. */
    keys: readonly SigningKey[]
  }>

/**
 * Copies a log to a new file, or to a folder that keeps copies by day, even while it is served. The copy is verified
 * before it gets its name. To serve it, put it in an empty directory as `daybook.db`.
 */
export async function backUp(settings: BackupSettings, context: CommandContext): Promise<ExitCode> {
  const { data, to } = settings
  requireLog(data)
  if (!isFolder(to) && !to.endsWith('/')) {
    if (existsSync(to)) throw new UsageError(`--to: ${shellQuoted(to)} exists already; give a new path`)
    checkFileFolder(to, '--to')
    await backUpTo(to, context.now(), settings, context)
    return 0
  }
  const { id } = readStoreIdentity(data)
  makeFolder(to, '--to', 0o700)
  using _lock = lockFolder(to, id)
  removeUnfinished(to, id)
  const { at, path: newest } = await newName((second) => join(to, backupName(id, second)), STOPPED, context)
  await backUpTo(newest, at, settings, context)
  const removed = removeOldBackups(to, { logId: id, days: settings.keepDays, newest })
  if (removed.length > 0)
    printNotice(context, `${removed.length} older backups removed: --keep-days ${settings.keepDays}`)
  return 0
}

function lockFolder(folder: string, logId: string): Disposable {
  try {
    return lockBackups(folder, logId)
  } catch (error) {
    throw asCopyError(error, { ...FAILED, path: folder })
  }
}

/** Copies the log to a new file, verifies the copy, and records it in the data directory. */
async function backUpTo(
  to: string,
  at: Ms,
  settings: BackupSettings,
  context: CommandContext,
): Promise<void> {
  const { data } = settings
  const store = storePath(data)
  refuseSmallDisk(dirname(to), statSync(store).size)
  const mark = readMark(data, context)
  const progress = openProgress('copying', 'pages', context)
  try {
    const onProgress = (left: number, total: number): void => {
      if (context.stop.aborted) throw new CommandError(STOPPED)
      const walBytes = statSync(`${store}-wal`, { throwIfNoEntry: false })?.size ?? 0
      if (mayFillDisk(walBytes, freeBytes(data))) throw new CommandError(WRITTEN_TOO_FAST)
      progress.at(total - left, total)
    }
    const copied = await backupStore(store, to, onProgress, async (copy) => {
      progress.end()
      await verifyCopy(copy, mark, settings, context)
    })
    noteBackup(data, { at, verifiedAt: context.now(), ...copied }, context)
    context.stdout.write(`${to} holds ${formatCount(copied.events, 'event')}\n`)
  } catch (error) {
    throw asCopyError(error, { ...FAILED, path: to })
  } finally {
    progress.end()
  }
}

/** Bytes of a write-ahead log that never endanger a disk. */
const WAL_BYTES_HARMLESS: number = 64 * 1024 * 1024

const WRITTEN_TOO_FAST =
  'no copy was made: while it was copied, the write-ahead log grew to more than what the disk has free. Copy when less is published, or free some space'

/**
 * Whether the write-ahead log may fill the disk before a copy ends. The log cannot be emptied meanwhile, so a full disk
 * would stop publishing.
 */
export function mayFillDisk(walBytes: number, diskBytes: number): boolean {
  return walBytes > WAL_BYTES_HARMLESS && diskBytes < walBytes
}

function refuseSmallDisk(folder: string, bytes: number): void {
  const free = freeBytes(folder)
  if (free >= bytes) return
  throw new CommandError(
    `--to: a copy needs ${formatBytes(bytes)}, and ${shellQuoted(folder)} has ${formatBytes(free)} free`,
  )
}

/** High-water mark before the copy begins. A damaged mark does not prevent a backup, which is then needed most. */
function readMark(data: string, context: CommandContext): HighWater | null {
  try {
    return readHighWater(data)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    printNotice(context, `${error.message}; the copy is not compared with it`)
    return null
  }
}

/** Refuses a copy that lacks published events, or whose events, tables or signatures are wrong. */
async function verifyCopy(
  copy: string,
  mark: HighWater | null,
  { isFull, keys }: BackupSettings,
  context: CommandContext,
): Promise<void> {
  if (isFull) {
    const { faults } = await checkStore({ store: copy, scratch: `${copy}.checking`, mark, keys }, context)
    if (faults > 0) throw new CommandError('no copy was made: the log has faults')
    return
  }
  using db = openForReading(copy)
  const fault = faultAtStart(db, mark)
  if (fault !== null) throw new CommandError(`no copy was made: ${textOfFault(fault)}`)
}

/** Records the backup for metrics and `doctor`. The backup is valid even if this cannot be written. */
function noteBackup(
  data: string,
  made: Parameters<typeof writeLastBackup>[1],
  context: CommandContext,
): void {
  try {
    writeLastBackup(data, made)
  } catch (error) {
    printNotice(context, `the backup cannot be noted in ${shellQuoted(data)}: ${systemReason(error)}`)
  }
}
