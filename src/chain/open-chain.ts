import { openIdentity } from './chain-identity.ts'
import type { ChainServer } from './chain-server.ts'
import { askServer } from './chain-server.ts'
import { chainUrlsOf } from './rpc/chain-url.ts'
import { enoughAnswers } from './enough-answers.ts'
import { openEvmServer } from './evm-server.ts'
import { openReachedHead } from './reached-head.ts'
import { RpcFailure } from './rpc/rpc-failure.ts'
import { openRpcPeer } from './rpc/rpc-peer.ts'
import { openSolanaServer } from './solana-server.ts'
import type { ChainClient, ChainClientSettings } from './tx-verdict.ts'
import type { Vote } from './votes.ts'
import { agreedAmong, verdictOf } from './votes.ts'

/** Time limits of one request that a server gets when two others have answered. */
const PATIENCE = 4

/** A vote of a server, and how far the server was. */
type Ballot = Readonly<{ vote: Vote; head: number }>

/** Opens a client of one chain. Sends nothing yet. Throws `ChainError` for a URL that cannot work. */
export function openChain(settings: ChainClientSettings): ChainClient {
  const open = { solana: openSolanaServer, evm: openEvmServer }[settings.chain]
  const servers = chainUrlsOf(settings.urls).map((url) => open(openRpcPeer(settings, url)))
  const identity = openIdentity(servers)
  const reached = openReachedHead(servers, settings.now)

  /** Servers that still answer a question that the others have decided without them. */
  const late = new Set<ChainServer>()

  /** Puts the votes of the server at a place of the settings into the list. Returns whether it has answered everything. */
  async function collect(at: number, txs: readonly string[], ballots: Ballot[]): Promise<boolean> {
    const server = servers[at]
    if (server === undefined || !(await identity.includes(server))) return false
    return askServer(server, false, async () => {
      let last = Infinity
      await server.vote(txs, (place, vote, head) => {
        ballots[place] = { vote, head }
        reached.note(at, head)
        last = head
      })
      if (reached.isLongPassed(last)) throw new RpcFailure('lagging')
      return true
    })
  }

  /** The votes of each server. A slow one cannot delay the others for long, nor get more questions meanwhile. */
  async function ballotsOn(txs: readonly string[]): Promise<readonly (readonly Ballot[])[]> {
    const ballots = servers.map((): Ballot[] => [])
    const asking = new Set<ChainServer>()
    const asked = servers.map((server, at) => {
      if (late.has(server)) return Promise.resolve(false)
      asking.add(server)
      return collect(at, txs, ballots[at] ?? []).finally(() => {
        asking.delete(server)
        late.delete(server)
      })
    })
    await enoughAnswers(asked, PATIENCE * settings.timeoutMs)
    for (const server of asking) late.add(server)
    return ballots
  }

  return {
    identify: identity.identify,

    async ask(txs) {
      const different = [...new Set(txs)]
      if (different.length === 0) return []
      const ballots = await ballotsOn(different)
      const verdicts = new Map(
        different.map((tx, at) => [tx, verdictOf(ballots.map((own) => voteOf(own[at], reached.newest())))]),
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

/** The vote of a ballot. Of a server that shows an older state of the chain than others, only settled outcomes count. */
function voteOf(ballot: Ballot | undefined, newest: number): Vote {
  if (ballot === undefined) return null
  const { vote, head } = ballot
  return vote?.is === 'final' || vote?.is === 'failed' || head >= newest ? vote : null
}
