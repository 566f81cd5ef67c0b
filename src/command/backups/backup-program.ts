import { Command } from 'commander'
import { directoryOption } from '../operator/log-options.ts'
import { readKnownKeys } from '../operator/signing-key-file.ts'
import { optionOf, wholeBetween } from '../terminal/options.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { backUp } from './backup-command.ts'

/** Most days whose backups a folder may keep: ten years. */
const DAYS_MAX = 3_660

type BackupWords = Readonly<{ data: string; to: string; keepDays: number; verify: 'quick' | 'full' }>

/** The command `backup`. */
export function backupCommand(world: World, done: (code: ExitCode) => void): Command {
  const option = optionOf('backup')
  return new Command('backup')
    .description('copy a log and verify the copy; the service may keep running')
    .addOption(directoryOption())
    .addOption(
      option(
        '--to <path>',
        'folder that keeps verified copies by day, or a new file for one copy; a new folder ends with /; required',
      ).makeOptionMandatory(),
    )
    .addOption(
      option('--keep-days <n>', 'days with a backup that a folder keeps; older ones are removed')
        .argParser(wholeBetween(1, DAYS_MAX))
        .default(30),
    )
    .addOption(
      option('--verify <how>', 'quick: pages, newest events, signature; full: everything, as check does')
        .choices(['quick', 'full'])
        .default('quick'),
    )
    .action(async ({ data, to, keepDays, verify }: BackupWords) => {
      const isFull = verify === 'full'
      const keys = isFull ? readKnownKeys(undefined, data, world) : []
      done(await backUp({ data, to, keepDays, isFull, keys }, world))
    })
}
