import type { ChainServer } from './chain-server.ts'
import { askServer } from './chain-server.ts'
import { ChainError } from './chain-url.ts'
import { RpcFailure } from './rpc-failure.ts'
import type { ChainClient } from './tx-verdict.ts'

/** Time before a server of another chain is asked again which chain it is. */
const OTHER_CHAIN_REST_MS = 60_000

/** The servers that are known to be of the chain. Only these may vote. */
type ChainIdentity = Readonly<{
  identify: ChainClient['identify']
  /** Whether the server is of the chain. Asks a server that could not be asked before. */
  includes: (server: ChainServer) => Promise<boolean>
}>

export function openIdentity(servers: readonly ChainServer[]): ChainIdentity {
  const identified = new Set<ChainServer>()
  let chainId: string | null = null

  return {
    async identify(expected) {
      const asked = servers.filter((server) => !identified.has(server))
      const ids = await Promise.all(
        asked.map(async (server) => ({
          server,
          id: await askServer(server, null, () => identityOf(server)),
        })),
      )
      const answered = ids.flatMap(({ server, id }) => (id === null ? [] : [{ server, id }]))
      const known = chainId ?? expected ?? answered[0]?.id ?? null
      for (const { server, id } of answered) if (id !== known) throw otherChain(server, id, known, expected)
      for (const { server } of answered) identified.add(server)
      if (identified.size > 0) chainId = known
      return chainId
    },

    async includes(server) {
      if (chainId === null || identified.has(server)) return identified.has(server)
      const id = await askServer(server, null, server.identity)
      if (id === chainId) identified.add(server)
      else if (id !== null) {
        server.rpc.report('wrong-chain')
        server.rpc.rest(OTHER_CHAIN_REST_MS)
      }
      return identified.has(server)
    },
  }
}

/** Identity of a server at the start, when a chain without finality is refused and not only left out. */
async function identityOf(server: ChainServer): Promise<string> {
  try {
    return await server.identity()
  } catch (error) {
    if (error instanceof RpcFailure && error.fault === 'no-finality') {
      throw new ChainError(
        `${server.rpc.url.name} has no finalized block: give a server that is in sync, of a chain with finality`,
      )
    }
    throw error
  }
}

function otherChain(
  { rpc }: ChainServer,
  id: string,
  known: string | null,
  expected: string | null,
): ChainError {
  if (known === expected) {
    return new ChainError(
      `${rpc.url.name} is of chain ${id}, and drafts of this log were settled by ${known}: give URLs of that chain`,
    )
  }
  return new ChainError(`${rpc.url.name} is of chain ${id}, and not of ${known}: give URLs of one chain`)
}
