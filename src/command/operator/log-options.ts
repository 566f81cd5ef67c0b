import type { Command, Option } from 'commander'
import type { NewLog } from '../../log/store/store.ts'
import { hasStore, readStoreIdentity } from '../../log/store/store.ts'
import { nameOfLog } from '../../log/tree/ready-log.ts'
import type { Chain } from '../../protocol/tx.ts'
import { CHAINS } from '../../protocol/tx.ts'
import { keyFiles, option, originName } from '../terminal/options.ts'
import { CommandError } from '../terminal/world.ts'

/** Origin of a log that is given no other. */
export const ORIGIN: string = 'localhost/daybook'

/** Options of each command that may make a log. */
export type LogOptions = Readonly<{
  chain?: Chain
  origin?: string
  signingKeyFile?: readonly string[]
  balances: 'refuse' | 'report'
}>

/** Adds the options of a command that may make a log. */
export function logOptions(command: Command): Command {
  return command
    .addOption(
      option('--chain <name>', 'how transactions of a new log are written (default: solana)').choices(CHAINS),
    )
    .addOption(
      option('--origin <name>', `name of a new log in signed statements (default: ${ORIGIN})`).argParser(
        originName,
      ),
    )
    .addOption(
      option(
        '--signing-key-file <files>',
        'Ed25519 key that signs the log; two with a comma while it changes (default: <dir>.key, made for a new log)',
      ).argParser(keyFiles),
    )
    .addOption(
      option('--balances <how>', 'refuse what would overdraw an account or is out of order, or report it')
        .choices(['refuse', 'report'])
        .default('refuse'),
    )
}

/** The option `--data`. */
export function directoryOption(): Option {
  return option('--data <dir>', 'data directory; required').makeOptionMandatory()
}

/** What the log of the data directory is, or what a new one is made with; another chain or origin is a mistake. */
export function newLogOf(options: LogOptions & Readonly<{ data: string }>, simulated: boolean): NewLog {
  const origin = options.origin === undefined ? undefined : nameOf(options.origin, simulated)
  if (!hasStore(options.data)) {
    return { chain: options.chain ?? 'solana', origin: origin ?? nameOf(ORIGIN, simulated), simulated }
  }
  const kept = readStoreIdentity(options.data)
  if (options.chain !== undefined && options.chain !== kept.chain) {
    throw new CommandError(2, `this log was made for --chain ${kept.chain}, not ${options.chain}`)
  }
  const made = nameOfLog(kept)
  if (origin !== undefined && origin !== made) {
    throw new CommandError(2, `this log was made with --origin ${made}`)
  }
  return kept
}

function nameOf(origin: string, simulated: boolean): string {
  return simulated ? `simulated.${origin}` : origin
}
