import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { faultsOfStore } from '../../log/store-faults.ts'
import { freeBytes } from '../../log/store/disk-probe.ts'
import { type HighWater, readHighWater } from '../../log/store/high-water.ts'
import { removeStore } from '../../log/store/store-files.ts'
import { openForReading, storePath } from '../../log/store/store.ts'
import { faultAtStart, faultOfGivenKeys, isBehindCarrier } from '../../log/tree/log-fault.ts'
import { tryRead } from '../../log/tree/signed-trees.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { faultOfKeys } from '../../log/tree/signing-keys.ts'
import { formatCount } from '../../protocol/amount.ts'
import { recompute } from '../../publish/recompute.ts'
import { auditWhole, textOfFault } from '../service/background-audit.ts'
import {
  type CommandContext,
  type ExitCode,
  printNotice,
  takeDirectory,
} from '../terminal/command-context.ts'
import { CommandError } from '../terminal/command-error.ts'
import { keyFiles, option } from '../terminal/options.ts'
import { openProgress } from '../terminal/progress.ts'
import { directoryOption, requireLog } from './log-options.ts'
import type { CommandSpec, ProgramContext } from '../plug/option.ts'
import { readKnownKeys } from './signing-key-file.ts'
import { formatBytes } from '../terminal/output.ts'

type CheckOptions = Readonly<{ data: string; signingKeyFile?: readonly string[] }>

/** The command `check`: a store against the lines of its log. */
export function checkCommand({ context }: ProgramContext): CommandSpec {
  const key = option(
    '--signing-key-file <files>',
    'key that must have signed the log, or two with a comma (default: <dir>.key, if it exists)',
  )
  return {
    name: 'check',
    description: 'recompute everything in a store from the lines of its log',
    options: [directoryOption(), key.argParser(keyFiles)],
    run: ({ data, signingKeyFile }: CheckOptions) =>
      check({ data, keys: readKnownKeys(signingKeyFile, data, context) }, context),
  }
}

type CheckSettings = Readonly<{
  data: string
  /** Keys of which one must have signed the newest tree, if any are given. */
  keys?: readonly SigningKey[]
}>

/**
 * Recomputes everything in a store from the lines of its log, with the tree and the signatures. Reports the
 * differences.
 */
export async function check({ data, keys = [] }: CheckSettings, context: CommandContext): Promise<ExitCode> {
  requireLog(data)
  // A running service would publish while tables are compared. A backup of its log can be checked instead.
  using _lock = takeDirectory(data)
  const scratch = join(data, 'daybook.db.checking')
  const checked = { store: storePath(data), scratch, mark: comparedMark(data, keys, context), keys }
  const { events, faults } = await checkStore(checked, context)
  if (faults === 0)
    context.stdout.write(
      `${formatCount(events, 'event')}: every table agrees with the log, and the log with its signatures\n`,
    )
  return faults > 0 ? 1 : 0
}

/** Mark of a directory to compare its store with. Null, with a notice, when the store is only behind its table. */
function comparedMark(data: string, keys: readonly SigningKey[], context: CommandContext): HighWater | null {
  const mark = readHighWater(data)
  using db = openForReading(storePath(data))
  // The check itself reports an unreadable store.
  const fault = tryRead(() => faultAtStart(db, mark, keys)) ?? null
  if (fault === null || !isBehindCarrier(db, fault)) return mark
  printNotice(context, `${textOfFault(fault)}; its table has the rest`)
  return null
}

/** Store to check, path of the temporary store to compare it with, and the mark and keys that must agree with it. */
type CheckedStore = Readonly<{
  store: string
  scratch: string
  mark: HighWater | null
  keys: readonly SigningKey[]
}>

/**
 * Checks one store file that nobody writes, prints each fault and counts them. Throws a CommandError when the disk is
 * too small, or at a stop.
 */
export async function checkStore(
  { store, scratch, mark, keys }: CheckedStore,
  context: CommandContext,
): Promise<Readonly<{ events: number; faults: number }>> {
  const { size } = statSync(store)
  const folder = dirname(scratch)
  if (freeBytes(folder) < size) {
    throw new CommandError(
      `${folder}: the check needs ${formatBytes(size)} of free disk, the size of the store`,
    )
  }
  const progress = openProgress('checking', 'events', context)
  removeStore(scratch)
  try {
    const found = readFaults(store)
    // Printed first, because the next steps may be unable to read the store.
    for (const one of found) printNotice(context, one)
    const fault = await auditFault(store, mark, keys, context)
    if (fault !== null) printNotice(context, fault)
    const steps = recompute(store, scratch)
    let step = steps.next()
    while (step.done !== true) {
      progress.at(step.value, step.value)
      // Signals are handled only between turns of the event loop.
      await turn()
      if (context.stop.aborted) {
        steps.return({ events: step.value, differences: [] })
        throw new CommandError(`stopped after ${formatCount(step.value, 'event')}; the store was not checked`)
      }
      step = steps.next()
    }
    progress.end()
    const { events, differences } = step.value
    for (const { table, rows, first } of differences) {
      printNotice(
        context,
        `${table}: ${formatCount(rows, 'row differs', 'rows differ')} from those recomputed from the log, the first at ${first}`,
      )
    }
    return { events, faults: found.length + differences.length + (fault === null ? 0 : 1) }
  } finally {
    progress.end()
    removeStore(scratch)
  }
}

function readFaults(store: string): readonly string[] {
  using db = openForReading(store)
  return faultsOfStore(db)
}

/** First fault of the log by its tree, signatures, high-water mark and keys; null when there is none. */
async function auditFault(
  store: string,
  mark: HighWater | null,
  keys: readonly SigningKey[],
  context: CommandContext,
): Promise<string | null> {
  using db = openForReading(store)
  const { fault: found } = await auditWhole(db, () => null, context)
  const fault = found ?? faultAtStart(db, mark, keys)
  if (fault !== null) return textOfFault(fault)
  return (await faultOfKeys(db)) ?? (await faultOfGivenKeys(db, keys))
}
