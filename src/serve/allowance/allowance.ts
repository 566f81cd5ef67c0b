import { assert } from '../../protocol/brand.ts'
import { SECOND_MS } from '../../protocol/moment.ts'
import { locked } from './allowance-lock.ts'
import {
  find,
  hashKey,
  insert,
  type KeyHash,
  oldestOf,
  openTable,
  remove,
  type SharedTable,
  sizeOf,
  tableBytes,
  touch,
} from './allowance-table.ts'
import type { Problem } from '../../protocol/problem.ts'
import type { Route } from '../http/route.ts'

/** Limit of requests in any window of `windowMs` milliseconds (whole seconds), under a name that clients see. */
export type Policy = Readonly<{ name: string; requests: number; windowMs: number }>

/** Decision about one request. Times are whole seconds, rounded up; 0 means no wait. */
export type Decision = Readonly<{
  allowed: boolean
  /** Requests that would still be accepted now. */
  remaining: number
  /** Seconds until the allowance grows again. */
  resetSeconds: number
  /** Seconds until a request is accepted, exactly. */
  retryAfterSeconds: number
}>

/** Memory and settings of an allowance, structured-cloneable for other threads. */
export type AllowanceMemory = Readonly<{
  policy: Policy
  /** Number of addresses that are remembered. */
  capacity: number
  secret: string
  buffer: SharedArrayBuffer
}>

/** One thread's view of an allowance; `nowMs` is an integer of a monotonic clock that all threads share. */
export type Allowance = Readonly<{
  policy: Policy
  /** Decides about a request. An accepted one counts as `units` (1 or more), up to the allowance. */
  decide: (key: string, nowMs: number, units?: number) => Decision
  /** Number of addresses that are remembered, for the metric. */
  keys: () => number
}>

/** Addresses that a node remembers (about 25 MB for 60 requests each). */
export const ALLOWANCE_KEYS = 100_000

const NAME = /^[a-z][a-z0-9-]{0,31}$/
const HEADER_BYTES = 16
const LOCK = 0
const CLOCK = 1

type State = Readonly<{
  policy: Policy
  header: Int32Array
  clock: Float64Array
  table: SharedTable
  windows: Windows
  evicted: Evicted
  sharesUntil: Float64Array
}>

/** Allocates the memory of an allowance. `secret` must be random for each run. */
export function allocateAllowance(
  policy: Policy,
  secret: string,
  capacity: number = ALLOWANCE_KEYS,
): AllowanceMemory {
  const { name, requests, windowMs } = policy
  assert(NAME.test(name), `"${name}" names a policy`)
  assert(
    Number.isInteger(requests) && requests > 0 && requests <= REQUEST_COUNT_MAX,
    `${requests} requests fit a ring`,
  )
  assert(
    windowMs % SECOND_MS === 0 && windowMs > 0 && windowMs <= WINDOW_MS_MAX,
    `${windowMs} ms are a window`,
  )
  assert(Number.isInteger(capacity) && capacity > 0, `${capacity} addresses fit a table`)
  const bytes = layout(policy, capacity).end
  return { policy, capacity, secret, buffer: new SharedArrayBuffer(bytes) }
}

/** Opens an allowance in this thread. All threads with the same memory share one exact count. */
export function openAllowance(memory: AllowanceMemory): Allowance {
  const { policy, capacity, secret, buffer } = memory
  const at = layout(policy, capacity)
  const state: State = {
    policy,
    header: new Int32Array(buffer, 0, 2),
    clock: new Float64Array(buffer, 0, HEADER_BYTES / 8),
    table: openTable(buffer, HEADER_BYTES, capacity),
    sharesUntil: new Float64Array(buffer, at.sharesUntil, capacity + 1),
    evicted: openEvicted(buffer, at.evicted, capacity, policy.windowMs),
    windows: openWindows(buffer, at.windows, capacity, policy),
  }
  return {
    policy,
    decide(key, nowMs, units = 1) {
      assert(Number.isSafeInteger(nowMs) && nowMs >= 0, `${nowMs} is a moment of a monotonic clock`)
      const keyHash = hashKey(secret, key)
      return locked(state.header, LOCK, () => decide(state, keyHash, nowMs, units))
    },
    keys: () => locked(state.header, LOCK, () => sizeOf(state.table)),
  }
}

