import { hex } from '@scure/base'
import { isSignedNote, noteOf } from '../../log/tree/signer.ts'
import { SIGNING_KEYS_MAX } from '../../log/tree/signing-keys.ts'
import type { Checkpoint } from '../../tlog/checkpoint.ts'
import { formatUtf8, type Note, parseNote } from '../../tlog/note.ts'
import { DOUBTS } from '../../tlog/verdict.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import { openListed, openTrusted, signsTreesOf, type Trust } from '../../verify/trust.ts'
import { NODE_PRIMITIVES } from '../../command/terminal/node-primitives.ts'
import type { OriginKeys } from './origin-keys.ts'
import type { Tree } from '../../tlog/proof.ts'

/** Tree that the log has signed, with its note and the signatures in the form of the store. */
export type ProvenTree = Tree & Readonly<{ origin: string; note: string; signature: Uint8Array }>

/**
 * Opens a served checkpoint of the log. Throws a `WrongError` unless a trusted key has signed it, and each kept
 * signature is valid. Keeps one signature of each trusted key that signs trees of its size, at most as many as a log
 * has signing keys. Anyone can add others, and the note must fit the high-water mark.
 */
export async function provenTree(place: string, served: Uint8Array, keys: OriginKeys): Promise<ProvenTree> {
  const { checkpoint } = await openTrusted(place, served, keys.trust, NODE_PRIMITIVES)
  const signing = keys.trust.keys.filter((range) => signsTreesOf(range, checkpoint.size))
  return signedBy(place, served, checkpoint, signing, SIGNING_KEYS_MAX)
}

/**
 * Signed tree at the end of a month. `trusted` is the same tree with the signatures of trusted keys; null without any.
 * Another listed key proves nothing by itself, but a larger tree can.
 */
export type MonthEnd = ProvenTree & Readonly<{ trusted: ProvenTree | null }>

/** Opens the checkpoint of a month's end, which may be signed by a retired key or by one of a former log. */
export async function provenMonthEnd(place: string, note: string, keys: OriginKeys): Promise<MonthEnd> {
  const served = formatUtf8(note)
  const { listed } = keys.trust
  const opened = await openListed(served, keys.trust, NODE_PRIMITIVES)
  if (!opened.ok) throw new WrongError(place, DOUBTS[opened.doubt])
  const tree = signedBy(place, served, opened.value, listed)
  if (tree.note !== note)
    throw new WrongError(place, 'its checkpoint has a repeated signature, or one of an unknown key')
  return { ...tree, trusted: await provenOrNull(place, served, keys) }
}

async function provenOrNull(place: string, served: Uint8Array, keys: OriginKeys): Promise<ProvenTree | null> {
  try {
    return await provenTree(place, served, keys)
  } catch (error) {
    if (!(error instanceof WrongError)) throw error
    return null
  }
}

/**
 * Tree of a note with the first signature of each of these keys, at most `max`. Throws a `WrongError` when one is
 * invalid.
 */
function signedBy(
  place: string,
  served: Uint8Array,
  { origin, size, root }: Checkpoint,
  ranges: Trust['listed'],
  max: number = ranges.length,
): ProvenTree {
  const parsed = parseNote(served)
  if (!parsed.ok) throw new WrongError(place, DOUBTS[parsed.doubt])
  const known = ranges.map(({ key }) => key).filter(({ name }) => name === origin)
  const missing = new Set(known.map(({ keyId }) => keyId))
  const own = parsed.value.signatures
    .filter(({ name, keyId }) => name === origin && missing.delete(keyId))
    .slice(0, max)
  const note: Note = { text: parsed.value.text, signatures: own }
  if (!isSignedNote(note, known)) throw new WrongError(place, DOUBTS['bad-signature'])
  const signature = Buffer.concat(own.flatMap(({ keyId, signature: bytes }) => [hex.decode(keyId), bytes]))
  return { origin, size, root, signature, note: noteOf(origin, { size, root }, signature) }
}

/** Whether the keys of the log that signed a served note are exactly those that it lists as signing now. */
export function isByListedKeys(served: Uint8Array, { listed, origin }: OriginKeys): boolean {
  const parsed = parseNote(served)
  const lines = parsed.ok ? parsed.value.signatures.filter(({ name }) => name === origin) : []
  const signed = lines.map(({ keyId }) => keyId)
  const present = listed
    .filter(({ vkey, toSize }) => toSize === null && vkey.startsWith(`${origin}+`))
    .map(({ vkey }) => vkey.slice(origin.length + 1).split('+')[0])
  return signed.length === present.length && present.every((keyId) => signed.includes(keyId ?? ''))
}
