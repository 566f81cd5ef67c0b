import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Ports that are offered: above 10080, which `fetch` refuses, and below those that systems give to sockets without a port.
 * Linux begins at 32768, others at 49152. A relay or connection of another test never takes one before its use.
 */
const PORT_MIN = 11_000
const PORT_MAX = 32_767

/** Ports of the loopback address that are free now, each once. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = randomInt(PORT_MIN, PORT_MAX + 1)
    if (await isFree(port)) ports.add(port)
  }
  return [...ports]
}

/** A port of the loopback address that is free now. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1)
  return port
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
