import { parseWhole } from '../protocol/seq.ts'
import { isHash } from './hash.ts'
import {
  formatBase64,
  isLine,
  type Note,
  openNote,
  parseBase64,
  parseNote,
  type VerifierKey,
  type Verify,
} from './note.ts'
import { doubted, proved, type Verdict } from './verdict.ts'
import type { Tree } from './proof.ts'

/**
 * Tamper evidence by the standards of C2SP and RFC 6962: the tree over all events, tiles, proofs, signed notes,
 * checkpoints, cosignatures and receipts. The functions are pure and get hashing and signatures as arguments, so that
 * servers and browsers run the same proofs. To read: this file, `proof.ts`, then `receipt.ts`.
 */

/** Size and root of a log's tree (C2SP tlog-checkpoint). `extensions` are further lines; Daybook writes none. */
export type Checkpoint = Tree & Readonly<{ origin: string; extensions: readonly string[] }>

/** The log that a reader expects: its origin, and its trusted keys. */
export type TrustedLog = Readonly<{ origin: string; keys: readonly VerifierKey[] }>

/** Checkpoint with signatures by keys of the log, its text, and these keys. */
export type OpenedCheckpoint = Readonly<{
  checkpoint: Checkpoint
  text: string
  signers: readonly VerifierKey[]
}>

/** Formats the text that is signed. Throws a `RangeError` where `parseCheckpoint` would refuse the result. */
export function formatCheckpoint({ origin, size, root, extensions }: Checkpoint): string {
  const isSize = Number.isSafeInteger(size) && size >= 0
  if (!isSize || !isHash(root) || ![origin, ...extensions].every(isFilledLine)) {
    throw new RangeError(
      'a checkpoint has an origin, a size up to 2^53−1, a root of 32 bytes and no empty line',
    )
  }
  return [origin, size, formatBase64(root), ...extensions].map((line) => `${line}\n`).join('')
}

/** Parses a note's text; undefined when it is no checkpoint. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  if (!text.endsWith('\n')) return undefined
  const [origin = '', decimal = '', encoded = '', ...extensions] = text.slice(0, -1).split('\n')
  const [size, root] = [parseWhole(decimal), parseBase64(encoded)]
  if (size === undefined || root === undefined || !isHash(root)) return undefined
  return [origin, ...extensions].every(isFilledLine) ? { origin, size, root, extensions } : undefined
}

/** Parses a signed note and the checkpoint in it, without verifying any signature. */
export function readCheckpoint(bytes: Uint8Array): Verdict<Readonly<{ checkpoint: Checkpoint; note: Note }>> {
  const note = parseNote(bytes)
  if (!note.ok) return note
  const checkpoint = parseCheckpoint(note.value.text)
  return checkpoint === undefined ? doubted('checkpoint-malformed') : proved({ checkpoint, note: note.value })
}

/**
 * Parses a signed note and verifies that a key of the log has signed its checkpoint. The origin must be the expected
 * one. A witness's signature never counts as the log's.
 */
export async function openCheckpoint(
  bytes: Uint8Array,
  { origin, keys }: TrustedLog,
  verifyEd25519: Verify,
): Promise<Verdict<OpenedCheckpoint>> {
  const read = readCheckpoint(bytes)
  if (!read.ok) return read
  const { checkpoint, note } = read.value
  if (checkpoint.origin !== origin) return doubted('other-origin')
  const opened = await openNote(note, keys, verifyEd25519)
  return opened.ok ? proved({ checkpoint, ...opened.value }) : opened
}

function isFilledLine(text: string): boolean {
  return text !== '' && isLine(text)
}
