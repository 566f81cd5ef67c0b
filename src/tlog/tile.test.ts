import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { tilesOf } from '../../test/tlog/bundle.ts'
import * as fc from 'fast-check'
import {
  formatBundlePath,
  formatTile,
  formatTilePath,
  isBundleOf,
  isTileOf,
  parseBundlePath,
  parseTile,
  parseTilePath,
} from './tile.ts'

const places = fc
  .tuple(fc.oneof(fc.nat(2_000), fc.maxSafeNat()), fc.integer({ min: 1, max: 256 }))
  .map(([index, width]) => ({ index, width }))

suite('the path of a tile', () => {
  const table: readonly (readonly [path: string, level: number, index: number, width: number])[] = [
    ['tile/0/000', 0, 0, 256],
    ['tile/0/005', 0, 5, 256],
    ['tile/0/273.p/112', 0, 273, 112],
    ['tile/1/x001/000', 1, 1000, 256],
    ['tile/0/x001/x234/067', 0, 1_234_067, 256],
    ['tile/0/x001/x234/067.p/255', 0, 1_234_067, 255],
    ['tile/63/000.p/1', 63, 0, 1],
    ['tile/0/x009/x007/x199/x254/x740/991', 0, 2 ** 53 - 1, 256],
  ]
  for (const [path, level, index, width] of table) {
    test(`is ${path}`, () => {
      assert.equal(formatTilePath({ level, index, width }), path)
      assert.deepEqual(parseTilePath(path), { level, index, width })
    })
  }

  const refused = [
    '',
    'tile',
    'tile/0',
    'tile/0/',
    'tile/0/0',
    'tile/0/00',
    'tile/0/0000',
    'tile/0/1000',
    'tile/0/x001',
    'tile/0/x001/',
    'tile/0/001/000',
    'tile/0/x000/001',
    'tile/0/X001/000',
    'tile/0/x001/x000',
    'tile/0/x1/000',
    'tile/0/x009/x007/x199/x254/x740/992',
    'tile/0/x001/x000/x000/x000/x000/x000/000',
    'tile/00/000',
    'tile/01/000',
    'tile/64/000',
    'tile/100/000',
    'tile/-1/000',
    'tile/+1/000',
    'tile/0/-01',
    'tile/0/000.p/0',
    'tile/0/000.p/01',
    'tile/0/000.p/256',
    'tile/0/000.p/999',
    'tile/0/000.p/1000',
    'tile/0/000.p/',
    'tile/0/000.p/1/',
    'tile/0/000.p',
    'tile/0/000p/1',
    'tile/0/000\n',
    'tile/0/000.p/1\n',
    ' tile/0/000',
    '/tile/0/000',
    'tile/0/٠٠٠',
    'tile/entries/000',
    'tile/data/000',
    'tile/0//000',
    'tile/0/../000',
  ]
  for (const path of refused) {
    test(`is never ${JSON.stringify(path)}`, () => assert.equal(parseTilePath(path), undefined))
  }

  test('is parsed to the tile that was formatted, and for a bundle too', () => {
    fc.assert(
      fc.property(places, fc.nat(63), (place, level) => {
        assert.deepEqual(parseTilePath(formatTilePath({ level, ...place })), { level, ...place })
        assert.deepEqual(parseBundlePath(formatBundlePath(place)), place)
        assert.equal(parseTilePath(formatBundlePath(place)), undefined)
        assert.equal(parseBundlePath(formatTilePath({ level, ...place })), undefined)
      }),
    )
  })

  test('has one accepted form only', () => {
    const texts = fc.stringMatching(/^tile\/(0|1|63|entries)\/(x\d{3}\/){0,3}\d{3}(\.p\/\d{1,3})?$/)
    fc.assert(
      fc.property(texts, (text) => {
        const [tile, bundle] = [parseTilePath(text), parseBundlePath(text)]
        if (tile !== undefined) assert.equal(formatTilePath(tile), text)
        if (bundle !== undefined) assert.equal(formatBundlePath(bundle), text)
      }),
      { numRuns: 1_000 },
    )
  })
})

suite('the tiles of a size', () => {
  test('are none in an empty tree', () => assert.deepEqual([...tilesOf(0)], []))

  test('are full tiles and at most one partial tile at each level', () => {
    assert.deepEqual([...tilesOf(255)].map(formatTilePath), ['tile/0/000.p/255'])
    assert.deepEqual([...tilesOf(256)].map(formatTilePath), ['tile/0/000', 'tile/1/000.p/1'])
    assert.deepEqual([...tilesOf(257)].map(formatTilePath), [
      'tile/0/000',
      'tile/0/001.p/1',
      'tile/1/000.p/1',
    ])
    assert.equal([...tilesOf(65_536)].length, 256 + 1 + 1)
  })

  test('are served at every width from one hash up to their own', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 70_000 }), (size) => {
        for (const tile of tilesOf(size)) {
          assert.ok(isTileOf(size, tile))
          assert.ok(isTileOf(size, { ...tile, width: 1 }))
          assert.ok(!isTileOf(size, { ...tile, width: 0 }))
          assert.ok(!isTileOf(size, { ...tile, width: tile.width + 1 }))
          assert.ok(!isTileOf(size, { ...tile, level: tile.level + 3, width: 1 }))
          if (tile.level === 0) assert.ok(isBundleOf(size, { index: tile.index, width: tile.width }))
        }
        assert.ok(!isTileOf(size, { level: 0, index: Math.ceil(size / 256), width: 1 }))
        assert.ok(!isTileOf(size, { level: 63, index: 0, width: 1 }))
      }),
      { numRuns: 20 },
    )
  })
})

suite('the bytes of a tile', () => {
  const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })
  test('are its hashes, concatenated', () => {
    fc.assert(
      fc.property(fc.array(hash, { minLength: 1, maxLength: 256 }), (hashes) => {
        const bytes = formatTile(hashes)
        assert.equal(bytes.length, hashes.length * 32)
        assert.deepEqual(parseTile(bytes, hashes.length), hashes)
        assert.equal(parseTile(bytes, hashes.length + 1), undefined)
        assert.equal(parseTile(bytes.subarray(1), hashes.length), undefined)
      }),
    )
  })
})
