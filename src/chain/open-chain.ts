import { openIdentity } from './chain-identity.ts'
import type { ChainServer } from './chain-server.ts'
import { askServer } from './chain-server.ts'
import { chainUrlsOf } from './chain-url.ts'
import { enoughAnswers } from './enough-answers.ts'
import { openEvmServer } from './evm-server.ts'
import { openRpcPeer } from './rpc-peer.ts'
import { openSolanaServer } from './solana-server.ts'
import type { ChainClient, ChainClientSettings } from './tx-verdict.ts'
import type { Vote } from './votes.ts'
import { agreedAmong, verdictOf } from './votes.ts'

/** Time limits of one request that a server gets when two others have answered. */
const PATIENCE = 4

/** Opens a client of one chain. Sends nothing yet. Throws `ChainError` for a URL that cannot work. */
export function openChain(settings: ChainClientSettings): ChainClient {
  const open = { solana: openSolanaServer, evm: openEvmServer }[settings.chain]
  const servers = chainUrlsOf(settings.urls).map((url) => open(openRpcPeer(settings, url)))
  const identity = openIdentity(servers)

  /** Servers that still answer a question that the others have decided without them. */
  const late = new Set<ChainServer>()

  /** Puts the votes of a server into the list. Returns whether it has answered everything. */
  async function collect(server: ChainServer, txs: readonly string[], votes: Vote[]): Promise<boolean> {
    if (!(await identity.includes(server))) return false
    return askServer(server, false, async () => {
      await server.vote(txs, (at, vote) => void (votes[at] = vote))
      return true
    })
  }

  /** The votes of each server. A slow one cannot delay the others for long, nor get more questions meanwhile. */
  async function votesOn(txs: readonly string[]): Promise<readonly (readonly Vote[])[]> {
    const votes = servers.map(() => txs.map((): Vote => null))
    const asking = new Set<ChainServer>()
    const asked = servers.map((server, at) => {
      if (late.has(server)) return Promise.resolve(false)
      asking.add(server)
      return collect(server, txs, votes[at] ?? []).finally(() => {
        asking.delete(server)
        late.delete(server)
      })
    })
    await enoughAnswers(asked, PATIENCE * settings.timeoutMs)
    for (const server of asking) late.add(server)
    return votes
  }

  return {
    identify: identity.identify,

    async ask(txs) {
      const different = [...new Set(txs)]
      if (different.length === 0) return []
      const votes = await votesOn(different)
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
