import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { grow, hasher, naiveRoot, numberedLeaves, rememberingHasher } from '../../test/tlog/example.ts'
import {
  appendLeaf,
  copyOfFrontier,
  frontierAt,
  type LevelHash,
  rootOf,
  tilesOfFrontier,
} from './frontier.ts'
import type { Hash } from './hash.ts'
import {
  consistencyProof,
  inclusionProof,
  isConsistent,
  isIncluded,
  type ReadTile,
  tilesOfConsistency,
  tilesOfInclusion,
  type Tree,
} from './proof.ts'
import { isTileOf, type Tile, widthAt } from './tile.ts'

const SIZE_MAX = 300
/** Every proof is made up to this size, and up to `SIZE_MAX` in a campaign. */
const PROVEN_MAX = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 70)
/** Every proof is also forged up to this size. */
const FEW_MAX = 24
/** Sizes around tile boundaries. */
const EDGES = [255, 256, 257, 511, 512, 513, 65_535, 65_536, 65_537, 65_793]
const LEAVES = numberedLeaves(66_000)
const WHOLE = grow(LEAVES)

/** Every tree up to 300 leaves, by the definition of RFC 6962. */
const TREES: readonly Tree[] = Array.from({ length: SIZE_MAX + 1 }, (_, size) => ({
  size,
  root: naiveRoot(LEAVES.slice(0, size)),
}))
/** Trees of which every proof is made: small ones, and those around a tile boundary. */
const PROVEN = TREES.filter(
  ({ size }) => size <= PROVEN_MAX || Math.abs(size - 256) <= 3 || size === SIZE_MAX,
)
const FEW = TREES.slice(0, FEW_MAX + 1)
const edgeTrees: readonly Tree[] = EDGES.map((size) => ({ size, root: naiveRoot(LEAVES.slice(0, size)) }))

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const hashOf = ({ hash }: LevelHash): string => hexOf(hash)
const leafOf = (index: number): Hash => LEAVES[index] ?? assert.fail(`no leaf ${index}`)

function included(tree: Tree, index: number, proof: readonly Hash[], using = hasher): boolean {
  return isIncluded(using, { leaf: leafOf(index), index, ...tree }, proof)
}

function inclusionOf(index: number, size: number, read: ReadTile, using = hasher): readonly Hash[] {
  return inclusionProof(using, index, size, read) ?? assert.fail(`no proof of ${index} in ${size}`)
}

function consistencyOf(from: number, to: number, read: ReadTile, using = hasher): readonly Hash[] {
  return consistencyProof(using, from, to, read) ?? assert.fail(`no proof from ${from} to ${to}`)
}

/** The proof with one hash altered, dropped or added, at every position. */
function* forgeries(proof: readonly Hash[]): Generator<readonly Hash[]> {
  for (let at = 0; at <= proof.length; at++) {
    const [before, after] = [proof.slice(0, at), proof.slice(at + 1)]
    const hash = proof[at]
    yield [...before, new Uint8Array(32), ...proof.slice(at)]
    if (hash === undefined) continue
    yield [...before, ...after]
    yield [...before, hash, hash, ...after]
    yield [...before, hash.map((byte, place) => (place === at % 32 ? byte ^ 1 : byte)), ...after]
    yield [...before, hash.subarray(1), ...after]
    yield [...before, Uint8Array.from([...hash, 0]), ...after]
  }
}

suite('a tree', () => {
  test('has the root of RFC 6962 at every size up to 300, both grown and from its tiles', () => {
    for (const { size, root } of TREES) {
      const { frontier } = grow(LEAVES.slice(0, size))
      assert.equal(hexOf(rootOf(hasher, frontier)), hexOf(root), `size ${size}`)
      assert.deepEqual(frontierAt(hasher, size, WHOLE.read).roots.map(hexOf), frontier.roots.map(hexOf))
    }
  })

  test('has the root of RFC 6962 around tile boundaries, also after the log has grown', () => {
    for (const { size, root } of edgeTrees) {
      const { read, frontier } = grow(LEAVES.slice(0, size))
      assert.equal(hexOf(rootOf(hasher, frontier)), hexOf(root), `size ${size}`)
      for (const reader of [read, WHOLE.read]) {
        assert.equal(hexOf(rootOf(hasher, frontierAt(hasher, size, reader))), hexOf(root), `size ${size}`)
      }
    }
  })

  test('grows from a copy of its frontier without effect on the original', () => {
    const { frontier } = grow(LEAVES.slice(0, 255))
    const copy = copyOfFrontier(frontier)
    assert.equal(appendLeaf(hasher, frontier, leafOf(9)).length, 1)
    assert.deepEqual(appendLeaf(hasher, copy, leafOf(255)).map(hashOf), [hexOf(WHOLE.levels[1]?.[0] as Hash)])
    assert.equal(hexOf(rootOf(hasher, copy)), hexOf(edgeTrees[1]?.root as Hash))
  })

  test('has the roots of full tiles at the level above them', () => {
    const [level0 = [], level1 = [], level2 = []] = WHOLE.levels
    assert.deepEqual([level0.length, level1.length, level2.length], [66_000, 257, 1])
    for (const [index, hash] of level1.entries()) {
      assert.equal(hexOf(hash), hexOf(naiveRoot(LEAVES.slice(index * 256, (index + 1) * 256))))
    }
    assert.equal(hexOf(level2[0] as Hash), hexOf(naiveRoot(level1.slice(0, 256))))
  })
})

