import { MINUTE_MS, SECOND_MS } from '../../protocol/moment.ts'
import { withCommandErrors } from '../terminal/client.ts'
import type { ExitCode, CommandContext } from '../terminal/command-context.ts'
import { CommandError, UsageError } from '../terminal/command-error.ts'
import { keyFiles, optionOf, overdueOption, wholeBetween } from '../terminal/options.ts'
import { type Diagnosis, printDiagnoses } from './diagnosis.ts'
import { diagnoseBackups, diagnoseDirectory } from './doctor-directory.ts'
import type { CommandSpec, ProgramContext } from '../plug/option.ts'
import { diagnoseUrl } from './doctor-url.ts'

/** Options of `doctor`, as commander parses them. */
type DoctorOptions = Readonly<{
  data?: string
  url?: string
  backups?: string
  signingKeyFile?: readonly string[]
  maxStreams: number
  /** Seconds. */
  wait: number
  /** Minutes from which a held draft needs the operator. */
  finalityOverdue: number
}>

/** The command `doctor`. */
export function doctorCommand({ context }: ProgramContext): CommandSpec {
  const option = optionOf('doctor')
  return {
    name: 'doctor',
    description: 'look for faults of disk, clock, key, file modes, backups, checkpoint and proxies',
    options: [
      option('--data <dir>', 'data directory; the service may keep running'),
      option('--backups <folder>', 'folder of backups to examine as well'),
      option('--url <url>', 'public address of the service, as readers use it'),
      option('--signing-key-file <files>', 'key that signs the log (default: <dir>.key)').argParser(keyFiles),
      option('--max-streams <n>', 'streams that the limit of open files must allow')
        .argParser(wholeBetween(1, 100_000))
        .default(10_000),
      option('--wait <seconds>', 'time in which the first bytes of a stream must arrive')
        .argParser(wholeBetween(1, 60))
        .default(5),
      overdueOption(),
    ],
    run: (options: DoctorOptions) => doctor(options, context),
  }
}

/** Examines a data directory, its backups and a service from a reader's side, and prints a line for each check. */
async function doctor(options: DoctorOptions, context: CommandContext): Promise<ExitCode> {
  const { data, url, backups, signingKeyFile, maxStreams, wait, finalityOverdue } = options
  if (data === undefined && url === undefined && backups === undefined)
    throw new UsageError('doctor needs --data, --url or --backups')
  const overdueMs = finalityOverdue * MINUTE_MS
  const found: Diagnosis[] = []
  if (data !== undefined) {
    const more = {
      backups: backups ?? null,
      keyFiles: signingKeyFile ?? null,
      streamsMax: maxStreams,
      overdueMs,
    }
    found.push(...diagnoseDirectory({ data, ...more }, context))
  } else if (backups !== undefined) found.push(...diagnoseBackups(backups, null, context))
  try {
    if (url !== undefined) {
      const findings = diagnoseUrl(url, { waitMs: wait * SECOND_MS, overdueMs }, context)
      await withCommandErrors(async () => {
        for await (const one of findings) found.push(one)
      })
    }
  } catch (error) {
    throw context.stop.aborted ? new CommandError('stopped', { cause: error }) : error
  } finally {
    // Printed before a later check can fail.
    printDiagnoses(found, context)
  }
  return found.some(({ is }) => is === 'wrong') ? 1 : 0
}
