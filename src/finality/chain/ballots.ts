import type { ChainIdentity } from './chain-identity.ts'
import { askServer, type ChainServer } from './chain-server.ts'
import { enoughAnswers } from './enough-answers.ts'
import type { ReachedHead } from './reached-head.ts'
import { RpcFailure } from '../rpc/rpc-failure.ts'
import type { Ballot, ChainClientSettings } from './tx-verdict.ts'

/** Time limits of one request that a server gets when two others have answered. */
const PATIENCE = 4

type Asking = Readonly<{
  settings: ChainClientSettings
  servers: readonly ChainServer[]
  identity: ChainIdentity
  reached: ReachedHead
}>

/** Opens the questions about transactions: to all servers at once, for the ballots of each. */
export function openBallots({
  settings,
  servers,
  identity,
  reached,
}: Asking): (txs: readonly string[]) => Promise<readonly (readonly Ballot[])[]> {
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

  /** The ballots of each server. A slow one cannot delay the others for long, nor get more questions meanwhile. */
  return async function ballotsOn(txs: readonly string[]): Promise<readonly (readonly Ballot[])[]> {
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
}
