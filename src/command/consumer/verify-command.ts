import { Command } from 'commander'
import { option, optionOf, wholeBetween } from '../terminal/options.ts'
import { WITNESSES_MAX } from '../../tlog/quorum.ts'
import { collectWitnesses } from '../terminal/witness-option.ts'
import type { ChainOptions } from './verify-chain.ts'
import type { WitnessOptions } from './verify-witnesses.ts'
import { verify } from './verify.ts'
import type { ExitCode, World } from '../terminal/world.ts'

type VerifyOptions = ChainOptions &
  WitnessOptions &
  Readonly<{ since?: string; save?: string; key: readonly string[] }>

/** Sizes by default: 300 random transactions find one false one in a hundred with a chance of 95 %. */
const SAMPLE = 300
const LARGEST = 20
const SAMPLE_MAX = 10_000
/** Requests that public RPC servers allow one address in a minute. */
const REQUESTS = 240
const REQUESTS_MAX = 100_000

/** Command `daybook verify` with its options. */
export function verifyCommand(world: World, done: (code: ExitCode) => void): Command {
  // An environment variable holds several keys with spaces between them: no vkey has a space.
  const collect = (keys: string, before: readonly string[]): readonly string[] => [
    ...before,
    ...keys.split(' '),
  ]
  // `serve` has options of these names too, with other values.
  const own = optionOf('verify')
  return new Command('verify')
    .description('check the signature, the root, the archive and every published figure from public files')
    .argument('<url-or-dir>', 'address of a service, or a folder with a copy of its files')
    .addOption(option('--since <checkpoint>', 'file with a checkpoint from an earlier run'))
    .addOption(option('--save <dir>', 'folder that keeps checkpoints and evidence between runs'))
    .addOption(
      option('--key <vkey>', 'verifier key from a source other than the service; may be repeated')
        .argParser(collect)
        .default([], 'the key kept in --save, else the key that the service lists'),
    )
    .addOption(
      own('--witness <vkey>', 'key of a witness, VKEY or VKEY=URL to ask it too; may be repeated')
        .argParser(collectWitnesses)
        .default([], 'none'),
    )
    .addOption(
      own('--quorum <n>', 'witnesses that must vouch for the log (default: more than half)').argParser(
        wholeBetween(1, WITNESSES_MAX),
      ),
    )
    .addOption(
      own('--chain <servers>', 'ask your own RPC servers about payments: solana=URL,URL,URL or evm=URL'),
    )
    .addOption(own('--payer <address>', 'account that pays, to compare amounts; needs --token'))
    .addOption(own('--token <address>', 'mint or contract of the paid token; needs --payer'))
    .addOption(own('--tx <id>', 'transaction to ask the chain about in any case'))
    .addOption(
      own('--sample <n>', 'random transactions to ask the chain about')
        .argParser(wholeBetween(1, SAMPLE_MAX))
        .default(SAMPLE),
    )
    .addOption(
      own('--largest <n>', 'transactions with the largest payouts to ask about as well')
        .argParser(wholeBetween(0, SAMPLE_MAX))
        .default(LARGEST),
    )
    .addOption(
      own('--chain-requests <n>', 'requests a minute to each RPC server at most')
        .argParser(wholeBetween(1, REQUESTS_MAX))
        .default(REQUESTS),
    )
    .addHelpText(
      'after',
      `
Examples:
  daybook verify https://data.example.org --key "$(cat vkey)" --save checkpoints
  daybook verify copy
  daybook verify https://data.example.org --witness "$(cat witness-vkey)=https://witness.example.net"
  daybook verify https://data.example.org --chain solana=https://rpc.example.org

The file vkey has the verifier key of the log. Take it from where the operator publishes it, not from the service.
For your own log, daybook keygen --show prints it.`,
    )
    .action(async (target: string, { since, save, key, witness, quorum, ...chain }: VerifyOptions) => {
      const witnesses = { witness, ...(quorum === undefined ? {} : { quorum }) }
      const paths = { target, since: since ?? null, save: save ?? null }
      done(await verify({ ...paths, keys: key, chain, witnesses }, world))
    })
}
