import { type Hash, HASH_BYTES, hashIn } from './hash.ts'

/** Hashes of a full tile, and entries of a full bundle. */
export const TILE_WIDTH = 256
/** Highest level that has a path. */
const TILE_LEVEL_MAX = 63

/**
 * Coordinates of a tile (C2SP tlog-tiles): `level` 0 to 63, `index` from 0, and `width`, its number of hashes. A full
 * tile has 256, a partial one 1 to 255. Hash i of tile n at level l is the root over the leaves [(256n + i)·256^l,
 * (256n + i + 1)·256^l).
 */
export type Tile = Readonly<{ level: number; index: number; width: number }>

/** Coordinates of an entry bundle: the entries under the level 0 tile of the same index and width. */
export type Bundle = Readonly<{ index: number; width: number }>

/** Number of final hashes at a level of the tree of this size: floor(size / 256^level). Exact up to 2^53−1. */
export function hashesAt(size: number, level: number): number {
  return Math.floor(size / TILE_WIDTH ** level)
}

/** Number of hashes in a tile of the tree of this size, 0 to 256; 0 when there is no such tile. */
export function widthAt(size: number, level: number, index: number): number {
  return Math.max(0, Math.min(TILE_WIDTH, hashesAt(size, level) - index * TILE_WIDTH))
}

/**
 * Whether a log of this size serves the tile. Hashes in a tile are final, so a partial tile is served at every width up
 * to its current one.
 */
export function isTileOf(size: number, { level, index, width }: Tile): boolean {
  return width >= 1 && width <= widthAt(size, level, index)
}

/** Whether a log of this size serves the bundle. */
export function isBundleOf(size: number, bundle: Bundle): boolean {
  return isTileOf(size, { level: 0, ...bundle })
}

/** Path below the log's prefix, such as `tile/0/x001/x234/067.p/5`. */
export function formatTilePath({ level, index, width }: Tile): string {
  return `tile/${level}/${formatPlace(index, width)}`
}

/** Path below the log's prefix, such as `tile/entries/x001/x234/067.p/5`. */
export function formatBundlePath({ index, width }: Bundle): string {
  return `tile/entries/${formatPlace(index, width)}`
}

const TILE_PATH = /^tile\/(0|[1-9]\d?)\/([^]*)$/
const BUNDLE_PATH = /^tile\/entries\/([^]*)$/

/** Inverse of `formatTilePath`; undefined for any other text. */
export function parseTilePath(path: string): Tile | undefined {
  const [, level = '', rest] = TILE_PATH.exec(path) ?? []
  const place = parsePlace(rest)
  if (place === undefined || Number(level) > TILE_LEVEL_MAX) return undefined
  return { level: Number(level), ...place }
}

/** Inverse of `formatBundlePath`; undefined for any other text. */
export function parseBundlePath(path: string): Bundle | undefined {
  return parsePlace(BUNDLE_PATH.exec(path)?.[1])
}

// Groups of three digits, all but the last after an x. The first of several is not 000. Six groups hold 2^53.
const PLACE = /^((?:x(?!000)\d{3}\/(?:x\d{3}\/){0,4})?\d{3})(?:\.p\/([1-9]\d{0,2}))?$/

function parsePlace(text: string | undefined): Bundle | undefined {
  const [, groups, partial] = PLACE.exec(text ?? '') ?? []
  if (groups === undefined) return undefined
  const index = Number(groups.replaceAll(/[x/]/g, ''))
  const width = partial === undefined ? TILE_WIDTH : Number(partial)
  const isPlace = Number.isSafeInteger(index) && (partial === undefined || width < TILE_WIDTH)
  return isPlace ? { index, width } : undefined
}

function formatPlace(index: number, width: number): string {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? []
  const path = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/')
  return width === TILE_WIDTH ? path : `${path}.p/${width}`
}

/** Bytes of a tile: its hashes concatenated. */
export function formatTile(hashes: readonly Hash[]): Uint8Array {
  const bytes = new Uint8Array(hashes.length * HASH_BYTES)
  for (const [index, hash] of hashes.entries()) bytes.set(hash, index * HASH_BYTES)
  return bytes
}

/** Splits the bytes of a tile of this width into hashes; undefined for another length. */
export function parseTile(bytes: Uint8Array, width: number): readonly Hash[] | undefined {
  if (bytes.length !== width * HASH_BYTES) return undefined
  return Array.from({ length: width }, (_, index) => hashIn(bytes, index))
}
