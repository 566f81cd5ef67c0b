import { once } from 'node:events'
import { createServer } from 'node:http'
import { endOldConnections } from '../../publish/api/listener-limits.ts'
import { openOperations, type OperationsAnswer, type OperationsPath } from '../../publish/api/operations.ts'
import { assert } from '../../protocol/brand.ts'

/** Most connections of the private listener. A further one ends the oldest. */
export const OPERATIONS_CONNECTIONS_MAX = 64

type OperationsSettings = Readonly<{
  host: string
  port: number
  answer(path: OperationsPath): Promise<OperationsAnswer>
  /** Answer to `/readyz?for=following`; null for a node that follows nothing. */
  following: (() => OperationsAnswer) | null
  /** Called when a connection is ended to make room for another. */
  onCrowded(): void
}>

/** Starts the private listener of a mirror or a witness: `/livez`, `/readyz` and `/metrics`. It cannot publish. */
export async function startOperations(
  settings: OperationsSettings,
): Promise<AsyncDisposable & { port: number }> {
  const { host, port, answer, following } = settings
  const operations = openOperations({ accepting: () => false, ask: answer })
  const server = createServer(async (request, response) => {
    const target = request.url ?? ''
    const found = target === '/readyz?for=following' && following ? following() : await operations(target)
    const { status, headers, body } = found ?? NOTHING
    response.writeHead(status === undefined ? 404 : status, headers).end(body)
  })
  endOldConnections(server, OPERATIONS_CONNECTIONS_MAX, settings.onCrowded)
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  assert(typeof address === 'object' && address !== null, 'the private listener has a port')
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

const NOTHING = {
  status: 404,
  headers: { 'Content-Type': 'text/plain; charset=utf-8' },
  body: 'nothing is at this address: ask /livez, /readyz or /metrics\n',
}
