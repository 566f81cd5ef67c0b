import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { assert } from '../../protocol/brand.ts'
import { writeDurably } from './durable-rename.ts'
import type { FormerLog } from './reader.ts'
import { StoreError } from './store.ts'

/**
 * Newest signed checkpoint of the log in a data directory. The ids of the log and of those that it continues identify a
 * restored copy of one of them. A mirror stores the checkpoint of its origin.
 */
export type HighWater = Readonly<{
  log: string
  checkpoint: string
  former: readonly Pick<FormerLog, 'id' | 'size'>[]
  /** Newest position in the shared books of a log that other machines carry; absent for a log of this node alone. */
  place?: number
}>

/**
 * High-water mark: a file beside the store with the newest checkpoint. At start it reveals a store that was cut,
 * replaced, or restored from an older copy. It is written after each commit without an fsync. So after a power loss it
 * may be behind the store, but never ahead.
 */
type HighWaterMark = Disposable &
  Readonly<{
    write(mark: HighWater): void
    /** Makes the written mark durable. */
    sync(): void
  }>

export const HIGH_WATER_FILE = 'high-water'

/**
 * Bytes of each of the file's two slots. They are written in turn, so that an interrupted write damages only the older
 * mark.
 */
const SLOT_BYTES = 4_096
const SLOTS = [0, SLOT_BYTES] as const
const CRC_BYTES = 4

/** Most former logs in a mark, the newest ones. More would not fit a slot. */
const FORMER_MAX = 16
/** Most attempts to read the file. A writer may change both slots while the file is read. */
const READS_MAX = 3

/** Reads the mark of a data directory; null without a file. Throws a StoreError when the file holds no mark. */
export function readHighWater(dataDirectory: string): HighWater | null {
  const path = join(dataDirectory, HIGH_WATER_FILE)
  if (!existsSync(path)) return null
  for (let reads = 0; reads < READS_MAX; reads += 1) {
    const newest = newestMark(path)
    if (newest !== undefined) return newest.mark
  }
  throw new StoreError(`${path} holds no high-water mark: something other than Daybook changed it`)
}

/** Opens the mark of a data directory for the log's only writer. The file must exist (`markHighWater` makes it). */
export function openHighWater(dataDirectory: string): HighWaterMark {
  const path = join(dataDirectory, HIGH_WATER_FILE)
  const file = openSync(path, 'r+')
  let turn = newestMark(path)?.turn ?? 0
  return {
    write(mark) {
      const next = turn + 1
      const written = writeSync(file, formatSlot({ turn: next, mark }), 0, SLOT_BYTES, SLOTS[next % 2])
      assert(written === SLOT_BYTES, `only ${written} bytes of the high-water mark were written`)
      // Repeats a failed write in the same slot, because the other slot has the only whole mark.
      turn = next
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
 * Creates the file with its first mark, and names it when it is complete. Writes both slots, so that later marks have
 * space even when the disk is full.
 */
function create(path: string, mark: HighWater): void {
  writeDurably(path, Buffer.concat([formatSlot({ turn: 0, mark }), formatSlot({ turn: 1, mark })]))
}

/** Mark and its number; the higher number is the newer one. */
type NumberedMark = Readonly<{ turn: number; mark: HighWater }>

/** Formats a slot: CRC-32, JSON of the turn and the mark, zeros. */
function formatSlot({ turn, mark }: NumberedMark): Uint8Array {
  const slot = Buffer.alloc(SLOT_BYTES)
  const { log, checkpoint, place } = mark
  const former = mark.former.slice(-FORMER_MAX).map(({ id, size }) => ({ id, size }))
  const json = Buffer.from(JSON.stringify({ turn, log, checkpoint, former, place }))
  assert(json.length <= SLOT_BYTES - CRC_BYTES, `a mark has ${json.length} bytes`)
  slot.set(json, CRC_BYTES)
  slot.writeUInt32LE(crc32(slot.subarray(CRC_BYTES)))
  return slot
}

function newestMark(path: string): NumberedMark | undefined {
  const bytes = readFileSync(path)
  const marks = SLOTS.map((start) => parseSlot(bytes.subarray(start, start + SLOT_BYTES)))
  return marks.filter((mark) => mark !== undefined).toSorted((a, b) => b.turn - a.turn)[0]
}

function parseSlot(slot: Buffer): NumberedMark | undefined {
  if (slot.length < SLOT_BYTES || slot.readUInt32LE() !== crc32(slot.subarray(CRC_BYTES))) return undefined
  const end = slot.indexOf(0, CRC_BYTES)
  try {
    return numberedMarkOf(JSON.parse(slot.toString('utf8', CRC_BYTES, end < 0 ? SLOT_BYTES : end)))
  } catch {
    // The CRC is right but the content is not JSON, so Daybook did not write it.
    return undefined
  }
}

function numberedMarkOf(json: unknown): NumberedMark | undefined {
  if (typeof json !== 'object' || json === null) return undefined
  if (!('turn' in json && 'log' in json && 'checkpoint' in json && 'former' in json)) return undefined
  const { turn, log, checkpoint, former } = json
  if (typeof turn !== 'number' || typeof log !== 'string' || typeof checkpoint !== 'string') return undefined
  if (!Array.isArray(former) || !former.every(isFormer)) return undefined
  const place = 'place' in json && typeof json.place === 'number' ? { place: json.place } : {}
  return { turn, mark: { log, checkpoint, former, ...place } }
}

function isFormer(json: unknown): json is HighWater['former'][number] {
  if (typeof json !== 'object' || json === null || !('id' in json && 'size' in json)) return false
  return typeof json.id === 'string' && typeof json.size === 'number'
}
