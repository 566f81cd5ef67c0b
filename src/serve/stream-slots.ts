import type { EventEmitter } from 'node:events'
import { assert } from '../protocol/brand.ts'
import { locked } from './allowance-lock.ts'
import type { Table } from './allowance-table.ts'
import { find, hashKey, insert, openTable, remove, tableBytes } from './allowance-table.ts'

/** How many streams may be open at once. */
export type StreamSlotLimits = Readonly<{ perCaller: number; perNode: number }>

/** What a thread needs to open the slots; may be handed from thread to thread. */
export type StreamSlotsMemory = Readonly<{
  limits: StreamSlotLimits
  secret: string
  buffer: SharedArrayBuffer
}>

/** One open stream. `release` may be called any number of times, and counts once. */
export type StreamSlot = Readonly<{ release: () => void }>

/** A slot, or whose limit is reached. */
export type TakenSlot =
  | Readonly<{ ok: true; slot: StreamSlot }>
  | Readonly<{ ok: false; full: 'caller' | 'node' }>

/** One thread's view of the streams open on a node. */
export type StreamSlots = Readonly<{
  limits: StreamSlotLimits
  /** Takes a slot for a stream of this caller; whoever takes it must release it. */
  take: (key: string) => TakenSlot
  /** Streams open on the node. */
  open: () => number
}>

/** Streams that one address may have open at once (spec, section 7). */
export const STREAMS_PER_CALLER = 10

const HEADER_BYTES = 8
const LOCK = 0
const OPEN = 1

/** Makes the memory of the slots, all of it at once; `secret` is random and of this process only. */
export function allocateStreamSlots(limits: StreamSlotLimits, secret: string): StreamSlotsMemory {
  const { perCaller, perNode } = limits
  assert(
    Number.isInteger(perCaller) && perCaller > 0 && perCaller <= 65_535,
    `${perCaller} streams of a caller`,
  )
  assert(Number.isInteger(perNode) && perNode > 0, `${perNode} streams of a node`)
  const bytes = HEADER_BYTES + tableBytes(perNode) + 2 * (perNode + 1)
  return { limits, secret, buffer: new SharedArrayBuffer(bytes) }
}

/** Opens the slots in this thread; all that open the same memory share one count. */
export function openStreamSlots({ limits, secret, buffer }: StreamSlotsMemory): StreamSlots {
  const { perCaller, perNode } = limits
  const header = new Int32Array(buffer, 0, 2)
  // Every caller in the table has a stream open, so a table as large as the node's limit is never too small.
  const table = openTable(buffer, HEADER_BYTES, perNode)
  const counts = new Uint16Array(buffer, HEADER_BYTES + tableBytes(perNode), perNode + 1)
  const openNow = (): number => header[OPEN] ?? 0

  function take(key: string): TakenSlot {
    const keyHash = hashKey(secret, key)
    return locked(header, LOCK, () => {
      const known = find(table, keyHash)
      // The caller's own limit first: it can do something about that one.
      if (known !== 0 && (counts[known] ?? 0) >= perCaller) return { ok: false, full: 'caller' }
      if (openNow() >= perNode) return { ok: false, full: 'node' }
      const entry = known === 0 ? insert(table, keyHash) : known
      counts[entry] = (counts[entry] ?? 0) + 1
      header[OPEN] = openNow() + 1
      return { ok: true, slot: slotOf(entry) }
    })
  }

  /** An entry keeps its number as long as one of its slots is held. */
  function slotOf(entry: number): StreamSlot {
    let held = true
    return {
      release() {
        if (!held) return
        held = false
        locked(header, LOCK, () => {
          giveBack(table, counts, entry)
          header[OPEN] = openNow() - 1
        })
      },
    }
  }

  return { limits, take, open: openNow }
}

/** Releases a slot as soon as its response has finished, failed or lost its peer, which may already be so. */
export function releaseWhenOver(
  response: EventEmitter & Readonly<{ destroyed: boolean; closed?: boolean; writableFinished: boolean }>,
  slot: StreamSlot,
): void {
  if (response.destroyed || response.closed === true || response.writableFinished) return slot.release()
  for (const over of ['close', 'finish', 'error']) response.once(over, slot.release)
}

function giveBack(table: Table, counts: Uint16Array, entry: number): void {
  const count = (counts[entry] ?? 0) - 1
  counts[entry] = count
  if (count === 0) remove(table, entry)
}
