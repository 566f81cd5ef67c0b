import { Argument, Command } from 'commander'
import type { BranchName } from '../../publish/stream/evidence-folder.ts'
import { BRANCHES } from '../../publish/stream/evidence-folder.ts'
import { workOnEngine } from '../operator/engine-work.ts'
import { directoryOption, requireLog } from '../operator/log-options.ts'
import type { LogStoreOptions } from '../operator/log-store-options.ts'
import { logStoreOptions, requireLogStore } from '../operator/log-store-options.ts'
import { readClusterKeys } from '../operator/signing-key-file.ts'
import { refuseOtherOwner } from '../terminal/directory-owner.ts'
import { keyFiles, optionOf } from '../terminal/options.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { takeDirectory } from '../terminal/world.ts'

type AdoptOptions = LogStoreOptions & Readonly<{ data: string; signingKeyFile?: readonly string[] }>

/** The command `cluster adopt`: after a fork, the log goes on with the branch of one node. */
export function adoptCommand(world: World, done: (code: ExitCode) => void): Command {
  const option = optionOf('cluster')
  const command = new Command('adopt')
    .description(
      'end a fork: go on with the branch of this data directory, under another origin; no process may use it',
    )
    .addArgument(
      new Argument(
        '<branch>',
        'branch that this directory has: that of the engine, or its own, which the engine lacks',
      ).choices(BRANCHES),
    )
    .addOption(directoryOption())
    .addOption(
      option('--signing-key-file <files>', 'key that signs the log (default: <dir>.key)').argParser(keyFiles),
    )
    .addHelpText(
      'after',
      `
Example, after \`daybook cluster init\` has made the next stream:
  daybook cluster adopt engine --data /var/lib/daybook/log --log-store 'nats://a.example.org,b.example.org,c.example.org'`,
    )
  return logStoreOptions(command).action(async (branch: BranchName, options: AdoptOptions) =>
    done(await adopt(branch, options, world)),
  )
}

async function adopt(branch: BranchName, options: AdoptOptions, world: World): Promise<ExitCode> {
  const { data, signingKeyFile } = options
  const logStore = requireLogStore(options)
  requireLog(data)
  refuseOtherOwner(data, world)
  using _lock = takeDirectory(data)
  const { adoptBranch } = await import('../../publish/stream/adopt-branch.ts')
  const words = { verb: 'reading', stopped: 'stopped: the same command goes on' }
  const keys = readClusterKeys(signingKeyFile, data, world)
  const { origin, stream, head } = await workOnEngine({ logStore, data }, words, world, (engine) =>
    adoptBranch({ ...engine, dataDirectory: data, branch, keys }),
  )
  world.stdout.write(
    `the log goes on as ${origin} in stream ${stream} after seq ${head}: announce it. Start this node first, then the others; one with the other branch says that it needs a backup of this node\n`,
  )
  return 0
}
