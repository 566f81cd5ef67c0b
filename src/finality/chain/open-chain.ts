import { type ChainIdentity, openIdentity } from './chain-identity.ts'
import { askServer, type ChainServer, type MovedVote } from './chain-server.ts'
import { chainUrlsOf } from '../rpc/chain-url.ts'
import { openEvmServer } from './evm-server.ts'
import { formatFailure, RpcFailure } from '../rpc/rpc-failure.ts'
import { openRpcPeer } from '../rpc/rpc-peer.ts'
import { openSolanaServer } from './solana-server.ts'
import type { Ballot, ChainClient, ChainClientSettings, Vote } from './tx-verdict.ts'
import { agreedAmong, isSettled, quorumOf, settledKey, verdictOf } from './votes.ts'

/** Opens a client of one chain. Sends nothing yet. Throws `ChainError` for a URL that cannot work. */
export function openChain(settings: ChainClientSettings): ChainClient {
  const open = { solana: openSolanaServer, evm: openEvmServer }[settings.chain]
  const servers = chainUrlsOf(settings.urls).map((url) => open(openRpcPeer(settings, url)))
  const identity = openIdentity(servers)
  const reached = openReachedHead(servers, settings.now)
  const ballotsOn = openBallots({ settings, servers, identity, reached })

  return {
    identify: identity.identify,

    async ask(txs, onAnswers) {
      const different = [...new Set(txs)]
      if (different.length === 0) return []
      const ballots = await ballotsOn(different)
      for (const [at, tx] of different.entries()) {
        onAnswers?.(
          tx,
          servers.map(({ rpc }, own) => ({
            server: rpc.url.name,
            ballot: ballots[own]?.[at],
            failure: rpc.lastFailure(),
          })),
        )
      }
      const verdicts = new Map(
        different.map((tx, at) => {
          const votes = ballots.map((own) => voteOf(own[at], reached.newest()))
          const verdict = verdictOf(votes)
          const settled = votes.map((vote) => (isSettled(vote) ? vote : null))
          if (isSettled(verdict)) reportOutvoted(servers, settled, verdict, settledKey)
          return [tx, verdict]
        }),
      )
      return txs.map((tx) => verdicts.get(tx) ?? { is: 'unsure' })
    },

    async moved(tx, account) {
      const votes = await Promise.all(
        servers.map(async (server) =>
          (await identity.includes(server)) ? askServer(server, null, () => server.moved(tx, account)) : null,
        ),
      )
      const agreed = agreedAmong(votes, movedKey)
      if (agreed === null) return null
      reportOutvoted(servers, votes, agreed, movedKey)
      return { units: agreed.units, decimals: agreed.decimals }
    },

    faults: () =>
      servers.flatMap(({ rpc }) => {
        const failure = rpc.lastFailure()
        return failure === null ? [] : [{ server: rpc.url.name, words: formatFailure(failure) }]
      }),
  }
}

const movedKey = ({ units, decimals, place }: MovedVote): string => `${units} ${decimals} ${place}`

/** Reports servers whose vote differs from the agreed one. */
function reportOutvoted<T>(
  servers: readonly ChainServer[],
  votes: readonly (T | null)[],
  agreed: T,
  keyOf: (vote: T) => string,
): void {
  for (const [at, vote] of votes.entries()) {
    if (vote === null || keyOf(vote) === keyOf(agreed)) continue
    servers[at]?.rpc.report(new RpcFailure('outvoted'))
  }
}

/** Vote of a ballot. A server that shows an older state of the chain than others votes only on settled outcomes. */
function voteOf(ballot: Ballot | undefined, newest: number): Vote {
  if (ballot === undefined) return null
  const { vote, head } = ballot
  return isSettled(vote) || head >= newest ? vote : null
}

/** Multiple of a request's timeout that a server gets after two others have answered. */
const PATIENCE = 4

type Asking = Readonly<{
  settings: ChainClientSettings
  servers: readonly ChainServer[]
  identity: ChainIdentity
  reached: ReachedHead
}>

/** Opens the queries about transactions: to all servers at once, for the ballots of each. */
function openBallots({
  settings,
  servers,
  identity,
  reached,
}: Asking): (txs: readonly string[]) => Promise<readonly (readonly Ballot[])[]> {
  /** Servers that still answer a query that the others have decided without them. */
  const late = new Set<ChainServer>()

  /** Stores the votes of the server with this index. Returns whether it has answered everything. */
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

  /** Ballots of each server. A slow server delays the others only briefly, and gets no more queries meanwhile. */
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

/** Number of servers whose answers suffice to continue without the others. */
const ENOUGH = 2

/**
 * Waits for servers that are asked at the same time. Each promise resolves to whether its server has answered. After
 * two answers, the others get `patienceMs` more. Rejects as soon as one promise does.
 */
function enoughAnswers(asked: readonly Promise<boolean>[], patienceMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let answered = 0
    const count = (hasAnswered: boolean): void => {
      if (hasAnswered) answered += 1
      if (hasAnswered && answered === ENOUGH) {
        AbortSignal.timeout(patienceMs).addEventListener('abort', () => resolve(), { once: true })
      }
    }
    for (const one of asked) one.then(count, reject)
    Promise.all(asked).then(() => resolve(), reject)
  })
}

/** Time that a server may stay behind enough others. Servers reach a block seconds apart. */
const BEHIND_MS = 120_000

/**
 * Progress of a chain, as enough servers report it. One server alone cannot change it. It reveals a server that
 * restarts and shows an old state of the chain.
 */
type ReachedHead = Readonly<{
  /** Records the newest slot or finalized block of the server with this index. */
  note(at: number, head: number): void
  /** Newest head that enough servers have reached; 0 before they have answered. */
  newest(): number
  /** Whether a head is older than the one that enough servers had reached before `BEHIND_MS`. */
  isLongPassed(head: number): boolean
}>

/** Opens the progress of these servers. `now` is a monotonic clock in milliseconds. */
function openReachedHead(servers: readonly unknown[], now: () => number): ReachedHead {
  const heads = servers.map(() => 0)
  let newest = 0
  /** Newest head when it was last stored. `BEHIND_MS` or more earlier, another one was stored. */
  let kept = { head: 0, atMs: now() }
  let passed = 0

  return {
    note(at, head) {
      heads[at] = Math.max(heads[at] ?? 0, head)
      newest = heads.toSorted((a, b) => b - a)[quorumOf(servers) - 1] ?? 0
      if (now() - kept.atMs < BEHIND_MS) return
      passed = kept.head
      kept = { head: newest, atMs: now() }
    },
    newest: () => newest,
    isLongPassed: (head) => head < passed,
  }
}
