import { askServer, type ChainServer } from './chain-server.ts'
import { ChainError } from '../rpc/chain-url.ts'
import { RpcFailure } from '../rpc/rpc-failure.ts'
import type { ChainClient } from './tx-verdict.ts'
import { agreedAmong, quorumOf } from './votes.ts'

/** Time before a server of another chain is asked again for its chain. */
const OTHER_CHAIN_REST_MS = 60_000

/** Servers that are known to be of the chain. Only these may vote. */
export type ChainIdentity = Readonly<{
  identify: ChainClient['identify']
  /** Whether the server is of the chain. Asks it once for each connection. */
  includes: (server: ChainServer) => Promise<boolean>
}>

/** Answer of a server about its chain: its id, the lack of a finalized block, or none. */
type Answer = Readonly<{ server: ChainServer; id: string | null; isWithoutFinality: boolean }>
type Named = Answer & Readonly<{ id: string }>

export function openIdentity(servers: readonly ChainServer[]): ChainIdentity {
  /** Connection in which each server has named the chain. */
  const identified = new Map<ChainServer, number>()
  const asking = new Map<ChainServer, Promise<boolean>>()
  let chainId: string | null = null

  const isIdentified = (server: ChainServer): boolean => identified.get(server) === server.rpc.connection()

  /** Asks a server over its current connection. A connection that ends meanwhile identifies nothing. */
  async function ask(server: ChainServer): Promise<boolean> {
    const connection = server.rpc.connection()
    const id = await askServer(server, null, server.identity)
    if (id === chainId) identified.set(server, connection)
    else if (id !== null) leaveOut(server)
    return isIdentified(server)
  }

  const answerOf = async (server: ChainServer): Promise<Answer> =>
    isIdentified(server) ? { server, id: chainId, isWithoutFinality: false } : askAnswer(server)

  return {
    async identify(expected) {
      if (expected !== null && expected !== chainId) {
        chainId = null
        identified.clear()
      }
      const answers = await Promise.all(servers.map(answerOf))
      const named = answers.filter((answer): answer is Named => answer.id !== null)
      const known =
        chainId ??
        expected ??
        agreedAmong(
          answers.map(({ id }) => id),
          (id) => id,
        )
      const own = named.filter(({ id }) => id === known).map(({ server }) => server)
      if (own.length < quorumOf(servers)) refuseOthers(named, known, expected)
      if (known === null) {
        refuseWithoutFinality(answers)
        return null
      }
      for (const { server } of named) {
        if (own.includes(server)) identified.set(server, server.rpc.connection())
        else leaveOut(server)
      }
      if (identified.size > 0) chainId = known
      return chainId
    },

    async includes(server) {
      if (chainId === null) return false
      if (isIdentified(server)) return true
      const asked = asking.get(server) ?? ask(server).finally(() => asking.delete(server))
      asking.set(server, asked)
      return asked
    },
  }
}

async function askAnswer(server: ChainServer): Promise<Answer> {
  let isWithoutFinality = false
  const id = await askServer(server, null, async () => {
    try {
      return await server.identity()
    } catch (error) {
      isWithoutFinality = error instanceof RpcFailure && error.fault === 'no-finality'
      throw error
    }
  })
  return { server, id, isWithoutFinality }
}

function leaveOut({ rpc }: ChainServer): void {
  rpc.report(new RpcFailure('wrong-chain'))
  rpc.rest(OTHER_CHAIN_REST_MS)
}

/**
 * Throws `ChainError` for a server of another chain than the known one. Without a known one, all must agree with the
 * first server.
 */
function refuseOthers(named: readonly Named[], known: string | null, expected: string | null): void {
  const chain = known ?? named[0]?.id
  for (const { server, id } of named) {
    if (id === chain) continue
    const name = server.rpc.url.name
    throw new ChainError(
      chain === expected
        ? `${name} is of chain ${id}, and drafts of this log were settled by ${chain}: give URLs of that chain`
        : `${name} is of chain ${id}, and not of ${chain}: give URLs of one chain`,
    )
  }
}

/** Throws `ChainError` when enough servers to decide lack a finalized block, because the chain may never have one. */
function refuseWithoutFinality(answers: readonly Answer[]): void {
  const without = answers.filter(({ isWithoutFinality }) => isWithoutFinality)
  const [first] = without
  if (first === undefined || without.length < quorumOf(answers)) return
  throw new ChainError(
    `${first.server.rpc.url.name} has no finalized block: give a server that is in sync, of a chain with finality`,
  )
}
