import { Argument, Command } from 'commander'
import { SEQ_MAX } from '../../protocol/parameters.ts'
import { correct } from './correct.ts'
import { optionOf, wholeBetween } from '../terminal/options.ts'
import type { ExitCode, World } from '../terminal/world.ts'

type CorrectOptions = Readonly<{
  url: string
  to: string
  tokenFile?: string
  reason?: string
  ref?: string
  restate?: string
  dryRun?: true
}>

/** The command `correct`. */
export function correctCommand(world: World, done: (code: ExitCode) => void): Command {
  const option = optionOf('correct')
  return new Command('correct')
    .description('cancel a published event with a correction, and publish its replacement')
    .addArgument(new Argument('<seq>', 'seq of the event').argParser(wholeBetween(1, SEQ_MAX)))
    .addOption(option('--url <url>', 'address of the service').default('http://127.0.0.1:8080'))
    .addOption(
      option(
        '--to <urls>',
        'address of the publish door; with several nodes, their addresses with commas',
      ).default('http://127.0.0.1:8081'),
    )
    .addOption(option('--token-file <file>', 'file with the publish token'))
    .addOption(option('--reason <text>', 'reason for the correction, which is published'))
    .addOption(
      option(
        '--restate <draft>',
        'changed fields of the replacement, as JSON or a file; the other fields are copied',
      ),
    )
    .addOption(option('--ref <ref>', 'ref of the correction (default: correction-of-<seq>)'))
    .addOption(option('--dry-run', 'print the drafts instead of sending them'))
    .addHelpText(
      'after',
      `
Example:
  daybook correct 184223 --token-file token --reason 'Counted twice' --restate '{"kots":"12.5"}'`,
    )
    .action(async (seq: number, options: CorrectOptions) => {
      const { url, to, tokenFile = null, reason = null, ref = null, restate = null } = options
      const dryRun = options.dryRun === true
      done(await correct({ seq, url, to, tokenFile, reason, ref, restate, dryRun }, world))
    })
}
