import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { hasher } from '../../test/tlog/example.ts'
import { appendLeaf, frontierAt, rootOf } from './frontier.ts'
import type { Hash } from './hash.ts'
import { consistencyProof, inclusionProof, isConsistent, isIncluded, type ReadTile } from './proof.ts'
import { formatTile } from './tile.ts'

// The tree does not fit in memory. All leaves but one are equal, so each level has at most two different hashes.
const COMMON = hasher.leaf(Uint8Array.of(0))
const ODD = hasher.leaf(Uint8Array.of(1))
const SIZES = [2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 40 + 12_345, 2 ** 52 + 1, 2 ** 53 - 1]

/** MTH of RFC 6962 over leaves [from, to) with the odd leaf at `odd`, in unbounded integers. */
function rootBetween(from: bigint, to: bigint, odd: bigint, known = new Map<bigint, Hash>()): Hash {
  const isCommon = odd < from || odd >= to
  const found = isCommon ? known.get(to - from) : undefined
  if (found !== undefined) return found
  if (to - from === 1n) return isCommon ? COMMON : ODD
  let k = 1n
  while (k * 2n < to - from) k *= 2n
  const root = hasher.node(rootBetween(from, from + k, odd, known), rootBetween(from + k, to, odd, known))
  if (isCommon) known.set(to - from, root)
  return root
}

function rootOfSize(size: number, odd: number): Hash {
  return rootBetween(0n, BigInt(size), BigInt(odd))
}

function readerOf(odd: number): ReadTile {
  const known = new Map<bigint, Hash>()
  return ({ level, index, width }) =>
    formatTile(
      Array.from({ length: width }, (_, at) => {
        const [place, step] = [256n * BigInt(index) + BigInt(at), 256n ** BigInt(level)]
        return rootBetween(place * step, (place + 1n) * step, BigInt(odd), known)
      }),
    )
}

const sizes = fc.oneof(fc.constantFrom(...SIZES), fc.integer({ min: 2 ** 31, max: Number.MAX_SAFE_INTEGER }))
const pairs = sizes.chain((size) =>
  fc.tuple(fc.constant(size), fc.integer({ min: 0, max: size - 1 }), fc.integer({ min: 1, max: size })),
)

suite('a tree of more than 2^31 leaves', () => {
  test('has the root of RFC 6962', () => {
    for (const size of SIZES) {
      const frontier = frontierAt(hasher, size, readerOf(size - 1))
      assert.deepEqual(Buffer.from(rootOf(hasher, frontier)), rootOfSize(size, size - 1), `size ${size}`)
    }
  })

  test('grows leaf by leaf, up to 2^53−1', () => {
    for (const size of SIZES.slice(0, -1)) {
      const frontier = frontierAt(hasher, size, readerOf(size))
      const completed = appendLeaf(hasher, frontier, ODD)
      assert.deepEqual(Buffer.from(rootOf(hasher, frontier)), rootOfSize(size + 1, size), `size ${size}`)
      for (const { level, index } of completed) assert.equal((index + 1) * 256 ** level, size + 1)
    }
    const full = frontierAt(hasher, 2 ** 53 - 1, readerOf(0))
    assert.throws(() => appendLeaf(hasher, full, COMMON), /at most 2\^53−1 leaves/)
  })

  test('proves a leaf, and no other leaf at its index', () => {
    fc.assert(
      fc.property(pairs, ([size, index]) => {
        const proof = inclusionProof(hasher, index, size, readerOf(index)) ?? assert.fail()
        const claim = { leaf: ODD, index, size, root: rootOfSize(size, index) }
        assert.ok(proof.length <= 53 && isIncluded(hasher, claim, proof))
        assert.ok(!isIncluded(hasher, { ...claim, leaf: COMMON }, proof))
        assert.ok(!isIncluded(hasher, { ...claim, index: index === 0 ? 1 : index - 1 }, proof))
        assert.ok(!isIncluded(hasher, claim, proof.slice(1)))
      }),
    )
  })

  test('proves that it grew from an earlier tree', () => {
    fc.assert(
      fc.property(pairs, ([to, odd, from]) => {
        const proof = consistencyProof(hasher, from, to, readerOf(odd)) ?? assert.fail()
        const [earlier, later] = [from, to].map((size) => ({ size, root: rootOfSize(size, odd) })) as [
          Parameters<typeof isConsistent>[1],
          Parameters<typeof isConsistent>[1],
        ]
        assert.ok(isConsistent(hasher, earlier, later, proof))
        assert.ok(!isConsistent(hasher, { ...earlier, root: hasher.empty }, later, proof))
        assert.ok(!isConsistent(hasher, earlier, later, [...proof, COMMON]))
      }),
    )
  })
})
