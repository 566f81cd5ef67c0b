import { assert } from '../protocol/brand.ts'

/** SHA-256 as the runtime has it, in one call: it keeps nothing of what it is given. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

/** A hash of the tree: exactly 32 bytes. */
export type Hash = Uint8Array

export const HASH_BYTES = 32

/** The hashes of RFC 6962, section 2.1; every one is checked to have 32 bytes. */
export type TreeHasher = Readonly<{
  /** The hash of a leaf with these bytes: SHA-256 of 0x00 and the bytes. */
  leaf: (bytes: Uint8Array) => Hash
  /** The hash over two subtrees: SHA-256 of 0x01, the left and the right. */
  node: (left: Hash, right: Hash) => Hash
  /** The root of the tree without leaves: SHA-256 of nothing. */
  empty: Hash
}>

// The prefixes keep a leaf from being passed off as a node (RFC 6962, section 2.1).
const LEAF_PREFIX = 0
const NODE_PREFIX = 1

/** Most events' leaves are shorter. */
const LEAF_ROOM_BYTES = 1_024

export function treeHasher(sha256: Sha256): TreeHasher {
  // One buffer for all nodes: an import makes a node for every event.
  const both = new Uint8Array(1 + 2 * HASH_BYTES)
  both[0] = NODE_PREFIX
  // And one for all leaves, which grows to the longest.
  let room = new Uint8Array(LEAF_ROOM_BYTES)
  const roomFor = (length: number): Uint8Array => {
    if (length > room.length) room = new Uint8Array(2 * length)
    return room.subarray(0, length)
  }
  return {
    leaf(bytes) {
      const prefixed = roomFor(1 + bytes.length)
      prefixed[0] = LEAF_PREFIX
      prefixed.set(bytes, 1)
      return checked(sha256(prefixed))
    },
    node(left, right) {
      both.set(checked(left), 1)
      both.set(checked(right), 1 + HASH_BYTES)
      return checked(sha256(both))
    },
    empty: checked(sha256(new Uint8Array(0))),
  }
}

/** Whether it has the size of a hash; what comes from outside is asked first. */
export function isHash(bytes: Uint8Array): boolean {
  return bytes.length === HASH_BYTES
}

/** Whether two byte strings are the same. Not in constant time: hashes are public. */
export function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index])
}

/** The hash at an index of hashes that stand one after another, such as a tile's; not a copy. */
export function hashIn(hashes: Uint8Array, index: number): Hash {
  return hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES)
}

function checked(hash: Uint8Array): Hash {
  assert(hash.length === HASH_BYTES, `a hash has ${HASH_BYTES} bytes, not ${hash.length}`)
  return hash
}
