import { Command } from 'commander'
import { option } from '../terminal/options.ts'
import { verify } from './verify.ts'
import type { ExitCode, World } from '../terminal/world.ts'

type VerifyOptions = Readonly<{ since?: string; save?: string; key: readonly string[] }>

/** Command `daybook verify` with its options. */
export function verifyCommand(world: World, done: (code: ExitCode) => void): Command {
  // An environment variable holds several keys with spaces between them: no vkey has a space.
  const collect = (keys: string, before: readonly string[]): readonly string[] => [
    ...before,
    ...keys.split(' '),
  ]
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
    .addHelpText(
      'after',
      `
Examples:
  daybook verify https://data.example.org --key "$(cat vkey)" --save checkpoints
  daybook verify copy`,
    )
    .action(async (target: string, { since, save, key }: VerifyOptions) =>
      done(await verify({ target, since: since ?? null, save: save ?? null, keys: key }, world)),
    )
}