/** Value of `RateLimit-Policy`, such as `"default";q=60;w=60`. */
export function formatPolicy({ name, requests, windowMs }: Policy): string {
  return `"${name}";q=${requests};w=${windowMs / SECOND_MS}`
}

/** Value of `RateLimit`, such as `"default";r=12;t=34`. */
export function formatRateLimit({ name }: Policy, { remaining, resetSeconds }: Decision): string {
  return `"${name}";r=${remaining};t=${resetSeconds}`
}

/** `units` is the cost of an accepted request. */
function decide(state: State, keyHash: KeyHash, nowMs: number, units: number): Decision {
  const { policy, windows } = state
  // Two threads may read the clock and take the lock in different orders: time follows the lock.
  const now = Math.max(nowMs, state.clock[CLOCK] ?? 0)
  state.clock[CLOCK] = now
  const entry = entryOf(state, keyHash, now)
  const own = settle(windows, entry, now)
  const used = own + sharedCount(state, entry, now)
  const allowed = used < policy.requests
  const counted = Math.max(0, Math.min(units, policy.requests - used))
  for (let unit = 0; unit < counted; unit += 1) keep(windows, entry)
  const oldestLeavesMs = policy.windowMs - oldestAgeMs(windows, entry)
  const waitSeconds = Math.ceil(oldestLeavesMs / SECOND_MS)
  if (allowed) {
    const remaining = policy.requests - used - counted
    return { allowed, remaining, resetSeconds: waitSeconds, retryAfterSeconds: 0 }
  }
  const retryAfterSeconds = own === used ? waitSeconds : sharedWaitSeconds(state, entry, now)
  return { allowed, remaining: 0, resetSeconds: retryAfterSeconds, retryAfterSeconds }
}

/** Newest entry of an address. A full table drops the least recently used address. */
function entryOf(state: State, keyHash: KeyHash, now: number): number {
  const { table, windows, evicted, sharesUntil } = state
  const known = find(table, keyHash)
  if (known !== 0) {
    touch(table, known)
    return known
  }
  // The address may have been dropped a moment ago. Then it continues with the count of its bucket.
  const shares = evictedCount(evicted, keyHash.high, now) > 0
  if (sizeOf(table) === table.capacity) evict(state, now)
  const entry = insert(table, keyHash)
  clearWindow(windows, entry)
  sharesUntil[entry] = shares ? now + windows.windowMs : 0
  return entry
}

function evict({ table, windows, evicted }: State, now: number): void {
  const entry = oldestOf(table)
  settle(windows, entry, now)
  const bucketHash = table.highs[entry] ?? 0
  for (const age of agesMs(windows, entry)) keepEvicted(evicted, bucketHash, now - age)
  remove(table, entry)
}

/** Requests of the bucket's dropped addresses, while some of them may be this address's own. */
function sharedCount({ table, evicted, sharesUntil }: State, entry: number, atMs: number): number {
  if ((sharesUntil[entry] ?? 0) <= atMs) return 0
  return evictedCount(evicted, table.highs[entry] ?? 0, atMs)
}

/** First whole second at which a request would be accepted. Nothing counts after the end of the window. */
function sharedWaitSeconds(state: State, entry: number, now: number): number {
  const { requests, windowMs } = state.policy
  const ages = agesMs(state.windows, entry)
  for (let seconds = 1; seconds * SECOND_MS < windowMs; seconds += 1) {
    const laterMs = seconds * SECOND_MS
    const own = ages.filter((age) => age + laterMs < windowMs).length
    if (own + sharedCount(state, entry, now + laterMs) < requests) return seconds
  }
  return windowMs / SECOND_MS
}

