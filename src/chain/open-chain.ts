import { openIdentity } from './chain-identity.ts'
import type { ChainServer } from './chain-server.ts'
import { askServer } from './chain-server.ts'
import { chainUrlsOf } from './chain-url.ts'
import { openEvmServer } from './evm-server.ts'
import { openRpcPeer } from './rpc-peer.ts'
import { openSolanaServer } from './solana-server.ts'
import type { ChainClient, ChainClientSettings } from './tx-verdict.ts'
import type { Vote } from './votes.ts'
import { agreedAmong, verdictOf } from './votes.ts'

/** Opens a client of one chain. Sends nothing yet. Throws `ChainError` for a URL that cannot work. */
export function openChain(settings: ChainClientSettings): ChainClient {
  const open = { solana: openSolanaServer, evm: openEvmServer }[settings.chain]
  const servers = chainUrlsOf(settings.urls).map((url) => open(openRpcPeer(settings, url)))
  const identity = openIdentity(servers)

  async function votesOf(server: ChainServer, txs: readonly string[]): Promise<readonly Vote[]> {
    const votes: Vote[] = txs.map(() => null)
    if (await identity.includes(server)) {
      await askServer(server, undefined, () => server.vote(txs, (at, vote) => void (votes[at] = vote)))
    }
    return votes
  }

  return {
    identify: identity.identify,

    async ask(txs) {
      const different = [...new Set(txs)]
      if (different.length === 0) return []
      const votes = await Promise.all(servers.map((server) => votesOf(server, different)))
      const verdicts = new Map(
        different.map((tx, at) => [tx, verdictOf(votes.map((own) => own[at] ?? null))]),
      )
      return txs.map((tx) => verdicts.get(tx) ?? { is: 'unsure' })
    },

    async moved(tx, account) {
      const votes = await Promise.all(
        servers.map(async (server) =>
          (await identity.includes(server)) ? askServer(server, null, () => server.moved(tx, account)) : null,
        ),
      )
      const agreed = agreedAmong(votes, ({ units, decimals, place }) => `${units} ${decimals} ${place}`)
      return agreed === null ? null : { units: agreed.units, decimals: agreed.decimals }
    },
  }
}
