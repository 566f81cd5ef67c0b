import { formatBase64, formatHex, formatUtf8, isLine, parseBase64, parseHex, parseUtf8 } from './text.ts'
import { doubted, proved, type Verdict } from './verdict.ts'
import { isKeyName, KEY_ID_BYTES } from './vkey.ts'

/** Bytes of the longest accepted note. */
export const NOTE_BYTES_MAX = 262_144
/** Signature lines of an accepted note; C2SP signed-note asks for at least 16. */
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
