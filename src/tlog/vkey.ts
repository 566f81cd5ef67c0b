import type { Sha256 } from './hash.ts'
import { formatBase64, formatHex, formatUtf8, isLine, parseBase64 } from './text.ts'

/** Code and bytes of the public key of each known key type: the signature of a log, and two cosignatures of witnesses. */
const KEY_TYPES = {
  ed25519: { code: 0x01, bytes: 32 },
  'ed25519-cosignature': { code: 0x04, bytes: 32 },
  'ml-dsa-44-cosignature': { code: 0x06, bytes: 1_312 },
} as const

export type KeyType = keyof typeof KEY_TYPES
/** Type of a key that signs cosignatures. */
export type CosignerType = Exclude<KeyType, 'ed25519'>

/** Bytes of a key id. */
export const KEY_ID_BYTES = 4

/** Public half of a key that signs notes. `keyId` is eight lower-case hex digits. */
export type VerifierKey = Readonly<{ name: string; keyId: string; type: KeyType; publicKey: Uint8Array }>

const KEY_TYPE_NAMES = ['ed25519', 'ed25519-cosignature', 'ml-dsa-44-cosignature'] as const

// A space ends a name in a note, and a plus in a vkey.
const NOT_IN_NAMES = /[\p{White_Space}+]/u
const VKEY = /^([^+]+)\+([0-9a-f]{8})\+([^]+)$/

/** Whether a text may name a key: not empty, and without Unicode space, plus or control character. */
export function isKeyName(text: string): boolean {
  return text !== '' && isLine(text) && !NOT_IN_NAMES.test(text)
}

/**
 * Makes the verifier key of a name and public key. Its id is the first four bytes of SHA-256 over the name, a line
 * feed, the type and the key. Throws a `RangeError` on a malformed name or a key of another length than the type's.
 */
export function verifierKey(sha256: Sha256, name: string, type: KeyType, publicKey: Uint8Array): VerifierKey {
  if (!isKeyName(name))
    throw new RangeError('a key name is not empty and has no space, plus or control character')
  const { code, bytes } = KEY_TYPES[type]
  if (publicKey.length !== bytes) throw new RangeError(`a public key has ${bytes} bytes`)
  const hashed = Uint8Array.from([...formatUtf8(`${name}\n`), code, ...publicKey])
  return { name, keyId: formatHex(sha256(hashed).subarray(0, KEY_ID_BYTES)), type, publicKey }
}

/** Published form of a key: `<name>+<key id>+<base64 of the type and the key>`. */
export function formatVkey({ name, keyId, type, publicKey }: VerifierKey): string {
  return `${name}+${keyId}+${formatBase64(Uint8Array.from([KEY_TYPES[type].code, ...publicKey]))}`
}

/** Parses a vkey; undefined for an unknown type, a wrong key id, or any other text. */
export function parseVkey(sha256: Sha256, text: string): VerifierKey | undefined {
  // Base64 may contain a plus too: only the first two are separators.
  const [, name = '', keyId, encoded = ''] = VKEY.exec(text) ?? []
  const [code, ...publicKey] = parseBase64(encoded) ?? []
  const type = KEY_TYPE_NAMES.find((known) => KEY_TYPES[known].code === code)
  if (type === undefined || !isKeyName(name) || publicKey.length !== KEY_TYPES[type].bytes) return undefined
  const key = verifierKey(sha256, name, type, Uint8Array.from(publicKey))
  return key.keyId === keyId ? key : undefined
}
