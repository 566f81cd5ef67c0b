import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { base64urlnopad } from '@scure/base'
import { createDurably, removeMakings } from '../../log/store/durable-rename.ts'
import { hasStore } from '../../log/store/store.ts'
import { type CosignerKey, cosignerKey } from '../../log/tree/cosigner-key.ts'
import { type SigningKey, verifierKeyOf } from '../../log/tree/signer.ts'
import { SIGNING_KEYS_MAX } from '../../log/tree/signing-keys.ts'
import { formatVkey } from '../../tlog/note.ts'
import { printNotice, type CommandContext } from '../terminal/command-context.ts'
import { CommandError, UsageError } from '../terminal/command-error.ts'
import { makeFolder, systemReason } from '../terminal/option-paths.ts'
import { shellQuoted } from '../terminal/output.ts'

/** Bits of a file mode that give other users any access. */
export const OTHERS = 0o077

/**
 * Default path of the key of a data directory. It is beside the directory, so that a copy of the directory has no key.
 */
export function defaultKeyFile(data: string): string {
  return `${resolve(data)}.key`
}

/**
 * Keys that sign a log: one or two from the given files, or the default file. The default file is created for a new
 * log.
 */
export function readSigningKeys(
  files: readonly string[] | undefined,
  data: string,
  origin: string,
  context: CommandContext,
): readonly SigningKey[] {
  if (files === undefined && !hasStore(data) && !existsSync(defaultKeyFile(data))) {
    const path = defaultKeyFile(data)
    const key = makeDefaultKey(path, data)
    // Another process has created the key of the same log since. The lock of the directory decides between the two.
    if (key === null) return [readKeyFile(path, context)]
    printNotice(context, `made the key that signs this log: ${path}. Keep a copy of it and publish its vkey:`)
    printNotice(context, vkeyOf(key, origin))
    return [key]
  }
  if (files === undefined && existsSync(defaultKeyFile(data))) removeMakings(defaultKeyFile(data))
  const paths = files ?? [defaultKeyFile(data)]
  if (paths.length > SIGNING_KEYS_MAX) {
    throw new UsageError('--signing-key-file: give one file, or two while the key changes')
  }
  const keys = paths.map((path) => readKeyFile(path, context))
  if (new Set(keys.map(({ publicKey }) => base64urlnopad.encode(publicKey))).size < keys.length) {
    throw new UsageError('--signing-key-file: both files hold the same key; give it once')
  }
  return keys
}

/** Keys of a log that other machines carry, from the files or from the default file, which must exist. */
export function readSharedKeys(
  files: readonly string[] | undefined,
  data: string,
  context: CommandContext,
): readonly SigningKey[] {
  if (files === undefined && !existsSync(defaultKeyFile(data))) {
    throw new UsageError(
      `every node of a log has its key: give the file with --signing-key-file, or copy it to ${defaultKeyFile(data)}`,
    )
  }
  return (files ?? [defaultKeyFile(data)]).map((path) => readKeyFile(path, context))
}

/** Keys that must have signed a log that is only checked, from the files or from the default key if it exists. */
export function readKnownKeys(
  files: readonly string[] | undefined,
  data: string,
  context: CommandContext,
): readonly SigningKey[] {
  const defaults = existsSync(defaultKeyFile(data)) ? [defaultKeyFile(data)] : []
  return (files ?? defaults).map((path) => readKeyFile(path, context))
}

/**
 * Keys that may have signed the newest trees, for a comparison that does not require a key. They come from the files or
 * the default key. Unreadable and missing files are ignored, and the caller reports a given one.
 */
export function readableKeys(
  files: readonly string[] | null,
  data: string,
  context: CommandContext,
): readonly SigningKey[] {
  return (files ?? [defaultKeyFile(data)]).flatMap((path) => {
    try {
      return [readKeyFile(path, context)]
    } catch (error) {
      if (error instanceof CommandError) return []
      throw error
    }
  })
}

