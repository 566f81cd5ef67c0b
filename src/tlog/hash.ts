import { assert } from '../protocol/brand.ts'

/** SHA-256 of the runtime. It must not keep a reference to its argument: buffers are reused. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

/** A hash in the tree: exactly 32 bytes. */
export type Hash = Uint8Array

export const HASH_BYTES = 32

/** Tree hashes of RFC 6962, section 2.1. Each is asserted to have 32 bytes. */
export type TreeHasher = Readonly<{
  /** Hash of a leaf: SHA-256 of 0x00 and its bytes. */
  leaf: (bytes: Uint8Array) => Hash
  /** Hash of a node: SHA-256 of 0x01, the left hash and the right hash. */
  node: (left: Hash, right: Hash) => Hash
  /** Root of the empty tree: SHA-256 of no bytes. */
  empty: Hash
}>

// Different prefixes ensure that a leaf cannot pass as a node (RFC 6962, section 2.1).
const LEAF_PREFIX = 0
const NODE_PREFIX = 1

/** Initial size of the leaf buffer; most leaves are shorter. */
const LEAF_ROOM_BYTES = 1_024

export function treeHasher(sha256: Sha256): TreeHasher {
  // One buffer for all nodes: an import hashes a node for every event.
  const both = new Uint8Array(1 + 2 * HASH_BYTES)
  both[0] = NODE_PREFIX
  // One buffer for all leaves, which grows to the longest.
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

/** Whether bytes from outside have the length of a hash. */
export function isHash(bytes: Uint8Array): boolean {
  return bytes.length === HASH_BYTES
}

/** Compares two byte strings. Not in constant time: hashes are public. */
export function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index])
}

/** View of one hash in a list of concatenated hashes, such as a tile. */
export function hashIn(hashes: Uint8Array, index: number): Hash {
  return hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES)
}

function checked(hash: Uint8Array): Hash {
  assert(hash.length === HASH_BYTES, `a hash has ${HASH_BYTES} bytes, not ${hash.length}`)
  return hash
}
