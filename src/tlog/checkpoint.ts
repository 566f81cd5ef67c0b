import type { Tree } from './consistency.ts'
import { isHash } from './hash.ts'
import type { Note } from './note.ts'
import { parseNote } from './note.ts'
import type { VerifiedSignature, VerifyEd25519 } from './signature.ts'
import { openNote } from './signature.ts'
import { formatBase64, isLine, parseBase64, parseDecimal } from './text.ts'
import type { Verdict } from './verdict.ts'
import { doubted, proved } from './verdict.ts'
import type { VerifierKey } from './vkey.ts'

/**
 * What a log says of itself (C2SP tlog-checkpoint): its origin, and the size and root of its tree. `extensions` are
 * further lines, which others may write and we do not.
 */
export type Checkpoint = Tree & Readonly<{ origin: string; extensions: readonly string[] }>

/** What a reader trusts about a log: its origin, its keys, and the keys of witnesses that it knows. */
export type TrustedLog = Readonly<{
  origin: string
  keys: readonly VerifierKey[]
  witnesses: readonly VerifierKey[]
}>

/** A checkpoint that a key of the log has signed, the text that was signed, and everyone known who signed it. */
export type OpenedCheckpoint = Readonly<{
  checkpoint: Checkpoint
  text: string
  signed: readonly VerifiedSignature[]
}>

/** The text that is signed. A checkpoint that `parseCheckpoint` would not read is a `RangeError`. */
export function formatCheckpoint({ origin, size, root, extensions }: Checkpoint): string {
  const isSize = Number.isSafeInteger(size) && size >= 0
  if (!isSize || !isHash(root) || ![origin, ...extensions].every(isFilledLine)) {
    throw new RangeError(
      'a checkpoint has an origin, a size up to 2^53−1, a root of 32 bytes and no empty line',
    )
  }
  return [origin, size, formatBase64(root), ...extensions].map((line) => `${line}\n`).join('')
}

/** The checkpoint in a note's text; undefined for any other text. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  if (!text.endsWith('\n')) return undefined
  const [origin = '', decimal = '', encoded = '', ...extensions] = text.slice(0, -1).split('\n')
  const [size, root] = [parseDecimal(decimal), parseBase64(encoded)]
  if (size === undefined || root === undefined || !isHash(root)) return undefined
  return [origin, ...extensions].every(isFilledLine) ? { origin, size, root, extensions } : undefined
}

/** The checkpoint in the bytes of a signed note, and the note; nothing is verified. */
export function readCheckpoint(bytes: Uint8Array): Verdict<Readonly<{ checkpoint: Checkpoint; note: Note }>> {
  const note = parseNote(bytes)
  if (!note.ok) return note
  const checkpoint = parseCheckpoint(note.value.text)
  return checkpoint === undefined ? doubted('checkpoint-malformed') : proved({ checkpoint, note: note.value })
}

/**
 * The checkpoint in the bytes of a signed note, once a key of the log has signed it. Keys count only under the
 * origin that is expected, and a witness's word never stands for the log's.
 */
export async function openCheckpoint(
  bytes: Uint8Array,
  { origin, keys, witnesses }: TrustedLog,
  verify: VerifyEd25519,
): Promise<Verdict<OpenedCheckpoint>> {
  const read = readCheckpoint(bytes)
  if (!read.ok) return read
  const { checkpoint, note } = read.value
  if (checkpoint.origin !== origin) return doubted('other-origin')
  const opened = await openNote(note, [...keys, ...witnesses], verify)
  if (!opened.ok) return opened
  const { text, signed } = opened.value
  const isOfLog = signed.some(({ key }) => key.type === 'ed25519' && keys.includes(key))
  return isOfLog ? proved({ checkpoint, text, signed }) : doubted('not-signed-by-log')
}

function isFilledLine(text: string): boolean {
  return text !== '' && isLine(text)
}
