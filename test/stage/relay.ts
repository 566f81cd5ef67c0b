import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'

/** A connection to where the relay leads; null while there is nothing, as between two starts of a service. */
function reach(to: string | (() => string)): Socket | null {
  try {
    const { port, hostname } = new URL(typeof to === 'string' ? to : to())
    return connect(Number(port), hostname)
  } catch {
    return null
  }
}

/** What stands between a client and a service, and can cut every connection there is. */
export type Relay = AsyncDisposable & Readonly<{ url: string; cut(): void }>

export async function openRelay(to: string | (() => string)): Promise<Relay> {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = reach(to)
    if (far === null) {
      near.destroy()
      return
    }
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.once('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '',
    cut,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
}
