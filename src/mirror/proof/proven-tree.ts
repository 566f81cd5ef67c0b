import { hex } from '@scure/base'
import { isSignedNote, noteOf } from '../../log/tree/signer.ts'
import type { Checkpoint } from '../../tlog/checkpoint.ts'
import type { Tree } from '../../tlog/consistency.ts'
import type { Note } from '../../tlog/note.ts'
import { parseNote } from '../../tlog/note.ts'
import { formatUtf8 } from '../../tlog/text.ts'
import { DOUBTS } from '../../tlog/verdict.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import { openListed, openTrusted } from '../../verify/trust.ts'
import { NODE_PRIMITIVES } from './node-primitives.ts'
import type { OriginKeys } from './origin-keys.ts'

/** A tree that the log has signed, with its note and the signatures in the form of the store. */
export type ProvenTree = Tree & Readonly<{ origin: string; note: string; signature: Uint8Array }>

/**
 * Opens a served checkpoint of the log. Throws a `WrongError` unless a trusted key has signed it, and every signature of a
 * listed key is valid. Signatures of others, such as witnesses, are left out.
 */
export async function provenTree(place: string, served: Uint8Array, keys: OriginKeys): Promise<ProvenTree> {
  const { checkpoint } = await openTrusted(place, served, keys.trust, NODE_PRIMITIVES)
  return ofLog(place, served, checkpoint, keys)
}

/**
 * Signed tree at the end of a month. `isTrusted`: a trusted key of the log has signed it. Any other listed key proves
 * nothing by itself, but a larger tree can.
 */
export type MonthEnd = ProvenTree & Readonly<{ isTrusted: boolean }>

/** Opens the checkpoint of a month's end, which a retired key or one of a former log may have signed. */
export async function provenMonthEnd(place: string, note: string, keys: OriginKeys): Promise<MonthEnd> {
  const served = formatUtf8(note)
  const opened = await openListed(served, keys.trust, NODE_PRIMITIVES)
  if (!opened.ok) throw new WrongError(place, DOUBTS[opened.doubt])
  const tree = ofLog(place, served, opened.value, keys)
  if (tree.note !== note) throw new WrongError(place, 'its checkpoint has a signature of an unknown key')
  return { ...tree, isTrusted: await isByTrustedKey(place, served, keys) }
}

async function isByTrustedKey(place: string, served: Uint8Array, { trust }: OriginKeys): Promise<boolean> {
  try {
    await openTrusted(place, served, trust, NODE_PRIMITIVES)
    return true
  } catch (error) {
    if (!(error instanceof WrongError)) throw error
    return false
  }
}

function ofLog(
  place: string,
  served: Uint8Array,
  { origin, size, root }: Checkpoint,
  keys: OriginKeys,
): ProvenTree {
  const parsed = parseNote(served)
  if (!parsed.ok) throw new WrongError(place, DOUBTS[parsed.doubt])
  const known = keys.trust.listed.map(({ key }) => key)
  const own = parsed.value.signatures.filter(
    (line) => line.name === origin && known.some((key) => key.name === line.name && key.keyId === line.keyId),
  )
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