/** Creates the key of a new log beside its data directory; null when the file has appeared meanwhile. */
function makeDefaultKey(path: string, data: string): SigningKey | null {
  try {
    return makeKeyFile(path, '--data')
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    if (isExisting(error.cause) && existsSync(path)) return null
    const advice = `The key of a new log is beside its data directory: give a folder below it, such as --data ${shellQuoted(join(data, 'log'))}, or the file of a key with --signing-key-file`
    throw new UsageError(`${error.message}. ${advice}`, { cause: error })
  }
}

/** Makes an Ed25519 key in a new file. */
export function makeKeyFile(path: string, option: string): SigningKey {
  return signingKey(makePrivateKey(path, option, 'ed25519'))
}

/** Type of a private key. A log has Ed25519, a witness also ML-DSA-44. */
type PrivateKeyType = 'ed25519' | 'ml-dsa-44'

/** Creates a key in a new file that only its owner may read (PKCS #8, PEM). */
export function makePrivateKey(path: string, option: string, type: PrivateKeyType): KeyObject {
  const { privateKey } = type === 'ed25519' ? generateKeyPairSync(type) : generateKeyPairSync(type)
  makeFolder(dirname(path), option)
  try {
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' })
    // Durable, so that a power cut leaves neither a log without its key nor a partial key.
    createDurably(path, pem)
  } catch (cause) {
    if (isExisting(cause))
      throw new UsageError(`${option}: ${path} exists already; give the path of a new file`, { cause })
    throw new UsageError(`${option}: no key can be written to ${path}: ${systemReason(cause)}`, {
      cause,
    })
  }
  return privateKey
}

const isExisting = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST'

/** Reads an Ed25519 key from a file, which no other user may read. */
export function readKeyFile(path: string, context: Pick<CommandContext, 'hasFileModes'>): SigningKey {
  return ed25519Of(path, readPrivateKey(path, context))
}

/** Private key that signs a log. `path` names the file in the error for another key type. */
export function ed25519Of(path: string, key: KeyObject): SigningKey {
  if (key.asymmetricKeyType !== 'ed25519')
    throw new UsageError(`${path} does not hold an Ed25519 key: make one with keygen`)
  return signingKey(key)
}

/** Reads a private key of any type from a file, which no other user may read. */
export function readPrivateKey(path: string, context: Pick<CommandContext, 'hasFileModes'>): KeyObject {
  try {
    const found = statSync(path)
    if (found.isDirectory())
      throw new UsageError(`the signing key file ${path} cannot be read: it is a folder`)
    if ((found.mode & OTHERS) !== 0 && context.hasFileModes) {
      throw new UsageError(`${path} may be read by other users: make it private with chmod 600`)
    }
    return keyIn(readFileSync(path), path)
  } catch (cause) {
    if (cause instanceof CommandError) throw cause
    throw new UsageError(`the signing key file ${path} cannot be read: ${systemReason(cause)}`, {
      cause,
    })
  }
}

function keyIn(pem: Buffer, path: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (cause) {
    const what = pem.length === 0 ? 'is empty' : 'holds no private key in PEM'
    throw new UsageError(`the signing key file ${path} ${what}: give one that keygen has made`, {
      cause,
    })
  }
}

/** Verifier key (vkey) for the signatures of a key on a log of this origin. */
export function vkeyOf({ publicKey }: SigningKey, origin: string): string {
  return formatVkey(verifierKeyOf(origin, publicKey))
}

function signingKey(privateKey: KeyObject): SigningKey {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return { privateKey, publicKey: base64urlnopad.decode(x) }
}

/** Key of a witness. `path` names the file in the error for another key type. */
export function witnessKeyOf(path: string, name: string, privateKey: KeyObject): CosignerKey {
  const type = privateKey.asymmetricKeyType
  if (type !== 'ed25519' && type !== 'ml-dsa-44')
    throw new UsageError(`${path} holds neither an Ed25519 nor an ML-DSA-44 key: make one with keygen`)
  return cosignerKey(name, privateKey)
}
