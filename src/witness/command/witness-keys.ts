import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { formatVkey } from '../../tlog/note.ts'
import { COSIGNER_KEYS_MAX } from '../cosigner/cosigner-keys.ts'
import type { CosignerKey } from '../../log/tree/cosigner-key.ts'
import { hasCosignerState } from '../cosigner/state-file.ts'
import {
  defaultKeyFile,
  makePrivateKey,
  readPrivateKey,
  witnessKeyOf,
} from '../../command/operator/signing-key-file.ts'
import { printNotice, type CommandContext } from '../../command/terminal/command-context.ts'
import { UsageError } from '../../command/terminal/command-error.ts'

/** Options that choose the keys of a witness and its state. */
type KeyChoice = Readonly<{
  /** Directory of the state. */
  data: string
  /** Path of the default files without their endings. */
  keyBase: string
  keyOption: '--key-file' | '--witness-key-file'
  name: string
  keyFile: readonly string[] | undefined
  acceptCopy: boolean
}>

/** Default key files of a witness. They are beside a directory, so that a copy of it has no key. */
function defaultFiles(keyBase: string): readonly [ed25519: string, mlDsa: string] {
  return [defaultKeyFile(keyBase), `${resolve(keyBase)}.ml-dsa.key`]
}

/**
 * Keys of a witness, from the given files or from the default files, which the first start creates. Throws a
 * `CommandError` when keys exist and the directory has no state, because they may have cosigned with another state.
 */
export function readWitnessKeys(choice: KeyChoice, context: CommandContext): readonly CosignerKey[] {
  const { data, keyBase, keyOption, name, acceptCopy } = choice
  const hasState = hasCosignerState(data)
  const files = choice.keyFile ?? defaultFiles(keyBase).filter((path) => existsSync(path))
  if (files.length === 0) {
    if (hasState)
      throw new UsageError(
        `${data} holds the state of a witness, and its keys are not there: ${defaultFiles(keyBase).join(', ')}`,
      )
    if (acceptCopy) throw new UsageError('nothing needs --accept-copy: keys and state are new')
    return makeKeys(keyBase, name, context)
  }
  if (!hasState && !acceptCopy) {
    throw new UsageError(
      `${data} holds no state, and the keys exist already: they may have cosigned with another state. Only if they have never cosigned anything, start once with --accept-copy`,
    )
  }
  if (files.length > COSIGNER_KEYS_MAX) throw new UsageError(`${keyOption}: ${TWO_KEYS}`)
  const keys = files.map((path) => witnessKeyOf(path, name, readPrivateKey(path, context)))
  if (new Set(keys.map(({ verifier }) => verifier.type)).size < keys.length)
    throw new UsageError(`${keyOption}: ${TWO_KEYS}`)
  return keys
}

const TWO_KEYS = 'give one key, or one of Ed25519 and one of ML-DSA-44'

function makeKeys(keyBase: string, name: string, context: CommandContext): readonly CosignerKey[] {
  const [ed25519, mlDsa] = defaultFiles(keyBase)
  const made = [
    witnessKeyOf(ed25519, name, makePrivateKey(ed25519, '--data', 'ed25519')),
    witnessKeyOf(mlDsa, name, makePrivateKey(mlDsa, '--data', 'ml-dsa-44')),
  ]
  printNotice(
    context,
    `made the keys of this witness: ${ed25519}, ${mlDsa}. Keep a copy of them and publish their vkeys:`,
  )
  for (const { verifier } of made) printNotice(context, formatVkey(verifier))
  return made
}
