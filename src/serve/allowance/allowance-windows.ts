/**
 * The moments of the accepted requests of each entry, as rings in shared memory, two bytes each: the low 16 bits
 * of a moment say all about it, because whatever is older than the window goes each time its entry is looked at.
 */
export type Windows = Readonly<{
  requests: number
  windowMs: number
  settledAt: Float64Array
  starts: Uint16Array
  counts: Uint16Array
  moments: Uint16Array
}>

/** Ages up to this fit the 16 bits that a moment takes. */
export const WINDOW_MS_MAX = 65_535

/** Counts of a ring fit 16 bits. */
export const REQUEST_COUNT_MAX = 65_535

/** Bytes of the rings of entries 1 to `capacity`. */
export function windowsBytes(requests: number, capacity: number): number {
  return (capacity + 1) * (8 + 2 + 2 + 2 * requests)
}

/** The rings at `offset` (a multiple of 8); whatever follows them is not aligned. */
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

/** Empties an entry's ring, for another address. */
export function clearWindow(windows: Windows, entry: number): void {
  windows.counts[entry] = 0
}

/** Drops what has left the window by `nowMs`, which never decreases, and says how many requests remain. */
export function settle(windows: Windows, entry: number, nowMs: number): number {
  let count = windows.counts[entry] ?? 0
  const sinceMs = nowMs - (windows.settledAt[entry] ?? 0)
  let start = windows.starts[entry] ?? 0
  // Oldest first: the first one that remains ends the search.
  while (count > 0 && sinceMs + ageMs(windows, entry, start) >= windows.windowMs) {
    start = (start + 1) % windows.requests
    count -= 1
  }
  windows.starts[entry] = start
  windows.counts[entry] = count
  windows.settledAt[entry] = nowMs
  return count
}

/** Keeps one more request, accepted at the moment of the last `settle`; the ring must not be full. */
export function keep(windows: Windows, entry: number): void {
  const count = windows.counts[entry] ?? 0
  const place = ((windows.starts[entry] ?? 0) + count) % windows.requests
  windows.moments[entry * windows.requests + place] = (windows.settledAt[entry] ?? 0) % 65_536
  windows.counts[entry] = count + 1
}

/** The ages of the requests in the window at the moment of the last `settle`, oldest first. */
export function agesMs(windows: Windows, entry: number): number[] {
  const start = windows.starts[entry] ?? 0
  return Array.from({ length: windows.counts[entry] ?? 0 }, (_, index) =>
    ageMs(windows, entry, (start + index) % windows.requests),
  )
}

/** The greatest of `agesMs`; 0 when there is none. */
export function oldestAgeMs(windows: Windows, entry: number): number {
  return windows.counts[entry] === 0 ? 0 : ageMs(windows, entry, windows.starts[entry] ?? 0)
}

function ageMs(windows: Windows, entry: number, place: number): number {
  const moment = windows.moments[entry * windows.requests + place] ?? 0
  return ((windows.settledAt[entry] ?? 0) - moment) % 65_536
}
