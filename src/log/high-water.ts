import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { StoreError } from './store.ts'

/** The newest checkpoint that a data directory's log has shown, with the id of that log. */
export type HighWater = Readonly<{ log: string; checkpoint: string }>

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

/** The mark of a data directory, null when nothing has been marked. Throws a StoreError when its file holds none. */
export function readHighWater(dataDirectory: string): HighWater | null {
  const path = join(dataDirectory, HIGH_WATER_FILE)
  if (!existsSync(path)) return null
  const newest = newestOf(path)
  if (newest === undefined)
    throw new StoreError(`${path} holds no high-water mark: it was changed by other hands`)
  return newest.mark
}

/** Opens the mark of a data directory for the log's one writer. */
export function openHighWater(dataDirectory: string): HighWaterMark {
  const path = join(dataDirectory, HIGH_WATER_FILE)
  const file = openSync(path, existsSync(path) ? 'r+' : 'w+', 0o600)
  let turn = newestOf(path)?.turn ?? 0
  return {
    write(mark) {
      turn += 1
      writeSync(file, formatPlace(turn, mark), 0, PLACE_BYTES, PLACES[turn % 2])
    },
    sync: () => fsyncSync(file),
    [Symbol.dispose]: () => closeSync(file),
  }
}

/** Writes a mark and waits until it is on the disk. */
export function markHighWater(dataDirectory: string, mark: HighWater): void {
  using open = openHighWater(dataDirectory)
  open.write(mark)
  open.sync()
}

type Placed = Readonly<{ turn: number; mark: HighWater }>

/** A place is its CRC-32, then JSON of the turn and the mark, then zeros. */
function formatPlace(turn: number, mark: HighWater): Uint8Array {
  const place = Buffer.alloc(PLACE_BYTES)
  const json = Buffer.from(JSON.stringify({ turn, ...mark }))
  if (json.length > PLACE_BYTES - 4)
    throw new RangeError(`a high-water mark has at most ${PLACE_BYTES} bytes`)
  place.set(json, 4)
  place.writeUInt32LE(crc32(place.subarray(4)))
  return place
}

function newestOf(path: string): Placed | undefined {
  const bytes = readFileSync(path)
  const places = PLACES.map((start) => parsePlace(bytes.subarray(start, start + PLACE_BYTES)))
  return places.filter((placed) => placed !== undefined).toSorted((a, b) => b.turn - a.turn)[0]
}

function parsePlace(place: Buffer): Placed | undefined {
  if (place.length < PLACE_BYTES || place.readUInt32LE() !== crc32(place.subarray(4))) return undefined
  const end = place.indexOf(0, 4)
  const { turn, log, checkpoint }: HighWater & { turn: number } = JSON.parse(
    place.toString('utf8', 4, end < 0 ? PLACE_BYTES : end),
  )
  return { turn, mark: { log, checkpoint } }
}