function layout(
  policy: Policy,
  capacity: number,
): Readonly<Record<'sharesUntil' | 'evicted' | 'windows' | 'end', number>> {
  const sharesUntil = HEADER_BYTES + tableBytes(capacity)
  const evicted = sharesUntil + 8 * (capacity + 1)
  const windows = evicted + evictedBytes(capacity)
  return { sharesUntil, evicted, windows, end: windows + windowsBytes(policy.requests, capacity) }
}

/**
 * Moments of the accepted requests of each entry, as rings in shared memory. Two bytes each are enough, because
 * requests older than the window are dropped whenever their entry is read.
 */
type Windows = Readonly<{
  requests: number
  windowMs: number
  settledAt: Float64Array
  starts: Uint16Array
  counts: Uint16Array
  moments: Uint16Array
}>

/** Longest window, in milliseconds: its ages fit the 16 bits of a moment. */
const WINDOW_MS_MAX = 65_535

/** Largest number of requests in a ring: it fits 16 bits. */
const REQUEST_COUNT_MAX = 65_535

/** Bytes of the rings of entries 1 to `capacity`. */
function windowsBytes(requests: number, capacity: number): number {
  return (capacity + 1) * (8 + 2 + 2 + 2 * requests)
}

/** Opens the rings at `offset` (a multiple of 8). Memory after them is not aligned. */
function openWindows(
  buffer: SharedArrayBuffer,
  offset: number,
  capacity: number,
  limits: Readonly<{ requests: number; windowMs: number }>,
): Windows {
  const entries = capacity + 1
  return {
    requests: limits.requests,
    windowMs: limits.windowMs,
    settledAt: new Float64Array(buffer, offset, entries),
    starts: new Uint16Array(buffer, offset + 8 * entries, entries),
    counts: new Uint16Array(buffer, offset + 10 * entries, entries),
    moments: new Uint16Array(buffer, offset + 12 * entries, entries * limits.requests),
  }
}

/** Empties the ring of an entry for another address. */
function clearWindow(windows: Windows, entry: number): void {
  windows.counts[entry] = 0
}

/** Drops requests that have left the window by `nowMs`, which never decreases. Returns the number that remain. */
function settle(windows: Windows, entry: number, nowMs: number): number {
  let count = windows.counts[entry] ?? 0
  const sinceMs = nowMs - (windows.settledAt[entry] ?? 0)
  let start = windows.starts[entry] ?? 0
  // Oldest first: the first request that remains ends the search.
  while (count > 0 && sinceMs + ageMs(windows, entry, start) >= windows.windowMs) {
    start = (start + 1) % windows.requests
    count -= 1
  }
  windows.starts[entry] = start
  windows.counts[entry] = count
  windows.settledAt[entry] = nowMs
  return count
}

/** Adds a request at the moment of the last `settle`; the ring must not be full. */
function keep(windows: Windows, entry: number): void {
  const count = windows.counts[entry] ?? 0
  const place = ((windows.starts[entry] ?? 0) + count) % windows.requests
  windows.moments[entry * windows.requests + place] = (windows.settledAt[entry] ?? 0) % 65_536
  windows.counts[entry] = count + 1
}

/** Ages of the requests in the window at the moment of the last `settle`, oldest first. */
function agesMs(windows: Windows, entry: number): number[] {
  const start = windows.starts[entry] ?? 0
  return Array.from({ length: windows.counts[entry] ?? 0 }, (_, index) =>
    ageMs(windows, entry, (start + index) % windows.requests),
  )
}

/** Greatest of `agesMs`; 0 if there is none. */
function oldestAgeMs(windows: Windows, entry: number): number {
  return windows.counts[entry] === 0 ? 0 : ageMs(windows, entry, windows.starts[entry] ?? 0)
}

function ageMs(windows: Windows, entry: number, place: number): number {
  const moment = windows.moments[entry * windows.requests + place] ?? 0
  return ((windows.settledAt[entry] ?? 0) - moment) % 65_536
}

/** Allowances that a request may count against. */
export type AllowanceScope = Exclude<Route['allowance'], 'none'>

