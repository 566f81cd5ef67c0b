import {
  createHash,
  createPrivateKey,
  createPublicKey,
  hash,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import { type Hash, type Sha256, type TreeHasher, treeHasher } from '../../src/tlog/hash.ts'
import { appendLeaf, emptyFrontier, type Frontier } from '../../src/tlog/frontier.ts'
import { type KeyType, type Sign, type VerifierKey, verifierKey, type Verify } from '../../src/tlog/note.ts'
import type { ReadTile } from '../../src/tlog/proof.ts'

/** SHA-256 of the runtime. */
export const sha256: Sha256 = (bytes) => hash('sha256', bytes, 'buffer')
export const hasher: TreeHasher = treeHasher(sha256)

// Bytes before the 32 bytes of a key in PKCS #8 and in SubjectPublicKeyInfo (RFC 8410).
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

export const verifyEd25519: Verify = (publicKey, message, signature) => {
  const key = createPublicKey({ key: Buffer.concat([SPKI, publicKey]), format: 'der', type: 'spki' })
  return verify(null, message, key, signature)
}

/** Key made from a seed; `sign` uses its private half. */
export function keyOfSeed(
  name: string,
  type: KeyType,
  seed: Uint8Array,
): Readonly<{ key: VerifierKey; sign: Sign }> {
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(SPKI.length)
  return { key: verifierKey(sha256, name, type, publicKey), sign: (message) => sign(null, message, secret) }
}

const PKCS8_ML_DSA_44 = Buffer.from('3034020100300b060960864801650304031104228020', 'hex')

/** ML-DSA-44 key of a witness, made from a seed of 32 bytes. */
export function mlDsaKeyOfSeed(
  name: string,
  seed: Uint8Array,
): Readonly<{ key: VerifierKey; sign: Sign; privateKey: KeyObject }> {
  const der = Buffer.concat([PKCS8_ML_DSA_44, seed])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  const key = verifierKey(sha256, name, 'ml-dsa-44-cosignature', spki.subarray(-1_312))
  return { key, sign: (message) => sign(null, message, privateKey), privateKey }
}

/** Seed of the log key in the worked example; for tests only. */
export const LOG_SEED: Uint8Array = Buffer.from(
  'c1a7c9f842ecee3d4567656b0cc6b62659a6ba06c75d59cec7dfcd04c310c480',
  'hex',
)

/** Line of event i (from 0) of the worked example; it has no details. */
export function exampleLine(i: number): string {
  const atMs = 1_760_000_000_000 + 4_137 * i
  const kots = `${(7_919 * i) % 5_000}.${String(i % 1_000_000_000).padStart(9, '0')}`
  const tx = createHash('sha256').update(String(i)).digest('hex').slice(0, 32)
  return JSON.stringify({
    seq: i + 1,
    type: 'payout',
    kind: 'voter_share',
    at: new Date(atMs).toISOString(),
    atMs,
    contestId: Math.floor(i / 500) + 1,
    kots,
    tx,
  })
}

/** A tree in memory: its frontier, and the hashes of each level. */
type GrownTree = Readonly<{ frontier: Frontier; levels: readonly (readonly Hash[])[]; read: ReadTile }>

/** Appends each leaf, and stores at each level the hashes that `appendLeaf` reports as final. */
export function grow(leaves: Iterable<Hash>, using: TreeHasher = hasher): GrownTree {
  const frontier = emptyFrontier()
  const levels: Hash[][] = [[]]
  for (const leaf of leaves) {
    levels[0]?.push(leaf)
    for (const { level, index, hash: found } of appendLeaf(using, frontier, leaf)) {
      const hashes = (levels[level] ??= [])
      if (hashes.length !== index) throw new Error(`level ${level} has ${hashes.length} hashes, not ${index}`)
      hashes.push(found)
    }
  }
  const tiles = new Map<string, Uint8Array>()
  const read: ReadTile = ({ level, index, width }) => {
    const place = `${level}/${index}/${width}`
    const hashes = (levels[level] ?? []).slice(index * 256, index * 256 + width)
    const bytes = tiles.get(place) ?? Buffer.concat(hashes)
    tiles.set(place, bytes)
    return bytes
  }
  return { frontier, levels, read }
}

/** MTH by the definition of RFC 6962, without code of `src/tlog`. */
export function naiveRoot(leaves: readonly Hash[]): Hash {
  if (leaves.length === 0) return sha256(new Uint8Array(0))
  const [only] = leaves
  if (leaves.length === 1 && only !== undefined) return only
  let k = 1
  while (k * 2 < leaves.length) k *= 2
  const [left, right] = [naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k))]
  return sha256(Buffer.concat([Uint8Array.of(1), left, right]))
}

/** Distinct leaf hashes, of the numbers from 0. */
export function numberedLeaves(count: number): readonly Hash[] {
  return Array.from({ length: count }, (_, index) => hasher.leaf(Buffer.from(String(index))))
}

/** A hasher that caches nodes, for tests that make every proof of a few hundred leaves. */
export function rememberingHasher(): TreeHasher {
  const nodes = new Map<number, Hash>()
  // Three bytes of each side: 48 bits suffice to tell a few thousand nodes apart.
  const first = ([a = 0, b = 0, c = 0]: Hash): number => a * 65_536 + b * 256 + c
  const node = (left: Hash, right: Hash): Hash => {
    const place = first(left) * 2 ** 24 + first(right)
    const found = nodes.get(place) ?? hasher.node(left, right)
    nodes.set(place, found)
    return found
  }
  return { ...hasher, node }
}