suite('an inclusion proof', () => {
  test('is valid for every leaf of every small tree, and of trees around a tile boundary', () => {
    const using = rememberingHasher()
    for (const tree of PROVEN) {
      for (let index = 0; index < tree.size; index++) {
        const proof = inclusionOf(index, tree.size, WHOLE.read, using)
        assert.ok(included(tree, index, proof, using), `leaf ${index} of ${tree.size}`)
      }
    }
  })

  test('is valid for leaves around tile boundaries', () => {
    for (const tree of edgeTrees) {
      const { size } = tree
      for (const index of new Set([0, 1, 254, 255, 256, 257, 65_535, 65_536, size - 2, size - 1])) {
        if (index >= size) continue
        const proof = inclusionOf(index, size, WHOLE.read)
        assert.ok(included(tree, index, proof), `leaf ${index} of ${size}`)
        for (const forged of forgeries(proof)) assert.ok(!included(tree, index, forged))
      }
    }
  })

  test('is invalid with any hash altered, dropped or added', () => {
    for (const tree of FEW) {
      for (let index = 0; index < tree.size; index++) {
        const proof = inclusionOf(index, tree.size, WHOLE.read)
        assert.ok(included(tree, index, proof))
        for (const forged of forgeries(proof)) assert.ok(!included(tree, index, forged))
      }
    }
  })

  test('is invalid for any other leaf, index, size or root', () => {
    const sizes = fc.integer({ min: 2, max: FEW_MAX })
    const cases = sizes.chain((size) => fc.tuple(fc.constant(size), fc.nat(size - 1), fc.nat(60), fc.nat(60)))
    fc.assert(
      fc.property(cases, ([size, index, other, otherSize]) => {
        const proof = inclusionOf(index, size, WHOLE.read)
        const root = FEW[size]?.root as Hash
        const claim = { leaf: leafOf(index), index, size, root }
        assert.ok(isIncluded(hasher, claim, proof))
        const isTrue = (changed: object): boolean => isIncluded(hasher, { ...claim, ...changed }, proof)
        if (other !== index) assert.ok(!isTrue({ index: other }) && !isTrue({ leaf: leafOf(other) }))
        assert.ok(!isTrue({ root: hasher.empty }) && !isTrue({ leaf: root }))
        // A proof may be valid for another size with this root, when the path is the same.
        const sibling = FEW[otherSize]?.root
        if (otherSize !== size && sibling !== undefined)
          assert.ok(!isTrue({ size: otherSize, root: sibling }))
      }),
    )
  })

  test('is invalid for a smaller or larger tree, even with the root of that tree', () => {
    const [two, four] = [TREES[2] as Tree, TREES[4] as Tree]
    assert.ok(!included({ size: 4, root: two.root }, 0, inclusionOf(0, 2, WHOLE.read)))
    assert.ok(!included({ size: 2, root: four.root }, 0, inclusionOf(0, 4, WHOLE.read)))
    // One hash too many: a root above the root.
    const above = { size: 2, root: hasher.node(leafOf(9), two.root) }
    assert.ok(!included(above, 0, [...inclusionOf(0, 2, WHOLE.read), leafOf(9)]))
  })

  test('is neither made nor valid for a leaf outside the tree', () => {
    const strange = [
      [0, 0],
      [3, 3],
      [-1, 3],
      [0.5, 3],
      [0, 2 ** 53],
      [Number.NaN, 3],
      [0, Number.POSITIVE_INFINITY],
    ] as const
    for (const [index, size] of strange) {
      assert.equal(inclusionProof(hasher, index, size, WHOLE.read), undefined)
      assert.equal(tilesOfInclusion(index, size), undefined)
      assert.ok(!isIncluded(hasher, { leaf: leafOf(0), index, size, root: leafOf(0) }, []))
    }
  })
})

