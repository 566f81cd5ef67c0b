import { assert } from '../../protocol/brand.ts'
import { SECOND_MS } from '../../protocol/moment.ts'
import { type Evicted, evictedBytes, evictedCount, keepEvicted, openEvicted } from './allowance-evicted.ts'
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
import {
  agesMs,
  clearWindow,
  keep,
  oldestAgeMs,
  openWindows,
  REQUEST_COUNT_MAX,
  settle,
  WINDOW_MS_MAX,
  type Windows,
  windowsBytes,
} from './allowance-windows.ts'

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

/** Memory and settings of an allowance; they may be passed between threads. */
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
  /** Decides about a request. An accepted one counts as `units` (1 or more), as far as the allowance goes. */
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

/** Allocates the memory of an allowance; `secret` is random and of this process only. */
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

/** Headers about a caller's allowance; `Retry-After` only if none is left. */
export function rateLimitHeaders(policy: Policy, decision: Decision): Readonly<Record<string, string>> {
  return {
    'RateLimit-Policy': formatPolicy(policy),
    RateLimit: formatRateLimit(policy, decision),
    ...(decision.allowed ? {} : { 'Retry-After': String(decision.retryAfterSeconds) }),
  }
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

/** Entry of an address, as the newest. A full table drops the address idle longest. */
function entryOf(state: State, keyHash: KeyHash, now: number): number {
  const { table, windows, evicted, sharesUntil } = state
  const known = find(table, keyHash)
  if (known !== 0) {
    touch(table, known)
    return known
  }
  // The address may have been dropped a moment ago: then it continues with the count of its bucket.
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

/** Requests of the bucket's dropped addresses, as long as they may have been of this address. */
function sharedCount({ table, evicted, sharesUntil }: State, entry: number, atMs: number): number {
  if ((sharesUntil[entry] ?? 0) <= atMs) return 0
  return evictedCount(evicted, table.highs[entry] ?? 0, atMs)
}

/** First whole second at which a request would be accepted; at the end of the window nothing counts any more. */
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
