import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import type { Found } from '../http/router.ts'

const SEQ = /^[1-9]\d{0,15}(?=\.|$)/
const CURSOR = /^[1-9]\d{0,15}$/

/** Paths of the log's events, whose `after` is a seq: those of the API and of the pages. */
export const EVENT_PATHS: ReadonlySet<string> = new Set([
  ENDPOINT_PATHS.events,
  '/events',
  '/events.json',
  '/events.csv',
  '/events.metadata.json',
])

/** Least head at which a request can be answered in full; undefined when the request names no seq. */
export function neededSeq({ route, segments }: Found, rawQuery: string): number | undefined {
  const { seq, tile, level } = segments
  if (seq !== undefined) return wholeSeq(SEQ.exec(seq)?.[0])
  if (EVENT_PATHS.has(route.path)) {
    const after = new URLSearchParams(rawQuery).get('after') ?? ''
    return wholeSeq(CURSOR.exec(after)?.[0])
  }
  if (route.path === ENDPOINT_PATHS.logTile) return lastSeqUnder(Number(level), tile)
  if (route.path === ENDPOINT_PATHS.logEntries) return lastSeqUnder(0, tile)
  return undefined
}

/** Hashes of a full tile. */
const TILE_WIDTH = 256
/** Index of a tile in groups of three digits, and the width of a partial one. */
const TILE = /^((?:x\d{3}\/){0,5}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/

/** Seq of the last event under a tile or an entry bundle; undefined for an address of none. */
function lastSeqUnder(level: number, tile = ''): number | undefined {
  const [, groups, partial] = TILE.exec(tile) ?? []
  if (groups === undefined) return undefined
  const index = Number(groups.replaceAll(/[x/]/g, ''))
  const width = partial === undefined ? TILE_WIDTH : Number(partial)
  const last = (index * TILE_WIDTH + width) * TILE_WIDTH ** level
  return Number.isSafeInteger(last) ? last : undefined
}

function wholeSeq(text: string | undefined): number | undefined {
  const seq = Number(text)
  return Number.isSafeInteger(seq) ? seq : undefined
}
