import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** Connects to the target. Null while there is none, such as during a restart of the service. */
function connectTo(to: string | (() => string)): Socket | null {
  try {
    const { port, hostname } = new URL(typeof to === 'string' ? to : to())
    return connect(Number(port), hostname)
  } catch {
    return null
  }
}

/** A TCP relay between a client and a service. `cut` closes all its connections. */
export type Relay = AsyncDisposable & Readonly<{ url: string; cut(): void }>

export async function openRelay(to: string | (() => string)): Promise<Relay> {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connectTo(to)
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
