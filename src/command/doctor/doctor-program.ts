import { Command } from 'commander'
import { keyFiles, optionOf, overdueOption, wholeBetween } from '../terminal/options.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { doctor } from './doctor.ts'

type DoctorOptions = Readonly<{
  data?: string
  url?: string
  backups?: string
  signingKeyFile?: readonly string[]
  maxStreams: number
  wait: number
  finalityOverdue: number
}>

/** The command `doctor`. */
export function doctorCommand(world: World, done: (code: ExitCode) => void): Command {
  const option = optionOf('doctor')
  return new Command('doctor')
    .description('look for faults of disk, clock, key, file modes, backups, checkpoint and proxies')
    .addOption(option('--data <dir>', 'data directory; the service may keep running'))
    .addOption(option('--backups <folder>', 'folder of backups to examine as well'))
    .addOption(option('--url <url>', 'public address of the service, as readers use it'))
    .addOption(
      option('--signing-key-file <files>', 'key that signs the log (default: <dir>.key)').argParser(keyFiles),
    )
    .addOption(
      option('--max-streams <n>', 'streams that the limit of open files must allow')
        .argParser(wholeBetween(1, 100_000))
        .default(10_000),
    )
    .addOption(
      option('--wait <seconds>', 'time in which the first bytes of a stream must arrive')
        .argParser(wholeBetween(1, 60))
        .default(5),
    )
    .addOption(overdueOption())
    .action(async ({ data, url, backups, signingKeyFile, maxStreams, wait, ...more }: DoctorOptions) => {
      const target = { data: data ?? null, url: url ?? null, backups: backups ?? null }
      const own = {
        keyFiles: signingKeyFile ?? null,
        streamsMax: maxStreams,
        waitMs: wait * 1_000,
        overdueMs: more.finalityOverdue * 60_000,
      }
      done(await doctor({ ...target, ...own }, world))
    })
}
