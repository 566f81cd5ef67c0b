import { Option } from 'commander'
import { LockedError } from '../../log/store/lock.ts'
import { formatCount } from '../../protocol/amount.ts'
import { removeKept } from '../../publish/upgrade/swap-stores.ts'
import {
  type UpgradeForecast,
  type UpgradeProgress,
  type UpgradeReport,
  upgradeStore,
} from '../../publish/upgrade/upgrade.ts'
import { textOfFault } from '../service/background-audit.ts'
import { type CommandContext, type ExitCode, printNotice } from '../terminal/command-context.ts'
import { CommandError } from '../terminal/command-error.ts'
import { keyFiles, optionOf, wholeBetween } from '../terminal/options.ts'
import { formatBytes, shellQuoted } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { VERSION } from '../terminal/version.ts'
import { directoryOption, requireLog } from './log-options.ts'
import type { CommandSpec, ProgramContext } from '../plug/option.ts'
import { readableKeys, readKeyFile } from './signing-key-file.ts'

type UpgradeOptions = Readonly<{
  data: string
  signingKeyFile?: readonly string[]
  wait: number
  rebuild?: true
  removeOld?: true
}>

/** The command `upgrade`. */
export function upgradeCommand({ context }: ProgramContext): CommandSpec {
  const option = optionOf('upgrade')
  return {
    name: 'upgrade',
    description:
      'bring the store of an older Daybook to the present schema; that one may go on serving meanwhile',
    options: [
      directoryOption(),
      option('--signing-key-file <files>', 'key that signs the log (default: <dir>.key)').argParser(keyFiles),
      option(
        '--wait <seconds>',
        'longest wait for the service that uses the directory, when all else is done',
      )
        .argParser(wholeBetween(0, 86_400))
        .default(600),
      new Option('--rebuild', 'compute a store of the present schema again from its log'),
      new Option('--remove-old', 'remove the old stores that earlier upgrades have kept'),
    ],
    help: 'Example: daybook upgrade --data /var/lib/daybook/log',
    run({ data, signingKeyFile, wait, rebuild, removeOld }: UpgradeOptions) {
      requireLog(data)
      if (removeOld === true) return removeOldStores(data, context)
      const task = { data, waitMs: wait * 1_000, rebuild: rebuild === true, keyFiles: signingKeyFile ?? null }
      return upgrade(task, context)
    },
  }
}

function removeOldStores(data: string, context: CommandContext): ExitCode {
  const removed = removeKept(data)
  for (const { path, bytes } of removed)
    context.stdout.write(`${shellQuoted(path)} is removed: ${formatBytes(bytes)}\n`)
  if (removed.length === 0) context.stdout.write('no old store is kept\n')
  return 0
}

type UpgradeTask = Readonly<{
  data: string
  waitMs: number | null
  rebuild: boolean
  /** Key that signs the log; null for the default file. */
  keyFiles: readonly string[] | null
}>

async function upgrade(task: UpgradeTask, context: CommandContext): Promise<ExitCode> {
  const report = await runUpgrade(task, context)
  if (report === null) {
    context.stdout.write('nothing to upgrade: the store has the present schema\n')
    return 0
  }
  const { from, to, events, seconds, lockedMs } = report
  context.stdout.write(
    `${formatCount(events, 'event')} upgraded from schema ${from} to schema ${to} in ${seconds.toFixed(1)} s; the directory was locked for ${(lockedMs / 1_000).toFixed(1)} s\n`,
  )
  tellKept(report, task.data, context)
  return 0
}

/** Upgrades the store before it is served, if it needs that. */
export async function upgradeFirst(task: UpgradeTask, context: CommandContext): Promise<void> {
  const report = await runUpgrade(task, context)
  if (report !== null) tellKept(report, task.data, context)
}

function tellKept({ kept }: UpgradeReport, data: string, context: CommandContext): void {
  printNotice(context, `the old store is kept as ${shellQuoted(kept)}; when all is well:`)
  printNotice(context, `  ${context.program} upgrade --data ${shellQuoted(data)} --remove-old`)
}

/** Upgrades the store of a data directory with a progress bar. Null when there is nothing to upgrade. */
async function runUpgrade(
  { data, waitMs, rebuild, keyFiles: files }: UpgradeTask,
  context: CommandContext,
): Promise<UpgradeReport | null> {
  const reporting = openReporting(context)
  try {
    return await upgradeStore({
      dataDirectory: data,
      // A given file that cannot be read is refused, because without its key a good store would look wrong.
      keys: files?.map((path) => readKeyFile(path, context)) ?? readableKeys(null, data, context),
      version: VERSION,
      rebuild,
      waitMs,
      monotonicMs: context.monotonicMs,
      ...reporting,
      signal: context.stop,
    })
  } catch (cause) {
    reporting.end()
    if (context.stop.aborted) {
      const reason =
        'stopped; the old store is unchanged, and the same command continues where this one ended'
      throw new CommandError(reason, { cause })
    }
    if (cause instanceof LockedError) throw new CommandError(`${data}: ${cause.message}`, { cause })
    throw cause
  } finally {
    reporting.end()
  }
}

/** Time between two progress lines where no terminal shows a bar. */
const LINE_MS = 15_000

const STAGES: Readonly<Record<UpgradeProgress['stage'], string>> = {
  events: 'carrying the events over',
  indexes: 'building the indexes',
  comparing: 'comparing both stores',
  waiting: 'waiting for the service',
  proving: 'proving the new store',
  linking: 'keeping the old store',
  renaming: 'replacing the old store',
}

/** Reports the space that an upgrade needs, its progress, and when the service must be stopped. */
function openReporting(context: CommandContext) {
  const progress = openProgress('upgrading', 'events', context)
  let toldMs = context.monotonicMs()
  let isWaiting = false
  return {
    onForecast({ from, to, events, lost, needBytes, freeBytes }: UpgradeForecast) {
      const what = `upgrading ${formatCount(events, 'event')} from schema ${from} to schema ${to}`
      const room = `${formatBytes(needBytes)} of disk at most; ${formatBytes(freeBytes)} are free`
      printNotice(context, `${what} needs ${room}`)
      if (lost !== null)
        printNotice(context, `${textOfFault(lost)}: the next start needs a newer backup, or --accept-loss`)
    },
    onProgress({ stage, done, total }: UpgradeProgress) {
      if (stage === 'waiting' && !isWaiting) {
        isWaiting = true
        progress.end()
        printNotice(
          context,
          'the new store is ready and follows the log: stop the service that uses the directory now',
        )
      }
      if (isWaiting) return
      progress.at(done, total, ` | ${STAGES[stage]}`)
      if (context.interactive || context.monotonicMs() - toldMs < LINE_MS) return
      toldMs = context.monotonicMs()
      printNotice(context, `${done} of ${formatCount(total, 'event')}: ${STAGES[stage]}`)
    },
    end: progress.end,
  }
}
