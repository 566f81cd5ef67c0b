import type { Socket } from 'node:net'
import { readFile } from 'node:fs/promises'
import ipaddr from 'ipaddr.js'

/** A writer to a socket, changed in place. Times are in milliseconds of the monotonic clock. */
export type WatchedWriter = {
  /** Time since which the peer has taken no byte of the current write; null when no write is in flight. */
  blockedSince: number | null
  /** Unacknowledged bytes at the last check; null before it, or when the kernel does not report them. */
  unacknowledged: number | null
  readonly ended: boolean
}

/** Milliseconds that a writer has waited for its peer. */
export function waitedMs({ blockedSince }: WatchedWriter, now: number): number {
  return blockedSince === null ? 0 : now - blockedSince
}

/**
 * Opens the watch over waiting writers. It restarts the wait of a writer whose peer has acknowledged bytes: its reader
 * is slow but not stalled. The returned function is called at each tick, and reads the kernel's table at most every
 * `lookMs`.
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

/**
 * Unacknowledged bytes of each connection, from the kernel of Linux; empty elsewhere. The kernel may buffer megabytes
 * of an answer, so a slow reader takes bytes long before the next write is accepted.
 */
async function readUnacknowledged(sockets: readonly Socket[]): Promise<ReadonlyMap<Socket, number>> {
  const ends = new Map(sockets.map((socket) => [endsOf(socket), socket]))
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(readTable))
  const found = new Map<Socket, number>()
  for (const table of tables)
    for (const { 1: both, 2: left = '' } of table.matchAll(ROW)) {
      const socket = ends.get(both)
      if (socket !== undefined) found.set(socket, Number.parseInt(left, 16))
    }
  return found
}

/** Both addresses of a connection, its state, and the bytes in its send queue: `: 0100007F:1F90 0100007F:D431 01 0001F3A0:`. */
const ROW = /: ([0-9A-F]+:[0-9A-F]{4} [0-9A-F]+:[0-9A-F]{4}) [0-9A-F]{2} ([0-9A-F]{8}):/g

async function readTable(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1')
  } catch {
    return ''
  }
}

/** Both addresses of a connection as the table has them: `0100007F:1F90 0100007F:D431`. */
function endsOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): string | undefined {
  const [local, remote] = [endOf(localAddress, localPort), endOf(remoteAddress, remotePort)]
  return local === undefined || remote === undefined ? undefined : `${local} ${remote}`
}

function endOf(address: string | undefined, port: number | undefined): string | undefined {
  if (address === undefined || port === undefined || !ipaddr.isValid(address)) return undefined
  const bytes = ipaddr.parse(address).toByteArray()
  return `${hexOf(bytes)}:${port.toString(16).padStart(4, '0').toUpperCase()}`
}

/** The kernel prints an address as words of four bytes, the last byte of each word first. */
function hexOf(bytes: readonly number[]): string {
  const words = Array.from({ length: bytes.length / 4 }, (_, word) => bytes.slice(word * 4, word * 4 + 4))
  return Buffer.from(words.flatMap((word) => word.toReversed()))
    .toString('hex')
    .toUpperCase()
}
