import { existsSync } from 'node:fs'
import { Argument } from 'commander'
import { LockedError } from '../../log/store/lock.ts'
import type { NewLog } from '../../log/store/store.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { formatCount } from '../../protocol/amount.ts'
import { STDIN } from '../../publish/import/import-lines.ts'
import { importFiles } from '../../publish/import/import.ts'
import {
  directoryInUse,
  type ExitCode,
  printNotice,
  type CommandContext,
} from '../terminal/command-context.ts'
import { CommandError, UsageError } from '../terminal/command-error.ts'
import { refuseMirrorDirectory, refuseOtherOwner } from '../terminal/log-directory.ts'
import { isFolder, makeFolder } from '../terminal/option-paths.ts'
import { shellQuoted } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { directoryOption, LOG_OPTIONS, type LogOptions, newLogOf } from './log-options.ts'
import type { CommandSpec, ProgramContext } from '../plug/option.ts'
import { readSigningKeys } from './signing-key-file.ts'

type ImportCommandSettings = Readonly<{
  files: readonly string[]
  data: string
  newLog: NewLog
  keys: readonly SigningKey[]
  balances: 'refuse' | 'report'
}>

/** The command `import`: history from files of drafts. */
export function importCommand({ context }: ProgramContext): CommandSpec {
  return {
    name: 'import',
    description: 'load history from files of drafts: all of it, or nothing',
    arguments: [new Argument('<file...>', 'drafts with `at` as JSON lines, plain or gzip')],
    options: [...LOG_OPTIONS, directoryOption()],
    async run(files: readonly string[], options: LogOptions & { data: string }) {
      checkFiles(files)
      refuseOtherOwner(options.data, context)
      refuseMirrorDirectory(options.data)
      const newLog = newLogOf(options, false)
      makeFolder(options.data, '--data')
      const keys = readSigningKeys(options.signingKeyFile, options.data, newLog.origin, context)
      return await runImport({ files, ...options, newLog, keys }, context)
    },
  }
}

/** Refuses missing files before the import creates anything. */
function checkFiles(files: readonly string[]): void {
  for (const file of files) {
    if (file === STDIN) continue
    if (isFolder(file)) throw new UsageError(`${shellQuoted(file)} is a folder; a file of drafts is needed`)
    if (!existsSync(file)) throw new UsageError(`the file ${shellQuoted(file)} does not exist`)
  }
}

/** Loads history into a data directory that is not being served: all of it, or nothing. */
export async function runImport(settings: ImportCommandSettings, context: CommandContext): Promise<ExitCode> {
  const progress = openProgress('importing', 'bytes', context)
  let outcome: Awaited<ReturnType<typeof importFiles>>
  try {
    outcome = await importFiles({
      files: settings.files,
      dataDirectory: settings.data,
      newLog: settings.newLog,
      keys: settings.keys,
      balances: settings.balances,
      now: context.now(),
      monotonicMs: context.monotonicMs,
      signal: context.stop,
      onProgress({ stage, bytes, bytesTotal, drafts }) {
        const note = stage === 'finishing' ? ' | building the indexes' : ''
        progress.at(bytes, bytesTotal ?? bytes, ` | ${formatCount(drafts, 'draft')}${note}`)
      },
    })
  } catch (cause) {
    if (context.stop.aborted) throw new CommandError('stopped; nothing was imported', { cause })
    throw cause instanceof LockedError ? directoryInUse(settings.data, cause) : cause
  } finally {
    progress.end()
  }
  if (!outcome.ok) {
    const { file, line, field, reason } = outcome
    const place = [file, line === null ? '' : `line ${line}`, field ?? ''].filter((part) => part !== '')
    printNotice(context, `${place.join(', ')}: ${reason}`)
    printNotice(context, 'nothing was imported')
    return 1
  }
  const { events, duplicates, irregular, seconds } = outcome
  const skipped = duplicates === 0 ? '' : `, ${formatCount(duplicates, 'duplicate')} skipped`
  const reported = irregular === 0 ? '' : `, ${irregular} that --balances refuse would refuse`
  printNotice(
    context,
    `${formatCount(events, 'event')} imported in ${seconds.toFixed(1)} s${skipped}${reported}`,
  )
  return 0
}
