import { Option } from 'commander'
import { directoryOption, requireLog } from '../../command/operator/log-options.ts'
import { print } from '../../command/terminal/output.ts'
import { type ExitCode, printNotice, type CommandContext } from '../../command/terminal/command-context.ts'
import type { LostDrafts } from '../log/lost-drafts.ts'
import type { CommandSpec, ProgramContext } from '../../command/plug/option.ts'
import { workOnTable } from './table-work.ts'

type LostOptions = Readonly<{ data: string; present?: true }>

/** The command `cluster lost`: drafts of the branch that lost a fork. */
export function lostCommand({ context }: ProgramContext): CommandSpec {
  const present = 'list the drafts of that branch that the log has too, with their seqs, instead'
  return {
    name: 'lost',
    description: 'list the drafts of the branch that lost a fork, as JSON lines for `daybook publish`',
    options: [directoryOption(), new Option('--present', present)],
    help: 'Example: daybook cluster lost --data /var/lib/daybook/log > drafts.jsonl',
    run: (options: LostOptions) => lost(options, context),
  }
}

async function lost({ data, present }: LostOptions, context: CommandContext): Promise<ExitCode> {
  requireLog(data)
  const { lostDrafts } = await import('../log/lost-drafts.ts')
  const found = await workOnTable('reading', context, () => lostDrafts(data))
  const lines = present === true ? found.present.map((one) => JSON.stringify(one)) : found.lost
  for (const line of lines) if (!(await print(`${line}\n`, context))) return 0
  for (const line of summary(found)) printNotice(context, line)
  return 0
}

/** Lines for standard error. They have no refs, which are private and go only to standard output. */
function summary({ lost: drafts, present, ended, waiting, isWhole }: LostDrafts): readonly string[] {
  const others = present.filter(({ same }) => !same).length
  const dropped = present.filter(({ wasDropped }) => wasDropped).length
  return [
    `drafts that the log lacks: ${drafts.length}; drafts that it has: ${present.length} (--present lists them)`,
    ...(others === 0 ? [] : [`drafts that it has with other content under the same ref: ${others}`]),
    ...(dropped === 0 ? [] : [`drafts that it holds, and that you had dropped: ${dropped}. Drop them again`]),
    ...(ended === 0 ? [] : [`drafts that failed or were dropped in the lost branch, left out: ${ended}`]),
    ...(waiting === 0
      ? []
      : [
          `corrections and restatements of drafts in this list: ${waiting}. Publish the list, then run this again for them`,
        ]),
    ...(isWhole
      ? []
      : [
          'the evidence in this directory begins after the branches parted: run this also in the directories of the other nodes',
        ]),
  ]
}