/** One allowance, on the clock of its thread. */
export type Counter = Readonly<{
  policy: Policy
  /** Counts one request of a caller. For an allowed request, `units` counts that many more, up to the allowance. */
  decide(caller: string, units?: number): Decision
}>

export type Counters = Readonly<Record<AllowanceScope, Counter>>

/** Allowance charged when no route matches: that of tiles, of the API, or of pages. */
export function scopeOfNothing(path: string, underApi: boolean): AllowanceScope {
  if (!underApi) return 'pages'
  return path.startsWith('/api/v1/log/tile/') ? 'tiles' : 'api'
}

/** Rows or buckets that a page may read for each unit of its caller's allowance. */
const ROWS_PER_UNIT = 1_000

/** Units that a page costs beyond its first one. */
export function extraCost(rows: number | undefined): number {
  return Math.floor((rows ?? 0) / ROWS_PER_UNIT)
}

/** Problem for a caller that has used up the allowance of this policy. */
export function usedUp({ name, requests, windowMs }: Policy, { retryAfterSeconds }: Decision): Problem {
  const live = name === 'pages' ? 'An open page updates itself.' : 'Live data comes by /api/v1/stream.'
  const detail = `${requests} requests are allowed in any ${windowMs / SECOND_MS} seconds. ${live}`
  return { code: 'rate-limited', detail, retryAfterSeconds }
}

/**
 * Request counts of addresses that a full table has dropped, by bucket of addresses and slice of time. An address of
 * the bucket is charged the bucket's count until the window has passed, so a dropped address never gets a new
 * allowance. Other addresses of the bucket lose some of theirs, but only while the table overflows.
 */
type Evicted = Readonly<{
  windowMs: number
  sliceMs: number
  slices: Uint32Array
  counts: Uint32Array
}>

/** Slices of one window. More slices forget expired requests sooner, and take more memory. */
const SLICES = 6

/** Slices kept for each bucket. One window touches `SLICES` + 1 of them, so none is reused while it counts. */
const KEPT = 8

/** Size in bytes of the counts for a table of this capacity; a multiple of 8. */
export function evictedBytes(capacity: number): number {
  return bucketsOf(capacity) * KEPT * 8
}

export function openEvicted(
  buffer: SharedArrayBuffer,
  offset: number,
  capacity: number,
  windowMs: number,
): Evicted {
  const length = bucketsOf(capacity) * KEPT
  return {
    windowMs,
    sliceMs: Math.ceil(windowMs / SLICES),
    slices: new Uint32Array(buffer, offset, length),
    counts: new Uint32Array(buffer, offset + 4 * length, length),
  }
}

/** Counts one request of a dropped address, accepted at `acceptedMs`. */
export function keepEvicted(evicted: Evicted, bucketHash: number, acceptedMs: number): void {
  // Slices are numbered from 1, because 0 marks unused memory.
  const slice = Math.floor(acceptedMs / evicted.sliceMs) + 1
  const at = bucketStart(evicted, bucketHash) + (slice % KEPT)
  if (evicted.slices[at] === slice) {
    evicted.counts[at] = (evicted.counts[at] ?? 0) + 1
  } else {
    evicted.slices[at] = slice
    evicted.counts[at] = 1
  }
}

/** Upper bound on the requests of the bucket's dropped addresses in the window that ends at `nowMs`. */
export function evictedCount(evicted: Evicted, bucketHash: number, nowMs: number): number {
  const start = bucketStart(evicted, bucketHash)
  let count = 0
  for (let at = start; at < start + KEPT; at += 1) {
    const slice = evicted.slices[at] ?? 0
    // A slice counts until its last request has left the window.
    if (slice > 0 && slice * evicted.sliceMs + evicted.windowMs > nowMs) count += evicted.counts[at] ?? 0
  }
  return count
}

function bucketStart(evicted: Evicted, bucketHash: number): number {
  return (bucketHash & (evicted.slices.length / KEPT - 1)) * KEPT
}

function bucketsOf(capacity: number): number {
  return 2 ** Math.ceil(Math.log2(capacity + 1))
}
