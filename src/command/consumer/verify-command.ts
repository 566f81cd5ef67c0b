import { Command } from 'commander'
import { option } from '../terminal/options.ts'
import { verify } from './verify.ts'
import type { ExitCode, World } from '../terminal/world.ts'

type VerifyOptions = Readonly<{ since?: string; save?: string; key: readonly string[] }>

/** `daybook verify`: its options, and what they mean. */
export function verifyCommand(world: World, done: (code: ExitCode) => void): Command {
  // The environment gives one text: no vkey has a space.
  const collect = (keys: string, before: readonly string[]): readonly string[] => [
    ...before,
    ...keys.split(' '),
  ]
  return new Command('verify')
    .description('recompute signature, root, archive and every published figure from the public files')
    .argument('<url-or-dir>', 'address of a service, or a folder that mirrors its files')
    .addOption(option('--since <checkpoint>', 'file with a checkpoint that was saved earlier'))
    .addOption(option('--save <dir>', 'directory that keeps checkpoints, and evidence, from visit to visit'))
    .addOption(
      option('--key <vkey>', 'verifier key that you had from elsewhere; several may be given')
        .argParser(collect)
        .default([], 'the one kept in --save, else the one that is served'),
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
