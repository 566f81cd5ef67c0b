import { assert } from '../../protocol/brand.ts'
import { locked } from './allowance-lock.ts'
import { find, hashKey, insert, openTable, remove, type SharedTable, tableBytes } from './allowance-table.ts'

/** Limits of concurrent slots. */
export type CallerSlotLimits = Readonly<{ perCaller: number; perNode: number }>

/** Memory and settings of the slots, structured-cloneable for other threads. */
export type CallerSlotsMemory = Readonly<{
  limits: CallerSlotLimits
  secret: string
  buffer: SharedArrayBuffer
}>

/** A slot of a stream or a connection. Further calls of `release` do nothing. */
export type CallerSlot = Readonly<{ release: () => void }>

/** A slot, or the limit that is reached. */
type TakenSlot = Readonly<{ ok: true; slot: CallerSlot }> | Readonly<{ ok: false; full: 'caller' | 'node' }>

/** One thread's view of the slots of a node. */
export type CallerSlots = Readonly<{
  limits: CallerSlotLimits
  /** Takes a slot for this caller, which must be released. */
  take: (key: string) => TakenSlot
  /** Number of slots taken on the node. */
  open: () => number
}>

/** Streams that one address may have open. */
export const STREAMS_PER_CALLER = 10
/** Connections that one address may have open. */
export const CONNECTIONS_PER_CALLER = 256

const HEADER_BYTES = 8
const LOCK = 0
const OPEN = 1

/** Allocates the memory of the slots. `secret` must be random for each run. */
export function allocateCallerSlots(limits: CallerSlotLimits, secret: string): CallerSlotsMemory {
  const { perCaller, perNode } = limits
  assert(
    Number.isInteger(perCaller) && perCaller > 0 && perCaller <= 65_535,
    `${perCaller} slots of a caller`,
  )
  assert(Number.isInteger(perNode) && perNode > 0, `${perNode} slots of a node`)
  const bytes = HEADER_BYTES + tableBytes(perNode) + 2 * (perNode + 1)
  return { limits, secret, buffer: new SharedArrayBuffer(bytes) }
}

/** Opens the slots in this thread. All threads with the same memory share one count. */
export function openCallerSlots({ limits, secret, buffer }: CallerSlotsMemory): CallerSlots {
  const { perCaller, perNode } = limits
  const header = new Int32Array(buffer, 0, 2)
  // Every caller in the table has a slot, so the node's limit is the largest size needed.
  const table = openTable(buffer, HEADER_BYTES, perNode)
  const counts = new Uint16Array(buffer, HEADER_BYTES + tableBytes(perNode), perNode + 1)
  const openNow = (): number => header[OPEN] ?? 0

  function take(key: string): TakenSlot {
    const keyHash = hashKey(secret, key)
    return locked(header, LOCK, () => {
      const known = find(table, keyHash)
      // The caller's own limit comes first, because the caller can act on it.
      if (known !== 0 && (counts[known] ?? 0) >= perCaller) return { ok: false, full: 'caller' }
      if (openNow() >= perNode) return { ok: false, full: 'node' }
      const entry = known === 0 ? insert(table, keyHash) : known
      counts[entry] = (counts[entry] ?? 0) + 1
      header[OPEN] = openNow() + 1
      return { ok: true, slot: slotOf(entry) }
    })
  }

  /** An entry keeps its number as long as one of its slots is taken. */
  function slotOf(entry: number): CallerSlot {
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

function giveBack(table: SharedTable, counts: Uint16Array, entry: number): void {
  const count = (counts[entry] ?? 0) - 1
  counts[entry] = count
  if (count === 0) remove(table, entry)
}
