import type { Ms } from '../../src/protocol/moment.ts'
import { cosignText } from '../../src/tlog/cosignature.ts'
import { formatNote, parseNote, type Sign, type VerifierKey } from '../../src/tlog/note.ts'
import { keyOfSeed, mlDsaKeyOfSeed } from '../tlog/example.ts'

/** Key pair of a witness. */
export type WitnessKey = Readonly<{ key: VerifierKey; sign: Sign }>

/** Key of the witness `witness.example/<name>`. Two keys of one name differ by `seed`. */
export function witnessKey(
  name: string,
  type: 'ed25519' | 'ml-dsa-44' = 'ed25519',
  seed: string = name,
): WitnessKey {
  const bytes = Buffer.alloc(32, `${type} ${seed}`)
  const full = `witness.example/${name}`
  return type === 'ed25519' ? keyOfSeed(full, 'ed25519-cosignature', bytes) : mlDsaKeyOfSeed(full, bytes)
}

/** The note of a log with a cosignature of each witness at a moment. */
export function cosigned(note: string, at: Ms | number, ...witnesses: readonly WitnessKey[]): string {
  const parsed = parseNote(Buffer.from(note))
  if (!parsed.ok) throw new Error(parsed.doubt)
  const { text, signatures } = parsed.value
  const lines = witnesses.map(({ key, sign }) => cosignText(key, sign, Math.floor(at / 1000), text))
  return formatNote({ text, signatures: [...signatures, ...lines] })
}
