import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { NODE_PRIMITIVES } from '../../command/terminal/node-primitives.ts'
import { type Hash, treeHasher } from '../../tlog/hash.ts'
import { formatTile, formatTilePath, parseTilePath, TILE_WIDTH } from '../../tlog/tile.ts'
import { firstDifference } from './first-difference.ts'
import type { Source } from '../reading/source.ts'
import { openReplayTree, type ReplayTree } from './replay-tree.ts'

const hasher = treeHasher(NODE_PRIMITIVES.sha256)
const leaf = (index: number, changed: number | null): Uint8Array =>
  Buffer.from(`${index}${index === changed ? ' otherwise' : ''}`)

/** Tiles of a tree, each level computed from the one below without the code under test. */
function tilesOf(size: number): Source {
  const levels: Hash[][] = [Array.from({ length: size }, (_, index) => hasher.leaf(leaf(index, null)))]
  for (let below = levels[0] ?? []; below.length >= TILE_WIDTH;) {
    const level: Hash[] = []
    for (let at = 0; at + TILE_WIDTH <= below.length; at += TILE_WIDTH) {
      let hashes = below.slice(at, at + TILE_WIDTH)
      while (hashes.length > 1) {
        hashes = hashes.flatMap((hash, index) =>
          index % 2 === 0 ? hasher.node(hash, hashes[index + 1] ?? hash) : [],
        )
      }
      level.push(...hashes)
    }
    levels.push(level)
    below = level
  }
  return {
    is: 'service',
    months: async () => [],
    pause: async () => undefined,
    async read(path) {
      const tile = parseTilePath(path.replace(/^log\//, ''))
      if (tile === undefined) return undefined
      const { level, index, width } = tile
      return formatTile((levels[level] ?? []).slice(index * TILE_WIDTH, index * TILE_WIDTH + width))
    },
  }
}

function treeOf(size: number, changed: number | null): ReplayTree {
  const tree = openReplayTree(hasher, [size])
  for (let index = 0; index < size; index++) tree.add(leaf(index, changed))
  return tree
}

suite('the first entry that differs from the signed one', () => {
  for (const size of [1, 2, 255, 256, 257, 512, 700, 66_000]) {
    test(`is found among ${size}, within 256 entries`, async () => {
      const source = tilesOf(size)
      for (const index of new Set(
        [0, 1, size >> 1, size - 2, size - 1].filter((at) => at >= 0 && at < size),
      )) {
        const found = await firstDifference(source, treeOf(size, index), size)
        assert.ok(found !== null && found.from <= index && index < found.to, `index ${index}`)
        assert.ok(found.to - found.from <= TILE_WIDTH, `${found.from} to ${found.to}`)
        if (index >= size - (size % TILE_WIDTH)) assert.deepEqual(found, { from: index, to: index + 1 })
      }
    })
  }

  test('is null when a tile of entries does not bear out the difference in the tile above it', async () => {
    const source = tilesOf(600)
    const above = formatTilePath({ level: 1, index: 0, width: 2 })
    const lying: Source = {
      ...source,
      async read(path) {
        const found = Uint8Array.from((await source.read(path)) ?? [])
        if (path === `log/${above}`) found[32] = (found[32] ?? 0) ^ 1
        return found
      },
    }
    const tree = openReplayTree(hasher, [300, 600])
    for (let index = 0; index < 600; index++) tree.add(leaf(index, null))
    assert.equal(await firstDifference(lying, tree, 600), null)
  })

  test('is null when the tiles agree with the entries, or are missing', async () => {
    assert.equal(await firstDifference(tilesOf(700), treeOf(700, null), 700), null)
    const none: Source = { ...tilesOf(700), read: async () => undefined }
    assert.equal(await firstDifference(none, treeOf(700, 3), 700), null)
  })
})
