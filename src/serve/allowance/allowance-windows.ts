/**
 * Moments of the accepted requests of each entry, as rings in shared memory. Two bytes each are enough, because
 * requests older than the window are dropped whenever their entry is read.
 */
export type Windows = Readonly<{
  requests: number
  windowMs: number
  settledAt: Float64Array
  starts: Uint16Array
  counts: Uint16Array
  moments: Uint16Array
}>

/** Longest window, in milliseconds: its ages fit the 16 bits of a moment. */
export const WINDOW_MS_MAX = 65_535

/** Largest number of requests in a ring: it fits 16 bits. */
export const REQUEST_COUNT_MAX = 65_535

/** Bytes of the rings of entries 1 to `capacity`. */
export function windowsBytes(requests: number, capacity: number): number {
  return (capacity + 1) * (8 + 2 + 2 + 2 * requests)
}

/** Opens the rings at `offset` (a multiple of 8). Memory after them is not aligned. */
export function openWindows(
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
export function clearWindow(windows: Windows, entry: number): void {
  windows.counts[entry] = 0
}

/** Drops requests that have left the window by `nowMs`, which never decreases; returns the number that remain. */
export function settle(windows: Windows, entry: number, nowMs: number): number {
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
export function keep(windows: Windows, entry: number): void {
  const count = windows.counts[entry] ?? 0
  const place = ((windows.starts[entry] ?? 0) + count) % windows.requests
  windows.moments[entry * windows.requests + place] = (windows.settledAt[entry] ?? 0) % 65_536
  windows.counts[entry] = count + 1
}

/** Ages of the requests in the window at the moment of the last `settle`, oldest first. */
export function agesMs(windows: Windows, entry: number): number[] {
  const start = windows.starts[entry] ?? 0
  return Array.from({ length: windows.counts[entry] ?? 0 }, (_, index) =>
    ageMs(windows, entry, (start + index) % windows.requests),
  )
}

/** Greatest of `agesMs`; 0 if there is none. */
export function oldestAgeMs(windows: Windows, entry: number): number {
  return windows.counts[entry] === 0 ? 0 : ageMs(windows, entry, windows.starts[entry] ?? 0)
}

function ageMs(windows: Windows, entry: number, place: number): number {
  const moment = windows.moments[entry * windows.requests + place] ?? 0
  return ((windows.settledAt[entry] ?? 0) - moment) % 65_536
}
