/**
 * Request counts of addresses that a full table has dropped, by bucket of addresses and slice of time. An address of the
 * bucket is charged the bucket's count until the window has passed. So a dropped address never gets a new allowance.
 * Other addresses of the bucket lose some of theirs, but only while the table overflows.
 */
export type Evicted = Readonly<{
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
