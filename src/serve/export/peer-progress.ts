import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Bytes of each connection that its peer has not acknowledged yet, as the kernel of Linux lists them. Empty elsewhere.
 * The kernel may buffer megabytes of an answer, so a slow reader takes bytes long before the next write is accepted.
 */
export async function readUnacknowledged(sockets: readonly Socket[]): Promise<ReadonlyMap<Socket, number>> {
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(readTable))
  const found = new Map<Socket, number>()
  for (const socket of sockets) {
    const row = rowOf(socket)
    for (const table of tables) {
      const at = row === undefined ? -1 : table.indexOf(row)
      // After both addresses come the state and the bytes in the send queue: ` 01 0001F3A0:`.
      if (row !== undefined && at >= 0) {
        found.set(socket, Number.parseInt(table.slice(at + row.length + 3, at + row.length + 11), 16))
      }
    }
  }
  return found
}

async function readTable(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1')
  } catch {
    return ''
  }
}

/** Both addresses of a connection as the table has them: ` 0100007F:1F90 0100007F:D431 `. */
function rowOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): string | undefined {
  const [local, remote] = [endOf(localAddress, localPort), endOf(remoteAddress, remotePort)]
  return local === undefined || remote === undefined ? undefined : ` ${local} ${remote} `
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
