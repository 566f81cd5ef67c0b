import type { ChainKind } from '../../sim/chain/chain-settings.ts'
import type { PretendChain } from '../../sim/chain/pretend-chain.ts'
import type { FaultName, Faults } from '../../sim/chain/rpc-faults.ts'
import { openRpcServer, type RpcServer } from '../../sim/chain/rpc-server.ts'
import type { Random } from '../../sim/random.ts'

/** Three RPC servers of one chain whose faults change at random. One of them lies. */
type RandomRpcServers = AsyncDisposable &
  Readonly<{
    urls: readonly string[]
    /**
     * Makes another server the liar. Must be called before each start of the service, which is safe against one liar and
     * not against two. Until `started` no server lacks finality, because the service would refuse to start.
     */
    starting(): void
    started(): void
    /** Stops the faults of the honest servers. */
    calm(): void
    /** Stops all faults. */
    heal(): void
    /** Number of times that each fault took effect, over all servers. */
    fired(): Readonly<Partial<Record<FaultName, number>>>
    requests(): number
  }>

const SERVERS = 3
/** Time for which the faults of the servers stay as they are. */
const SWITCH_MS_MIN = 30
const SWITCH_MS_MAX = 150
/** In every third life of the service the liar is down at its start and then says that it is of another chain. */
const FOREIGN_LIVES = 3
/** Faults that make an answer useless. An honest server has them. */
const OUTAGES: readonly Faults[] = [
  { down: true },
  { hangs: true },
  { slowMs: 60 },
  { slowMs: 60, lagMs: 300 },
  { status: 429, retryAfter: '0' },
  { status: 503 },
  { html: true },
  { cut: 'connection' },
  { cut: 'json' },
  { endless: true },
  { wrongId: 'other' },
  { wrongId: 'null' },
  { wrongId: 'string' },
  { lengthOff: -1 },
  { lengthOff: 1 },
  { batchMax: 3, batchRefusal: 'geth' },
  { batchMax: 5, batchRefusal: 'erigon' },
  { batchMax: 2, batchRefusal: 'http-413' },
  { lagMs: 400 },
  { finalBehind: 20 },
  { historyMs: 150 },
  { unhealthy: true },
]
const OUTAGES_OF: Readonly<Record<ChainKind, readonly Faults[]>> = {
  solana: [{ noHistory: true }],
  evm: [
    { reversed: true },
    { errorEvery: 2 },
    { finalizedTag: 'invalid' },
    { finalizedTag: 'missing' },
    { finalizedTag: 'unknown-block' },
    { finalizedTag: 'null' },
  ],
}

/** Names of the faults that must take effect in a campaign of this chain. */
export function faultsOf(kind: ChainKind): readonly FaultName[] {
  const names = [...OUTAGES, ...OUTAGES_OF[kind]].flatMap((faults) => Object.keys(faults) as FaultName[])
  const own: readonly FaultName[] = kind === 'evm' ? ['forkFrom'] : []
  const settings: readonly FaultName[] = ['retryAfter', 'batchRefusal']
  return [
    ...new Set([...names, ...own, 'lies' as const, 'blockShift' as const, 'otherChain' as const]),
  ].filter((name) => !settings.includes(name))
}

function lieOf(chain: PretendChain, random: Random): Faults {
  const half = (tx: string): boolean => tx.charCodeAt(tx.length - 1) % 2 === 0
  const lies: readonly [Faults, ...Faults[]] = [
    { lies: 'final' },
    { lies: 'final', liesAbout: half },
    { lies: 'success' },
    { lies: 'failure' },
    { lies: 'failure', liesAbout: half },
    { blockShift: -1 },
    ...(chain.kind === 'evm' ? [{ forkFrom: chain.at(chain.now()).final - 20 }] : []),
  ]
  return random.pick(lies)
}

/** Deals choices in random order, each as often as the others. */
function openDeck<T>(
  choices: readonly T[],
  random: Random,
): Readonly<{ deal(): T; giveBack(choice: T): void }> {
  const deck: T[] = []
  const add = (choice: T): void => void deck.splice(random.below(deck.length + 1), 0, choice)
  return {
    deal() {
      if (deck.length === 0) for (const choice of choices) add(choice)
      const [choice] = deck.splice(0, 1)
      if (choice === undefined) throw new RangeError('a deck needs choices')
      return choice
    },
    giveBack: (choice) => void deck.push(choice),
  }
}

export async function openRandomRpcServers(chain: PretendChain, random: Random): Promise<RandomRpcServers> {
  const servers: readonly RpcServer[] = await Promise.all(
    Array.from({ length: SERVERS }, () => openRpcServer({ chain })),
  )
  const outages = openDeck([...OUTAGES, ...OUTAGES_OF[chain.kind]], random)
  let lives = 0
  let liar = 0
  let isForeign = false
  let isStarting = true
  let isCalm = false
  let timer: NodeJS.Timeout | undefined
  /** Outages that have not taken effect yet, by server. */
  const waiting = new Map<number, Readonly<{ faults: Faults; before: string }>>()
  const effects = (index: number): string => JSON.stringify(servers[index]?.fired())

  function faultsAt(index: number): Faults {
    const last = waiting.get(index)
    waiting.delete(index)
    if (last !== undefined && last.before === effects(index)) outages.giveBack(last.faults)
    if (index === liar && isForeign) return isStarting ? { down: true } : { otherChain: true }
    if (index === liar && random.chance(0.6)) return lieOf(chain, random)
    if (isCalm || random.chance(0.5)) return {}
    const faults = outages.deal()
    waiting.set(index, { faults, before: effects(index) })
    return isStarting && faults.finalizedTag !== undefined ? {} : faults
  }
  function change(): void {
    clearTimeout(timer)
    for (const [index, server] of servers.entries()) server.setFaults(faultsAt(index))
    timer = setTimeout(change, random.between(SWITCH_MS_MIN, SWITCH_MS_MAX))
  }
  function heal(): void {
    clearTimeout(timer)
    for (const server of servers) server.setFaults({})
  }
  return {
    urls: servers.map(({ url }) => url),
    starting() {
      lives += 1
      liar = random.below(SERVERS)
      const wasForeign = servers.some((server) => (server.fired().otherChain ?? 0) > 0)
      isForeign = lives % FOREIGN_LIVES === 0 || (lives > FOREIGN_LIVES && !wasForeign)
      isStarting = true
      change()
    },
    started() {
      isStarting = false
      change()
    },
    calm: () => void (isCalm = true),
    heal,
    fired() {
      const fired: Partial<Record<FaultName, number>> = {}
      for (const server of servers) {
        for (const [name, count] of Object.entries(server.fired()) as [FaultName, number][]) {
          fired[name] = (fired[name] ?? 0) + count
        }
      }
      return fired
    },
    requests: () => servers.reduce((sum, server) => sum + server.requests(), 0),
    async [Symbol.asyncDispose]() {
      heal()
      await Promise.all(servers.map((server) => server.close()))
    },
  }
}
