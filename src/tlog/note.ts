import { doubted, proved, type Verdict } from './verdict.ts'
import type { Sha256 } from './hash.ts'
import { base64, hex } from '@scure/base'

/** Bytes of the longest accepted note. */
export const NOTE_BYTES_MAX = 262_144
/** Most signature lines of an accepted note; C2SP signed-note asks for at least 16. */
const SIGNATURES_MAX = 64

/** A signature line: the name and id of the signing key, and the signature in the form of the key's type. */
export type NoteSignature = Readonly<{ name: string; keyId: string; signature: Uint8Array }>

/** A signed note (C2SP signed-note): the text with its final line feed, and at least one signature line. */
export type Note = Readonly<{ text: string; signatures: readonly NoteSignature[] }>

const SIGNATURE_LINE = /^\u2014 ([^ ]+) ([A-Za-z0-9+/=]+)$/

/** Whether a text may be signed as a note: it ends in a line feed and has no control character but line feeds. */
function isNoteText(text: string): boolean {
  return text.endsWith('\n') && isLine(text.replaceAll('\n', ''))
}

/** Writes the text, a blank line and the signature lines. Throws a `RangeError` where `parseNote` would refuse it. */
export function formatNote({ text, signatures }: Note): string {
  if (!isNoteText(text))
    throw new RangeError('the text of a note ends in a line feed and has no other control character')
  if (signatures.length < 1 || signatures.length > SIGNATURES_MAX) {
    throw new RangeError(`a note has 1 to ${SIGNATURES_MAX} signatures`)
  }
  const note = `${text}\n${signatures.map(formatSignatureLine).join('')}`
  if (formatUtf8(note).length > NOTE_BYTES_MAX)
    throw new RangeError(`a note has at most ${NOTE_BYTES_MAX} bytes`)
  return note
}

/** Parses a note without verifying signatures. Its text ends at the last blank line. */
export function parseNote(bytes: Uint8Array): Verdict<Note> {
  if (bytes.length > NOTE_BYTES_MAX) return doubted('note-too-long')
  const whole = parseUtf8(bytes)
  const blank = whole?.lastIndexOf('\n\n') ?? -1
  if (whole === undefined || blank < 0 || !whole.endsWith('\n')) return doubted('note-malformed')
  const text = whole.slice(0, blank + 1)
  const lines = whole.slice(blank + 2, -1).split('\n')
  if (!isNoteText(text) || lines.length > SIGNATURES_MAX) return doubted('note-malformed')
  const signatures: NoteSignature[] = []
  for (const line of lines) {
    const signature = parseSignature(line)
    if (signature === undefined) return doubted('note-malformed')
    signatures.push(signature)
  }
  return proved({ text, signatures })
}

/** A signature line with its line feed: em dash, name, and base64 of key id and signature. */
function formatSignatureLine({ name, keyId, signature }: NoteSignature): string {
  const id = parseHex(keyId)
  if (!isKeyName(name) || id?.length !== KEY_ID_BYTES || signature.length === 0) {
    throw new RangeError('a signature has a key name, a key id of 4 bytes, and at least one byte')
  }
  return `\u2014 ${name} ${formatBase64(Uint8Array.from([...id, ...signature]))}\n`
}

/** Parses a signature line without its line feed; undefined for any other text. */
function parseSignature(line: string): NoteSignature | undefined {
  const [, name = '', encoded = ''] = SIGNATURE_LINE.exec(line) ?? []
  const bytes = parseBase64(encoded)
  if (bytes === undefined || bytes.length <= KEY_ID_BYTES || !isKeyName(name)) return undefined
  const keyId = formatHex(bytes.subarray(0, KEY_ID_BYTES))
  return { name, keyId, signature: bytes.subarray(KEY_ID_BYTES) }
}

/** Bytes of an Ed25519 signature. */
const ED25519_BYTES = 64

/** Verification by the runtime: whether the public key, in its raw form, made the signature of the message. */
export type Verify = (
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
) => boolean | Promise<boolean>

/** Signs a message with a private key that the caller holds; returns the raw signature. */
export type Sign = (message: Uint8Array) => Uint8Array

/** A note with at least one valid signature by a known key, and the keys whose signatures are valid. */
type OpenedNote = Readonly<{ text: string; signers: readonly VerifierKey[] }>

/** Signs a note's text with a key of type `ed25519`. */
export function signText(key: VerifierKey, sign: Sign, text: string): NoteSignature {
  if (key.type !== 'ed25519') throw new RangeError('a witness key signs cosignatures only')
  return { name: key.name, keyId: key.keyId, signature: sign(formatUtf8(text)) }
}

/**
 * Verifies a note by the rules of C2SP signed-note, with keys of type `ed25519`. Other keys count as unknown, and their
 * signatures are ignored. Refuses a note with an invalid signature by a known key, or with no signature by a known key.
 */
export async function openNote(
  { text, signatures }: Note,
  keys: readonly VerifierKey[],
  verifyEd25519: Verify,
): Promise<Verdict<OpenedNote>> {
  const message = formatUtf8(text)
  const signers = new Set<VerifierKey>()
  for (const { name, keyId, signature } of signatures) {
    for (const key of keys) {
      if (key.name !== name || key.keyId !== keyId || key.type !== 'ed25519') continue
      const holds =
        signature.length === ED25519_BYTES && (await verifyEd25519(key.publicKey, message, signature))
      if (!holds) return doubted('bad-signature')
      signers.add(key)
    }
  }
  return signers.size === 0 ? doubted('no-known-signature') : proved({ text, signers: [...signers] })
}

/** Type byte and public key length of each known key type: one for logs, two for witnesses. */
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
 * feed, the type and the key. Throws a `RangeError` on a malformed name or a wrong key length.
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

const ENCODER = new TextEncoder()
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const HEX = /^(?:[0-9a-f]{2})*$/

/** Decodes UTF-8; undefined when the bytes are malformed. A byte order mark is kept as a character. */
export function parseUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

export function formatUtf8(text: string): Uint8Array {
  return ENCODER.encode(text)
}

/** Decodes canonical, padded base64 (RFC 4648, section 4); undefined for any other text. */
export function parseBase64(text: string): Uint8Array | undefined {
  if (!BASE64.test(text)) return undefined
  try {
    return base64.decode(text)
  } catch {
    return undefined
  }
}

export function formatBase64(bytes: Uint8Array): string {
  return base64.encode(bytes)
}

/** Lower-case hex digits. */
export function formatHex(bytes: Uint8Array): string {
  return hex.encode(bytes)
}

/** Lower-case hex digits, two for each byte; undefined for any other text. */
function parseHex(text: string): Uint8Array | undefined {
  return HEX.test(text) ? hex.decode(text) : undefined
}

/** Whether a text may be a line of a note: well-formed Unicode with no character below 0x20. */
export function isLine(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- the pattern looks for control characters
  return text.isWellFormed() && !/[\u0000-\u001f]/.test(text)
}
