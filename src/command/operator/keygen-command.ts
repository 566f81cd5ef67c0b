import { formatVkey } from '../../tlog/note.ts'
import { type ExitCode, printNotice, type CommandContext } from '../terminal/command-context.ts'
import { UsageError } from '../terminal/command-error.ts'
import { option, optionOf, originName } from '../terminal/options.ts'
import { ORIGIN } from './log-options.ts'
import type { CommandSpec, ProgramContext } from '../plug/option.ts'
import { ed25519Of, makePrivateKey, readPrivateKey, vkeyOf, witnessKeyOf } from './signing-key-file.ts'

type KeygenOptions = Readonly<{
  to?: string
  show?: string
  origin: string
  witness?: true
  mlDsa?: true
}>

/** The command `keygen`: makes a key of a log or a witness, or reads one, and prints its vkey. */
export function keygenCommand({ context }: ProgramContext): CommandSpec {
  return {
    name: 'keygen',
    description: 'make a key of a log or a witness, or print the vkey of an existing key',
    options: [
      option('--to <file>', 'new file for the key; it must not exist').env('DAYBOOK_KEYGEN_TO'),
      option('--show <file>', 'existing key file').env('DAYBOOK_KEYGEN_SHOW'),
      option('--origin <name>', 'name of the log or witness').argParser(originName).default(ORIGIN),
      optionOf('keygen')('--witness', 'the key is of a witness: its vkey is for cosignatures'),
      optionOf('keygen')('--ml-dsa', 'make a key of a witness of type ML-DSA-44, not Ed25519'),
    ],
    run: (options: KeygenOptions) => keygen(options, context),
  }
}

/** Prints the vkey of a key, which is created with `to`. Throws a CommandError for wrong options and files. */
export function keygen(
  { to, show, origin, witness, mlDsa }: KeygenOptions,
  context: CommandContext,
): ExitCode {
  if ((to === undefined) === (show === undefined)) {
    throw new UsageError('keygen needs either --to, for a new key, or --show, for an existing one')
  }
  const isOfWitness = witness === true || mlDsa === true
  const key =
    to === undefined
      ? readPrivateKey(show ?? '', context)
      : makePrivateKey(to, '--to', mlDsa === true ? 'ml-dsa-44' : 'ed25519')
  if (to !== undefined)
    printNotice(context, `${to} holds the new key: keep a copy of it away from the server`)
  const vkey =
    isOfWitness || key.asymmetricKeyType === 'ml-dsa-44'
      ? formatVkey(witnessKeyOf(show ?? '', origin, key).verifier)
      : vkeyOf(ed25519Of(show ?? '', key), origin)
  context.stdout.write(`${vkey}\n`)
  return 0
}
