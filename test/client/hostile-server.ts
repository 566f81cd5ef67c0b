import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { HostilePeer } from './hostile-peer.ts'

/** A hostile peer behind a real server on loopback, so that faults break real connections. */
export async function servePeer(
  peer: Pick<HostilePeer, 'fetch'>,
): Promise<AsyncDisposable & Readonly<{ base: string }>> {
  const server = createServer((request, response) => {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    answer(peer, request.url ?? '/', gone.signal, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has a port')
  return {
    base: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function answer(
  { fetch }: Pick<HostilePeer, 'fetch'>,
  path: string,
  signal: AbortSignal,
  response: ServerResponse,
): Promise<void> {
  const { status, headers, body } = await fetch(`http://127.0.0.1${path}`, { signal })
  response.writeHead(status, Object.fromEntries(headers))
  response.flushHeaders()
  for await (const bytes of body ?? []) {
    if (!response.write(bytes)) await once(response, 'drain', { signal })
  }
  response.end()
}
