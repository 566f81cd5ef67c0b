import type { KeyObject } from 'node:crypto'
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { base64urlnopad } from '@scure/base'
import type { SigningKey } from '../../log/tree/signer.ts'
import { verifierKeyOf } from '../../log/tree/signer.ts'
import { SIGNING_KEYS_MAX } from '../../log/tree/signing-keys.ts'
import { hasStore } from '../../log/store/store.ts'
import { formatVkey } from '../../tlog/vkey.ts'
import { makeFolder, systemReason } from '../terminal/option-paths.ts'
import type { World } from '../terminal/world.ts'
import { CommandError, tell } from '../terminal/world.ts'

/** The bits of a file's mode that let others than its owner at it. */
export const OTHERS = 0o077

/** Where the key of a data directory lies unless it is said: beside the directory, so that a copy of it has none. */
export function defaultKeyFile(data: string): string {
  return `${resolve(data)}.key`
}

/**
 * The keys that sign a log: the given files, one or two; else the default one, which is made for a log that does not
 * exist yet.
 */
export function readSigningKeys(
  files: readonly string[] | undefined,
  data: string,
  origin: string,
  world: World,
): readonly SigningKey[] {
  if (files === undefined && !hasStore(data) && !existsSync(defaultKeyFile(data))) {
    const path = defaultKeyFile(data)
    const key = makeKeyFile(path, '--data')
    tell(world, `made the key that signs this log: ${path}. Keep a copy of it, and publish its vkey:`)
    tell(world, vkeyOf(key, origin))
    return [key]
  }
  const paths = files ?? [defaultKeyFile(data)]
  if (paths.length > SIGNING_KEYS_MAX) {
    throw new CommandError(2, '--signing-key-file: one file, or two while the key changes')
  }
  const keys = paths.map((path) => readKeyFile(path, world))
  if (new Set(keys.map(({ publicKey }) => base64urlnopad.encode(publicKey))).size < keys.length) {
    throw new CommandError(2, '--signing-key-file: both files hold the same key')
  }
  return keys
}

/** The keys by which a log can be known that is only looked at: those of the files, or the default one where it is. */
export function readKnownKeys(
  files: readonly string[] | undefined,
  data: string,
  world: World,
): readonly SigningKey[] {
  const defaults = existsSync(defaultKeyFile(data)) ? [defaultKeyFile(data)] : []
  return (files ?? defaults).map((path) => readKeyFile(path, world))
}

/** Makes a new key in a file that does not exist yet, which only its owner may read: PKCS #8, PEM. */
export function makeKeyFile(path: string, option: string): SigningKey {
  const { privateKey } = generateKeyPairSync('ed25519')
  makeFolder(dirname(path), option)
  try {
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' })
    // A log must not outlive the key that signed it, whatever happens to the machine next.
    writeFileSync(path, pem, { mode: 0o600, flag: 'wx', flush: true })
  } catch (cause) {
    const isThere = cause instanceof Error && 'code' in cause && cause.code === 'EEXIST'
    if (isThere) throw new CommandError(2, `${path}: a key is written to a new file only`, { cause })
    // What came of a key on a full disk is none, and would stand in the way of the next.
    rmSync(path, { force: true })
    throw new CommandError(2, `${option}: no key can be written to ${path}: ${systemReason(cause)}`, {
      cause,
    })
  }
  return signingKey(privateKey)
}

/** The key in a file that only its owner may read. */
export function readKeyFile(path: string, world: Pick<World, 'hasFileModes'>): SigningKey {
  let key: KeyObject
  try {
    const found = statSync(path)
    if (found.isDirectory())
      throw new CommandError(2, `the signing key file ${path} cannot be read: it is a folder`)
    if ((found.mode & OTHERS) !== 0 && world.hasFileModes) {
      throw new CommandError(2, `${path} may be read by others: chmod 600 makes it private`)
    }
    key = createPrivateKey(readFileSync(path))
  } catch (cause) {
    if (cause instanceof CommandError) throw cause
    throw new CommandError(2, `the signing key file ${path} cannot be read`, { cause })
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new CommandError(2, `${path} holds no Ed25519 key`)
  return signingKey(key)
}

/** The vkey under which others verify what the key signs for a log of this origin. */
export function vkeyOf({ publicKey }: SigningKey, origin: string): string {
  return formatVkey(verifierKeyOf(origin, publicKey))
}

function signingKey(privateKey: KeyObject): SigningKey {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return { privateKey, publicKey: base64urlnopad.decode(x) }
}
