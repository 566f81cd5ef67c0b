import { assert } from '../../protocol/brand.ts'
import { SECOND_MS } from '../../protocol/moment.ts'
import { locked } from './allowance-lock.ts'
import { hashKey } from './allowance-table.ts'

/** Limits of exports in progress. */
type ExportPlaceLimits = Readonly<{ perCaller: number; perNode: number }>

/** Memory and settings of the places, structured-cloneable for other threads. */
export type ExportPlacesMemory = Readonly<{
  limits: ExportPlaceLimits
  secret: string
  buffer: SharedArrayBuffer
}>

/** The place of one export. Further calls of `release` do nothing. */
export type ExportPlace = Readonly<{
  /** Reports when the export is expected to end, in milliseconds of the monotonic clock. */
  expectEnd(atMs: number): void
  release(): void
}>

/** A place; or the reached limit, and when the first of its exports is expected to end. */
type TakenPlace =
  | Readonly<{ ok: true; place: ExportPlace }>
  | Readonly<{ ok: false; full: 'caller' | 'node'; freeAtMs: number }>

/** One thread's view of the places of a node. */
export type ExportPlaces = Readonly<{
  limits: ExportPlaceLimits
  /** Takes a place for this caller, which must be released. */
  take(caller: string, endsAtMs: number): TakenPlace
  /** Number of exports in progress on the node. */
  open(): number
}>

/** Exports that one address may have in progress. */
export const EXPORTS_PER_CALLER = 2
/** Most exports in progress on one node. Each holds at most one write of 64 KiB. */
export const EXPORTS_PER_NODE = 512

/** Words before the entries: the lock. */
const HEADER_WORDS = 1
const ENTRY_WORDS = 3
/** Words of an entry: a hash of the caller in two (0 and 0 when the entry is free), the expected end in seconds. */
const LOW = 0
const HIGH = 1
const ENDS_AT = 2

/** Allocates the memory of the places. `secret` must be random for each run. */
export function allocateExportPlaces(limits: ExportPlaceLimits, secret: string): ExportPlacesMemory {
  const { perCaller, perNode } = limits
  assert(perCaller >= 1 && perNode >= perCaller, `${perCaller} of ${perNode} exports of a caller`)
  const words = HEADER_WORDS + perNode * ENTRY_WORDS
  return { limits, secret, buffer: new SharedArrayBuffer(words * Int32Array.BYTES_PER_ELEMENT) }
}

/** Opens the places in this thread. All threads with the same memory share one list, which is short enough to scan. */
export function openExportPlaces({ limits, secret, buffer }: ExportPlacesMemory): ExportPlaces {
  const words = new Int32Array(buffer)
  const entries = Array.from({ length: limits.perNode }, (_, index) => HEADER_WORDS + index * ENTRY_WORDS)
  const word = (at: number): number => words[at] ?? 0
  const isFree = (entry: number): boolean => word(entry + LOW) === 0 && word(entry + HIGH) === 0
  const taken = (): readonly number[] => entries.filter((entry) => !isFree(entry))
  const firstEnd = (of: readonly number[]): number =>
    Math.min(...of.map((entry) => Atomics.load(words, entry + ENDS_AT))) * SECOND_MS

  function placeOf(entry: number): ExportPlace {
    let held = true
    return {
      expectEnd(atMs) {
        if (held) Atomics.store(words, entry + ENDS_AT, Math.ceil(atMs / SECOND_MS))
      },
      release() {
        if (!held) return
        held = false
        locked(words, 0, () => words.fill(0, entry, entry + ENTRY_WORDS))
      },
    }
  }

  return {
    limits,
    take(caller, endsAtMs) {
      const hash = hashKey(secret, caller)
      // Never 0 and 0, which marks a free entry.
      const [low, high] = [hash.low | 1, hash.high | 0]
      return locked(words, 0, () => {
        const all = taken()
        const own = all.filter((entry) => word(entry + LOW) === low && word(entry + HIGH) === high)
        // The caller's own limit comes first, because the caller can act on it.
        if (own.length >= limits.perCaller) return { ok: false, full: 'caller', freeAtMs: firstEnd(own) }
        const free = entries.find(isFree)
        if (free === undefined) return { ok: false, full: 'node', freeAtMs: firstEnd(all) }
        words.set([low, high, Math.ceil(endsAtMs / SECOND_MS)], free)
        return { ok: true, place: placeOf(free) }
      })
    },
    open: () => taken().length,
  }
}
