import { Command, Option } from 'commander'
import { workOnEngine } from '../operator/engine-work.ts'
import { directoryOption, requireLog } from '../operator/log-options.ts'
import type { LogStoreOptions } from '../operator/log-store-options.ts'
import { logStoreOptions, requireLogStore } from '../operator/log-store-options.ts'
import { readClusterKeys } from '../operator/signing-key-file.ts'
import { refuseOtherOwner } from '../terminal/directory-owner.ts'
import { keyFiles, optionOf } from '../terminal/options.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { takeDirectory } from '../terminal/world.ts'

type MoveOptions = LogStoreOptions &
  Readonly<{ data: string; back?: true; signingKeyFile?: readonly string[] }>

/** The command `cluster move`: a log of one node onto an engine, and back. */
export function moveCommand(world: World, done: (code: ExitCode) => void): Command {
  const option = optionOf('cluster')
  const command = new Command('move')
    .description(
      'put the log of a data directory on an engine, or take it off; no process may use the directory',
    )
    .addOption(directoryOption())
    .addOption(
      option('--signing-key-file <files>', 'key that signs the log (default: <dir>.key)').argParser(keyFiles),
    )
    .addOption(new Option('--back', 'take the log off the engine: the other writers stop'))
    .addHelpText(
      'after',
      `
Example:
  daybook cluster move --data /var/lib/daybook/log --log-store 'nats://a.example.org,b.example.org,c.example.org'`,
    )
  return logStoreOptions(command).action(async (options: MoveOptions) => done(await move(options, world)))
}

async function move(options: MoveOptions, world: World): Promise<ExitCode> {
  const { data, back, signingKeyFile } = options
  const logStore = requireLogStore(options)
  requireLog(data)
  refuseOtherOwner(data, world)
  using _lock = takeDirectory(data)
  const { moveFromEngine, moveToEngine } = await import('../../publish/cluster/move-log.ts')
  const words = { verb: 'moving', stopped: 'stopped: the same command goes on' }
  const keys = readClusterKeys(signingKeyFile, data, world)
  const { head, messages } = await workOnEngine({ logStore, data }, words, world, (engine) => {
    const settings = { ...engine, dataDirectory: data, keys }
    return back === true ? moveFromEngine(settings) : moveToEngine(settings)
  })
  world.stdout.write(
    back === true
      ? `the log is off the engine at seq ${head}: serve it without --log-store, and start no other writer\n`
      : `the log is on the engine up to seq ${head}, in ${messages} messages: serve it with --log-store, and start other writers with an empty directory and the same key\n`,
  )
  return 0
}