suite('a consistency proof', () => {
  test('is valid between all small sizes, and those around a tile boundary', () => {
    const using = rememberingHasher()
    for (const later of PROVEN) {
      for (const earlier of PROVEN.slice(1)) {
        if (earlier.size > later.size) break
        const proof = consistencyOf(earlier.size, later.size, WHOLE.read, using)
        assert.ok(isConsistent(using, earlier, later, proof), `${earlier.size} to ${later.size}`)
      }
    }
  })

  test('is valid between sizes around tile boundaries', () => {
    for (const later of edgeTrees) {
      for (const earlier of edgeTrees) {
        if (earlier.size > later.size) continue
        const proof = consistencyOf(earlier.size, later.size, WHOLE.read)
        assert.ok(isConsistent(hasher, earlier, later, proof), `${earlier.size} to ${later.size}`)
        for (const forged of forgeries(proof)) assert.ok(!isConsistent(hasher, earlier, later, forged))
      }
    }
  })

  test('is invalid with any hash altered, dropped or added, or another root', () => {
    for (const later of FEW) {
      for (const earlier of FEW.slice(1, later.size + 1)) {
        const proof = consistencyOf(earlier.size, later.size, WHOLE.read)
        assert.ok(isConsistent(hasher, earlier, later, proof))
        const other = { root: hasher.empty }
        assert.ok(!isConsistent(hasher, { ...earlier, ...other }, later, proof))
        assert.ok(!isConsistent(hasher, earlier, { ...later, ...other }, proof))
        for (const forged of forgeries(proof)) assert.ok(!isConsistent(hasher, earlier, later, forged))
      }
    }
  })

  test('is invalid up to a smaller or larger tree, even with the root of that tree', () => {
    const [one, two, four] = [TREES[1] as Tree, TREES[2] as Tree, TREES[4] as Tree]
    const [short, long] = [consistencyOf(1, 2, WHOLE.read), consistencyOf(1, 4, WHOLE.read)]
    assert.ok(!isConsistent(hasher, one, { size: 4, root: two.root }, short))
    assert.ok(!isConsistent(hasher, one, { size: 2, root: four.root }, long))
    const [lower, upper] = [3, 4].map((size) => {
      return { size, root: hasher.node(leafOf(9), TREES[size]?.root as Hash) }
    }) as [Tree, Tree]
    assert.ok(!isConsistent(hasher, lower, upper, [...consistencyOf(3, 4, WHOLE.read), leafOf(9)]))
  })

  test('is empty between equal trees, and undefined from an empty or larger tree', () => {
    const [none, one, two] = TREES as [Tree, Tree, Tree]
    assert.deepEqual(consistencyProof(hasher, 2, 2, WHOLE.read), [])
    for (const [earlier, later] of [
      [none, none],
      [none, one],
      [two, one],
    ] as const) {
      assert.equal(consistencyProof(hasher, earlier.size, later.size, WHOLE.read), undefined)
      assert.equal(tilesOfConsistency(earlier.size, later.size), undefined)
      assert.ok(!isConsistent(hasher, earlier, later, []))
    }
    // Two roots of one size: a fork.
    assert.ok(!isConsistent(hasher, one, { size: 1, root: two.root }, []))
  })
})

suite('the tiles that a proof needs', () => {
  const sizes = fc.integer({ min: 1, max: 66_000 })

  test('are the tiles that making it reads, each once', () => {
    const cases = sizes.chain((size) => fc.tuple(fc.constant(size), fc.integer({ min: 1, max: size })))
    fc.assert(
      fc.property(cases, ([size, count]) => {
        const reading = (make: (read: ReadTile) => unknown): readonly Tile[] => {
          const tiles: Tile[] = []
          make((tile) => {
            tiles.push(tile)
            return WHOLE.read(tile)
          })
          for (const tile of tiles) {
            assert.ok(isTileOf(size, tile))
            assert.equal(tile.width, widthAt(size, tile.level, tile.index))
          }
          return tiles
        }
        assert.deepEqual(
          reading((read) => inclusionProof(hasher, count - 1, size, read)),
          tilesOfInclusion(count - 1, size),
        )
        assert.deepEqual(
          reading((read) => consistencyProof(hasher, count, size, read)),
          tilesOfConsistency(count, size),
        )
        assert.deepEqual(
          reading((read) => frontierAt(hasher, size, read)),
          tilesOfFrontier(size),
        )
      }),
      { numRuns: 50 },
    )
  })

  test('break an invariant when they have another length', () => {
    assert.throws(
      () => inclusionProof(hasher, 0, 3, () => new Uint8Array(95)),
      /tile 0\/0 has 3 hashes and 95/,
    )
  })
})
