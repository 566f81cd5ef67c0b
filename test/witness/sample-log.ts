import { formatCheckpoint } from '../../src/tlog/checkpoint.ts'
import type { Hash } from '../../src/tlog/hash.ts'
import { formatBase64, formatNote, signText, type VerifierKey } from '../../src/tlog/note.ts'
import { grow, keyOfSeed, naiveRoot, numberedLeaves, rememberingHasher } from '../tlog/example.ts'
import { consistencyProof } from '../../src/tlog/proof.ts'

const hasher = rememberingHasher()
/** Leaves of a sample log. */
const SAMPLE_LEAVES = 40

/** A log that a test may show in any version: its trees up to 40 leaves. */
export type SampleLog = Readonly<{
  origin: string
  key: VerifierKey
  root(size: number): Hash
  /** Signed checkpoint of a size. `extensions` are further lines of its text; `root` is a false one. */
  note(size: number, extensions?: readonly string[], root?: Hash): string
  /** Lines of the consistency proof; none from size 0. */
  proof(from: number, to: number): string
  /** Body of a request to `add-checkpoint`. */
  submission(oldSize: number, size: number): Buffer<ArrayBuffer>
}>

/** Makes a sample log. Those of one origin and other `firstLeaf` share the key and no tree. */
export function sampleLog(origin: string, firstLeaf = 0, seed = 9): SampleLog {
  const { key, sign } = keyOfSeed(origin, 'ed25519', new Uint8Array(32).fill(seed))
  const leaves = numberedLeaves(firstLeaf + SAMPLE_LEAVES).slice(firstLeaf)
  const { read } = grow(leaves, hasher)
  const roots = Array.from({ length: SAMPLE_LEAVES + 1 }, (_, size) => naiveRoot(leaves.slice(0, size)))
  const rootAt = (size: number): Hash => roots[size] ?? hasher.empty
  function note(size: number, extensions: readonly string[] = [], root = rootAt(size)): string {
    const text = formatCheckpoint({ origin, size, root, extensions })
    return formatNote({ text, signatures: [signText(key, sign, text)] })
  }
  function proof(from: number, to: number): string {
    const hashes = consistencyProof(hasher, from, to, read) ?? []
    return hashes.map((hash) => `${formatBase64(hash)}\n`).join('')
  }
  return {
    origin,
    key,
    root: rootAt,
    note,
    proof,
    submission: (oldSize, size) => submissionOf(oldSize, proof(oldSize, size), note(size)),
  }
}

/** Body of a request to `add-checkpoint` from its parts. */
export function submissionOf(oldSize: number | string, proof: string, note: string): Buffer<ArrayBuffer> {
  return Buffer.from(`old ${oldSize}\n${proof}\n${note}`)
}
