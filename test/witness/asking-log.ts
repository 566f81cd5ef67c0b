import { formatCheckpoint } from '../../src/tlog/checkpoint.ts'
import { frontierAt, rootOf } from '../../src/tlog/frontier.ts'
import { formatBase64, formatNote, formatVkey, signText } from '../../src/tlog/note.ts'
import { grow, hasher, keyOfSeed, numberedLeaves } from '../tlog/example.ts'
import { consistencyProof } from '../../src/tlog/proof.ts'

/** Leaves of each history. */
const LEAVES = 1_000
/** One of two histories that a log with a fork shows. */
type History = 'own' | 'forked'
const HISTORIES: Readonly<Record<History, ReturnType<typeof grow>>> = {
  own: grow(numberedLeaves(LEAVES)),
  // The second leaf differs: trees of size 1 are the same.
  forked: grow(numberedLeaves(LEAVES).with(1, hasher.leaf(Buffer.from('another leaf')))),
}

/** Signer of a checkpoint: either key of the log, a key that no witness knows, or the first key's id with zeros. */
type Signer = 'first' | 'second' | 'unknown' | 'forger'
type Shown = Readonly<{ history?: History; signers?: readonly Signer[]; extensions?: readonly string[] }>

/** A log in memory that asks witnesses. It has two keys, two histories of 1000 leaves each, and the key of a forger. */
export type AskingLog = Readonly<{
  origin: string
  vkeys: readonly string[]
  /** Root of a history's tree. */
  root(size: number, history?: History): Uint8Array
  /** Signed note of any text. */
  sign(text: string, signers?: readonly Signer[]): string
  /** Signed checkpoint of its own history and by its first key, unless `shown` differs. */
  checkpoint(size: number, shown?: Shown): string
  /** Lines of a consistency proof. */
  proof(from: number, to: number, history?: History): readonly string[]
}>

export function openAskingLog(origin: string): AskingLog {
  const keyOf = (seed: number): ReturnType<typeof keyOfSeed> =>
    keyOfSeed(origin, 'ed25519', new Uint8Array(32).fill(seed))
  const first = keyOf(1)
  const second = keyOf(2)
  const signers: Readonly<Record<Signer, ReturnType<typeof keyOfSeed>>> = {
    first,
    second,
    unknown: keyOf(3),
    forger: { key: first.key, sign: () => new Uint8Array(64) },
  }
  const root: AskingLog['root'] = (size, history = 'own') =>
    rootOf(hasher, frontierAt(hasher, size, HISTORIES[history].read))
  const sign: AskingLog['sign'] = (text, names = ['first']) =>
    formatNote({
      text,
      signatures: names.map((name) => signText(signers[name].key, signers[name].sign, text)),
    })
  return {
    origin,
    vkeys: [first, second].map(({ key }) => formatVkey(key)),
    root,
    sign,
    checkpoint: (size, { history, signers: names, extensions = [] } = {}) =>
      sign(formatCheckpoint({ origin, size, root: root(size, history), extensions }), names),
    proof: (from, to, history = 'own') =>
      (consistencyProof(hasher, from, to, HISTORIES[history].read) ?? []).map(formatBase64),
  }
}

/** Body of add-checkpoint (C2SP tlog-witness). */
export function addCheckpointBody(
  oldSize: number | string,
  proof: readonly string[],
  checkpoint: string,
): string {
  return [`old ${oldSize}`, ...proof, '', checkpoint].join('\n')
}

/** Text of a checkpoint with any root. */
export function treeText(origin: string, size: number, root: Uint8Array): string {
  return formatCheckpoint({ origin, size, root, extensions: [] })
}

/** Proof lines of the right form that prove nothing. */
export function hashes(log: AskingLog, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => formatBase64(log.root(index + 1)))
}
