import type { Socket } from 'node:net'
import { readUnacknowledged } from './peer-progress.ts'

/** A writer to a socket, changed in place. Times are in milliseconds of the monotonic clock. */
export type WatchedWriter = {
  /** Time since which the peer has taken no byte of the present write; null when no write is in flight. */
  blockedSince: number | null
  /** Bytes that the peer had not acknowledged at the last look; null before it, or when the kernel does not tell. */
  unacknowledged: number | null
  readonly ended: boolean
}

/** Milliseconds for which a writer has waited for its peer. */
export function waitedMs({ blockedSince }: WatchedWriter, now: number): number {
  return blockedSince === null ? 0 : now - blockedSince
}

/**
 * Opens the watch over writers that wait. It restarts the wait of one whose peer has acknowledged bytes, because its reader
 * is slow and has not stalled. The result is called at each tick, and reads the kernel's table every `lookMs` at most.
 */
export function openStallWatch<Writer extends WatchedWriter>(
  lookMs: number,
  socketOf: (writer: Writer) => Socket,
): (writers: Iterable<Writer>, now: number) => Promise<void> {
  let nextLookAt = 0
  return async (writers, now) => {
    if (now < nextLookAt) return
    nextLookAt = now + lookMs
    const waiting = [...writers].filter((writer) => !writer.ended && waitedMs(writer, now) >= lookMs)
    if (waiting.length === 0) return
    const left = await readUnacknowledged(waiting.map(socketOf))
    for (const writer of waiting) {
      const bytes = left.get(socketOf(writer)) ?? null
      const isTaken = writer.unacknowledged !== null && bytes !== null && bytes !== writer.unacknowledged
      if (isTaken && writer.blockedSince !== null) writer.blockedSince = now
      writer.unacknowledged = bytes
    }
  }
}
