import { Command } from 'commander'
import { requireLog } from '../operator/log-options.ts'
import type { LogStoreOptions } from '../operator/log-store-options.ts'
import { logStoreOptions, requireLogStore } from '../operator/log-store-options.ts'
import { checkEngine } from '../operator/stream-check.ts'
import { option } from '../terminal/options.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { takeDirectory } from '../terminal/world.ts'
import { streamOption } from './stream-option.ts'

type CheckOptions = LogStoreOptions & Readonly<{ data?: string; stream?: number }>

/** The command `cluster check`: the log as its engine has it, also compared with a data directory. */
export function checkStreamCommand(world: World, done: (code: ExitCode) => void): Command {
  const command = new Command('check')
    .description('read the log from its engine, and check settings, chain, signatures and roots')
    .addOption(
      option('--data <dir>', 'data directory to compare with the engine; no process may use the directory'),
    )
    .addOption(streamOption('stream to begin with (default: that of --data, or 1)'))
    .addHelpText(
      'after',
      `
Example:
  daybook cluster check --log-store 'nats://a.example.org,b.example.org,c.example.org'`,
    )
  return logStoreOptions(command).action(async (options: CheckOptions) => done(await check(options, world)))
}

async function check(options: CheckOptions, world: World): Promise<ExitCode> {
  const { data, stream = null } = options
  const logStore = requireLogStore(options)
  if (data === undefined) return exitOf(await checkEngine({ logStore, data: null, stream }, world))
  requireLog(data)
  using _lock = takeDirectory(data)
  return exitOf(await checkEngine({ logStore, data, stream }, world))
}

const exitOf = (faults: number): ExitCode => (faults > 0 ? 1 : 0)
