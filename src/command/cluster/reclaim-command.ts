import { Command, Option } from 'commander'
import { StoreError } from '../../log/store/store.ts'
import type { BranchName } from '../../publish/stream/evidence-folder.ts'
import { BRANCHES } from '../../publish/stream/evidence-folder.ts'
import type { ReclaimedDrafts } from '../../publish/stream/reclaim-drafts.ts'
import { reclaimDrafts } from '../../publish/stream/reclaim-drafts.ts'
import { directoryOption, requireLog } from '../operator/log-options.ts'
import { optionOf } from '../terminal/options.ts'
import { print } from '../terminal/output.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError, tell } from '../terminal/world.ts'

type ReclaimOptions = Readonly<{ data: string; adopted?: BranchName; present?: true }>

/** The command `cluster reclaim`: the drafts of the branch that lost a fork. */
export function reclaimCommand(world: World, done: (code: ExitCode) => void): Command {
  return new Command('reclaim')
    .description('list the drafts of the branch that lost a fork, as JSON lines for `daybook publish`')
    .addOption(directoryOption())
    .addOption(
      optionOf('cluster')(
        '--adopted <branch>',
        'before an adoption: the branch that would go on, this directory’s or the engine’s',
      ).choices(BRANCHES),
    )
    .addOption(
      new Option(
        '--present',
        'list the drafts of that branch that the log has too, with their seqs, instead',
      ),
    )
    .addHelpText('after', '\nExample: daybook cluster reclaim --data /var/lib/daybook/log > drafts.jsonl')
    .action(async (options: ReclaimOptions) => done(await reclaim(options, world)))
}

async function reclaim({ data, adopted, present }: ReclaimOptions, world: World): Promise<ExitCode> {
  requireLog(data)
  const found = readReclaimed(data, adopted ?? null)
  const lines = present === true ? found.present.map((one) => JSON.stringify(one)) : found.lost
  for (const line of lines) if (!(await print(`${line}\n`, world))) return 0
  for (const line of summary(found)) tell(world, line)
  return 0
}

function readReclaimed(data: string, adopted: BranchName | null): ReclaimedDrafts {
  try {
    return reclaimDrafts(data, adopted)
  } catch (cause) {
    if (cause instanceof StoreError) throw new CommandError(1, cause.message, { cause })
    throw cause
  }
}

/** Lines for standard error. They have no ref: refs are private, and go to standard output only. */
function summary({ lost, present, ended, waiting, isWhole }: ReclaimedDrafts): readonly string[] {
  const others = present.filter(({ same }) => !same).length
  const dropped = present.filter(({ wasDropped }) => wasDropped).length
  return [
    `drafts that the log lacks: ${lost.length}; drafts that it has: ${present.length} (--present lists them)`,
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
          'the evidence in this directory begins after the branches parted: run this also where a node has said that the engine has another message',
        ]),
  ]
}
