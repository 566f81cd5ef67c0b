import { Command, Option } from 'commander'
import { faultAtStart } from '../../log/tree/log-fault.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { markHighWater } from '../../log/store/high-water.ts'
import { SCHEMA_VERSION } from '../../log/store/store-schema.ts'
import { openForReading, storePath } from '../../log/store/store.ts'
import { formatCompact, type Ms } from '../../protocol/moment.ts'
import { restoreStore } from '../../publish/restore-store.ts'
import { printDiagnoses } from '../doctor/diagnosis.ts'
import { directoryOption } from '../operator/log-options.ts'
import { readableKeys } from '../operator/signing-key-file.ts'
import { textOfFault } from '../service/background-audit.ts'
import { makeFolder } from '../terminal/option-paths.ts'
import { keyFiles, optionOf } from '../terminal/options.ts'
import { shellQuoted } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { CommandError, type ExitCode, takeDirectory, tell, type World } from '../terminal/world.ts'
import { mirrorIn } from '../terminal/mirror-directory.ts'
import { asCopyError } from './copy-errors.ts'
import { newName } from './new-name.ts'
import { planRestore, type RestorePlan, type RestoreSettings } from './restore-plan.ts'
import { formatCount } from '../../protocol/amount.ts'

const STOPPED = 'stopped; nothing was changed'

type RestoreWords = Readonly<{
  from: string
  data: string
  signingKeyFile?: readonly string[]
  acceptLoss?: true
  dryRun?: true
}>

/** The command `restore`. */
export function restoreCommand(world: World, done: (code: ExitCode) => void): Command {
  const option = optionOf('restore')
  return new Command('restore')
    .description('put a backup in place of the store of a data directory, and keep the replaced store')
    .addOption(directoryOption())
    .addOption(
      option(
        '--from <path>',
        'backup, or folder whose newest backup of this log is taken; required',
      ).makeOptionMandatory(),
    )
    .addOption(
      option('--signing-key-file <files>', 'key that signs the log (default: <dir>.key)').argParser(keyFiles),
    )
    .addOption(new Option('--accept-loss', 'restore although published events are not in the backup'))
    .addOption(new Option('--dry-run', 'say what would happen, and change nothing'))
    .addHelpText('after', '\nExample: daybook restore --from /backups --data /var/lib/daybook/log --dry-run')
    .action(async ({ from, data, signingKeyFile, acceptLoss, dryRun }: RestoreWords) => {
      const settings = { from, data, keyFiles: signingKeyFile ?? null, acceptLoss: acceptLoss === true }
      done(dryRun === true ? dryRestore(settings, world) : await restore(settings, world))
    })
}

/** Prints what a restore would do. Ends with 1 when it would refuse. */
function dryRestore(settings: RestoreSettings, world: World): ExitCode {
  const { found } = planRestore(settings, world)
  printDiagnoses(found, world)
  tell(world, 'nothing was changed: leave out --dry-run to restore')
  return found.some(({ is }) => is === 'wrong') ? 1 : 0
}

/** Restores a backup while no service uses the directory. */
export async function restore(settings: RestoreSettings, world: World): Promise<ExitCode> {
  const { data } = settings
  // A wrong path is refused before a folder is made.
  planRestore(settings, world)
  makeFolder(data, '--data', 0o700)
  using _lock = takeDirectory(data)
  const plan = planRestore(settings, world)
  const found = plan.found.filter(({ what }) => what !== 'lock')
  printDiagnoses(found, world)
  if (found.some(({ is }) => is === 'wrong')) {
    tell(world, 'nothing was changed')
    return 1
  }
  await replace(plan, settings, world)
  return 0
}

async function replace(plan: RestorePlan, settings: RestoreSettings, world: World): Promise<void> {
  const { data, keyFiles: files } = settings
  const { path, content } = plan.backup
  const keptAt = (at: Ms): string => `${storePath(data)}.replaced-${formatCompact(at)}`
  const { path: kept } = await newName(keptAt, STOPPED, world)
  const progress = openProgress('restoring', 'pages', world)
  try {
    const isKept = await restoreStore({
      from: path,
      dataDirectory: data,
      kept,
      isPresentWhole: plan.present !== null,
      onProgress(left, total) {
        if (world.stop.aborted) throw new CommandError(1, STOPPED)
        progress.at(total - left, total)
      },
      verify(copy) {
        progress.end()
        verifyCopy(copy, plan, readableKeys(files, data, world))
        raiseMark(plan, data)
      },
    })
    world.stdout.write(`${shellQuoted(data)} holds ${formatCount(content.events, 'event')} of ${path}\n`)
    if (isKept) tell(world, `the replaced store is kept as ${shellQuoted(kept)}: remove it when all is well`)
    for (const line of nextSteps(plan, settings, world)) tell(world, line)
  } catch (error) {
    throw asCopyError(error, { said: 'nothing was restored', option: '--data', path: data })
  } finally {
    progress.end()
  }
}

/** Refuses a copy whose newest events, tree or signature are wrong, or that is not of the log of the high-water mark. */
function verifyCopy(copy: string, { backup, mark, isLoss }: RestorePlan, keys: readonly SigningKey[]): void {
  // `daybook upgrade` proves the store of an older Daybook.
  if (backup.content.schema !== SCHEMA_VERSION) return
  const db = openForReading(copy)
  try {
    // A backup from before a change of keys does not list the key that has signed the mark since.
    const fault = faultAtStart(db, mark, keys)
    if (fault !== null && !(fault.lost && isLoss))
      throw new CommandError(
        1,
        `nothing was restored: ${backup.path}, ${textOfFault(fault)}: try an older backup`,
      )
  } finally {
    db.close()
  }
}

/**
 * Leaves the loss to the next start in the high-water mark, before the store that knows of it is gone. Without that, a
 * start would go on under the same origin: a fork. A mirror signs nothing, and refuses such a mark.
 */
function raiseMark({ raised }: RestorePlan, data: string): void {
  if (raised !== null && mirrorIn(data) === null) markHighWater(data, raised)
}

/** Commands to run after a restore. */
function nextSteps(
  { backup, isLoss, isCarried }: RestorePlan,
  { data, keyFiles: files }: RestoreSettings,
  { program }: World,
): readonly string[] {
  const directory = `--data ${shellQuoted(data)}`
  // A mirror has no key.
  const signed =
    files === null ? directory : `${directory} --signing-key-file ${shellQuoted(files.join(','))}`
  const isOld = backup.content.schema !== SCHEMA_VERSION
  const upgrade = isOld ? [`next: ${program} upgrade ${signed}`] : []
  const check = `${isOld ? 'then' : 'next'}: ${program} check ${signed}`
  if (isCarried) {
    return [check, `then: ${program} serve ${signed} with its --log-store: it reads what was published since`]
  }
  const mirror = mirrorIn(data)
  const serve =
    mirror === null ? `then: ${program} serve ${signed}` : `then: ${program} mirror ${mirror.of} ${directory}`
  return isLoss
    ? [
        ...upgrade,
        `${serve} --accept-loss, once: a new log begins with the events that are left. Announce it`,
      ]
    : [...upgrade, check, serve]
}
