import type { Sha256 } from './hash.ts'
import { formatBase64, formatHex, formatUtf8, isLine, parseBase64 } from './text.ts'

/** The types of keys known here: a log's own signature, and a witness's cosignature/v1. Both are Ed25519. */
export const KEY_TYPES = { ed25519: 0x01, cosignature: 0x04 } as const

export type KeyType = keyof typeof KEY_TYPES

/** Bytes of a public key of Ed25519. */
export const PUBLIC_KEY_BYTES = 32
/** Bytes of a key id. */
export const KEY_ID_BYTES = 4

/** A key that signs notes, as its verifiers know it. `keyId` is written as eight lower-case hex digits. */
export type VerifierKey = Readonly<{ name: string; keyId: string; type: KeyType; publicKey: Uint8Array }>

// A name is followed by a space in a note and by a plus in a vkey.
const NOT_IN_NAMES = /[\p{White_Space}+]/u
const VKEY = /^([^+]+)\+([0-9a-f]{8})\+([^]+)$/

/** Whether it may be a key's name: not empty, no Unicode space, no plus, no control character. */
export function isKeyName(text: string): boolean {
  return text !== '' && isLine(text) && !NOT_IN_NAMES.test(text)
}

/**
 * The key of this name and public key, with its id: the first four bytes of SHA-256 of the name, a line feed, the
 * type and the key. A name that is none or a key not of 32 bytes is a `RangeError`.
 */
export function verifierKey(sha256: Sha256, name: string, type: KeyType, publicKey: Uint8Array): VerifierKey {
  if (!isKeyName(name))
    throw new RangeError('a key name is not empty and has no space, plus or control character')
  if (publicKey.length !== PUBLIC_KEY_BYTES)
    throw new RangeError(`a public key has ${PUBLIC_KEY_BYTES} bytes`)
  const hashed = Uint8Array.from([...formatUtf8(`${name}\n`), KEY_TYPES[type], ...publicKey])
  return { name, keyId: formatHex(sha256(hashed).subarray(0, KEY_ID_BYTES)), type, publicKey }
}

/** `<name>+<key id>+<base64 of the type and the key>`: the vkey, as it is published. */
export function formatVkey({ name, keyId, type, publicKey }: VerifierKey): string {
  return `${name}+${keyId}+${formatBase64(Uint8Array.from([KEY_TYPES[type], ...publicKey]))}`
}

/** A vkey of a known type whose key id is right; undefined for any other text. */
export function parseVkey(sha256: Sha256, text: string): VerifierKey | undefined {
  // Base64 may hold a plus of its own: only the first two part the vkey.
  const [, name = '', keyId, encoded = ''] = VKEY.exec(text) ?? []
  const [code, ...publicKey] = parseBase64(encoded) ?? []
  const type = code === KEY_TYPES.ed25519 ? 'ed25519' : code === KEY_TYPES.cosignature ? 'cosignature' : null
  if (type === null || !isKeyName(name) || publicKey.length !== PUBLIC_KEY_BYTES) return undefined
  const key = verifierKey(sha256, name, type, Uint8Array.from(publicKey))
  return key.keyId === keyId ? key : undefined
}
