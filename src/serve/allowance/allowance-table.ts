import { hash } from 'node:crypto'

/** 64 bits of a keyed hash of a caller's key, in two halves. */
export type KeyHash = Readonly<{ low: number; high: number }>

/**
 * Table of fixed size in shared memory, which maps hashed keys to entries 1 to `capacity` in order of last use. Zeroed
 * memory is an empty table. All functions below run under the owner's lock.
 */
export type SharedTable = Readonly<{
  capacity: number
  words: Int32Array
  buckets: Int32Array
  lows: Uint32Array
  highs: Uint32Array
  newer: Int32Array
  older: Int32Array
}>

const SIZE = 0
const USED = 1
const FREED = 2
const NEWEST = 3
const OLDEST = 4
const WORDS = 8

/** Bytes of a table of this capacity; a multiple of 8. */
export function tableBytes(capacity: number): number {
  return 4 * (WORDS + bucketsOf(capacity) + 4 * entriesOf(capacity))
}

/** Opens this thread's view of the table at `offset` (a multiple of 8) of a shared buffer. */
export function openTable(buffer: SharedArrayBuffer, offset: number, capacity: number): SharedTable {
  let at = offset
  function next<View>(make: (at: number, length: number) => View, length: number): View {
    const view = make(at, length)
    at += 4 * length
    return view
  }
  const signed = (from: number, length: number): Int32Array => new Int32Array(buffer, from, length)
  const unsigned = (from: number, length: number): Uint32Array => new Uint32Array(buffer, from, length)
  return {
    capacity,
    words: next(signed, WORDS),
    buckets: next(signed, bucketsOf(capacity)),
    lows: next(unsigned, entriesOf(capacity)),
    highs: next(unsigned, entriesOf(capacity)),
    newer: next(signed, entriesOf(capacity)),
    older: next(signed, entriesOf(capacity)),
  }
}

/**
 * Hashes a key with a secret of this run, so that nobody can cause collisions. SHA-256 is built in and costs a
 * microsecond a request.
 */
export function hashKey(secret: string, key: string): KeyHash {
  const digest = hash('sha256', secret + key, 'buffer')
  return { low: digest.readUInt32LE(0), high: digest.readUInt32LE(4) }
}

/** Number of entries in use. */
export function sizeOf(table: SharedTable): number {
  return table.words[SIZE] ?? 0
}

/** Least recently used entry; 0 if the table is empty. */
export function oldestOf(table: SharedTable): number {
  return table.words[OLDEST] ?? 0
}

/** Entry of a key; 0 if it has none. */
export function find(table: SharedTable, { low, high }: KeyHash): number {
  const mask = table.buckets.length - 1
  for (let bucket = low & mask; ; bucket = (bucket + 1) & mask) {
    const entry = table.buckets[bucket] ?? 0
    if (entry === 0 || (table.lows[entry] === low && table.highs[entry] === high)) return entry
  }
}

/** Makes the newest entry for a new key. The table must not be full. */
export function insert(table: SharedTable, { low, high }: KeyHash): number {
  const entry = takeFreeEntry(table)
  const mask = table.buckets.length - 1
  let bucket = low & mask
  while (table.buckets[bucket] !== 0) bucket = (bucket + 1) & mask
  table.buckets[bucket] = entry
  table.lows[entry] = low
  table.highs[entry] = high
  link(table, entry)
  table.words[SIZE] = sizeOf(table) + 1
  return entry
}

/** Makes an entry the newest. */
export function touch(table: SharedTable, entry: number): void {
  if (table.words[NEWEST] === entry) return
  unlink(table, entry)
  link(table, entry)
}

/** Removes an entry; a later key gets its number. */
export function remove(table: SharedTable, entry: number): void {
  const mask = table.buckets.length - 1
  let hole = (table.lows[entry] ?? 0) & mask
  while (table.buckets[hole] !== entry) hole = (hole + 1) & mask
  // Moves later entries into the hole unless their own bucket is after it, which avoids tombstones.
  for (let bucket = (hole + 1) & mask; table.buckets[bucket] !== 0; bucket = (bucket + 1) & mask) {
    const moved = table.buckets[bucket] ?? 0
    const home = (table.lows[moved] ?? 0) & mask
    if (((bucket - home) & mask) < ((bucket - hole) & mask)) continue
    table.buckets[hole] = moved
    hole = bucket
  }
  table.buckets[hole] = 0
  unlink(table, entry)
  table.newer[entry] = table.words[FREED] ?? 0
  table.words[FREED] = entry
  table.words[SIZE] = sizeOf(table) - 1
}

function takeFreeEntry(table: SharedTable): number {
  const freed = table.words[FREED] ?? 0
  if (freed !== 0) {
    table.words[FREED] = table.newer[freed] ?? 0
    return freed
  }
  const entry = (table.words[USED] ?? 0) + 1
  if (entry > table.capacity)
    throw new Error(`invariant broken: entry ${entry} of a table of ${table.capacity}`)
  table.words[USED] = entry
  return entry
}

function link(table: SharedTable, entry: number): void {
  const newest = table.words[NEWEST] ?? 0
  table.older[entry] = newest
  table.newer[entry] = 0
  if (newest === 0) table.words[OLDEST] = entry
  else table.newer[newest] = entry
  table.words[NEWEST] = entry
}

function unlink(table: SharedTable, entry: number): void {
  const newer = table.newer[entry] ?? 0
  const older = table.older[entry] ?? 0
  if (newer === 0) table.words[NEWEST] = older
  else table.older[newer] = older
  if (older === 0) table.words[OLDEST] = newer
  else table.newer[older] = newer
}

/** Entries are numbered from 1, because 0 means none. */
function entriesOf(capacity: number): number {
  return capacity + 1
}

/** Power of two that leaves the table at most half full, so that a search ends after a step or two. */
function bucketsOf(capacity: number): number {
  return 2 ** Math.ceil(Math.log2(2 * capacity + 2))
}
