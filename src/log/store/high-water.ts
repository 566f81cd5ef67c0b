import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { assert } from '../../protocol/brand.ts'
import { renameDurably } from './durable-rename.ts'
import type { FormerLog } from './reader.ts'
import { StoreError } from './store.ts'

/**
 * The newest checkpoint that a data directory's log has shown, with the id of that log and the logs that it goes on
 * from, so that a copy of one of those is known for what it is.
 */
export type HighWater = Readonly<{
  log: string
  checkpoint: string
  former: readonly Pick<FormerLog, 'id' | 'size'>[]
}>

/**
 * The high-water mark: a file beside the store that holds the newest checkpoint, so that a store put back from an
 * older copy, cut short or exchanged is noticed. It is written after each commit and never waits for the disk: after
 * a loss of power it may be behind the store, never ahead of it.
 */
export type HighWaterMark = Disposable &
  Readonly<{
    write(mark: HighWater): void
    /** Makes what was written durable. */
    sync(): void
  }>

export const HIGH_WATER_FILE = 'high-water'

/** Bytes of each of the file's two places, which are written in turns: a torn write spoils the older mark only. */
const PLACE_BYTES = 4_096
const PLACES = [0, PLACE_BYTES] as const
const CRC_BYTES = 4

/** Former logs that a mark names, the newest ones: more would not fit its place. */
const FORMER_MAX = 16
/** Times that the file is read before it holds no mark: its writer may be at one place and then at the other. */
const READS_MAX = 3

/** The mark of a data directory, null when nothing has been marked. Throws a StoreError when its file holds none. */
export function readHighWater(dataDirectory: string): HighWater | null {
  const path = join(dataDirectory, HIGH_WATER_FILE)
  if (!existsSync(path)) return null
  for (let reads = 0; reads < READS_MAX; reads += 1) {
    const newest = newestOf(path)
    if (newest !== undefined) return newest.mark
  }
  throw new StoreError(`${path} holds no high-water mark: it was changed by other hands`)
}

/** Opens the mark of a data directory for the log's one writer; there must be one (`markHighWater`). */
export function openHighWater(dataDirectory: string): HighWaterMark {
  const path = join(dataDirectory, HIGH_WATER_FILE)
  const file = openSync(path, 'r+')
  let turn = newestOf(path)?.turn ?? 0
  return {
    write(mark) {
      turn += 1
      writeSync(file, formatPlace({ turn, mark }), 0, PLACE_BYTES, PLACES[turn % 2])
    },
    sync: () => fsyncSync(file),
    [Symbol.dispose]: () => closeSync(file),
  }
}

/** Writes a mark and waits until it is on the disk. */
export function markHighWater(dataDirectory: string, mark: HighWater): void {
  const path = join(dataDirectory, HIGH_WATER_FILE)
  if (!existsSync(path)) return create(path, mark)
  using open = openHighWater(dataDirectory)
  open.write(mark)
  return open.sync()
}

/**
 * Makes the file with its first mark. It has its name when it is whole: one that holds no mark was changed by other
 * hands. Both places are filled, so that a disk that is full later has room for every other mark.
 */
function create(path: string, mark: HighWater): void {
  const making = `${path}.making`
  writeFileSync(making, Buffer.concat([formatPlace({ turn: 0, mark }), formatPlace({ turn: 1, mark })]), {
    mode: 0o600,
  })
  renameDurably(making, path)
}

type Placed = Readonly<{ turn: number; mark: HighWater }>

/** A place is its CRC-32, then JSON of the turn and the mark, then zeros. */
function formatPlace({ turn, mark }: Placed): Uint8Array {
  const place = Buffer.alloc(PLACE_BYTES)
  const { log, checkpoint } = mark
  const former = mark.former.slice(-FORMER_MAX).map(({ id, size }) => ({ id, size }))
  const json = Buffer.from(JSON.stringify({ turn, log, checkpoint, former }))
  assert(json.length <= PLACE_BYTES - CRC_BYTES, `a mark has ${json.length} bytes`)
  place.set(json, CRC_BYTES)
  place.writeUInt32LE(crc32(place.subarray(CRC_BYTES)))
  return place
}

function newestOf(path: string): Placed | undefined {
  const bytes = readFileSync(path)
  const places = PLACES.map((start) => parsePlace(bytes.subarray(start, start + PLACE_BYTES)))
  return places.filter((placed) => placed !== undefined).toSorted((a, b) => b.turn - a.turn)[0]
}

function parsePlace(place: Buffer): Placed | undefined {
  if (place.length < PLACE_BYTES || place.readUInt32LE() !== crc32(place.subarray(CRC_BYTES)))
    return undefined
  const end = place.indexOf(0, CRC_BYTES)
  try {
    return placedOf(JSON.parse(place.toString('utf8', CRC_BYTES, end < 0 ? PLACE_BYTES : end)))
  } catch {
    // The sum of whoever wrote it is right, and it is no mark.
    return undefined
  }
}

function placedOf(json: unknown): Placed | undefined {
  if (typeof json !== 'object' || json === null) return undefined
  if (!('turn' in json && 'log' in json && 'checkpoint' in json && 'former' in json)) return undefined
  const { turn, log, checkpoint, former } = json
  if (typeof turn !== 'number' || typeof log !== 'string' || typeof checkpoint !== 'string') return undefined
  if (!Array.isArray(former) || !former.every(isFormer)) return undefined
  return { turn, mark: { log, checkpoint, former } }
}

function isFormer(json: unknown): json is HighWater['former'][number] {
  if (typeof json !== 'object' || json === null || !('id' in json && 'size' in json)) return false
  return typeof json.id === 'string' && typeof json.size === 'number'
}
