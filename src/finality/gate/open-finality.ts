import type { DatabaseSync } from 'node:sqlite'
import { chainUrlsOf } from '../rpc/chain-url.ts'
import { openChain } from '../chain/open-chain.ts'
import type { RpcFailure } from '../rpc/rpc-failure.ts'
import { openPublishedTxs } from '../../log/published-txs.ts'
import { readChainId } from '../../log/held/chain-id.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { HeldQueue } from '../../publish/held/held-queue.ts'
import { openAmountGuard } from './amount-guard.ts'
import { type FinalityGate, openFinalityGate } from './finality-gate.ts'
import type { FinalityReport } from './finality-report.ts'
import { type FinalitySettings, GATE_PACE } from './finality-settings.ts'
import { openRecheck } from './recheck.ts'
import { openRpcBudgets } from './rpc-budgets.ts'

/** Parts of the writer's thread that the gate needs. */
export type FinalitySurroundings = Readonly<{
  db: DatabaseSync
  queue: HeldQueue
  /** Whether this node asks: of a log on several nodes, the leader does. */
  leads(): boolean
  now(): Ms
  monotonicMs(): number
  random(): number
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
  /** Runs the work after the present turn of the event loop. */
  defer(work: () => void): void
  signal: AbortSignal
  tell(report: FinalityReport): void
}>

/** Opens the gate of a log with the client of its chain. Sends nothing yet. */
export function openFinality(settings: FinalitySettings, world: FinalitySurroundings): FinalityGate {
  const { chain, urls, requestsPerMinute, amounts, overdueMs, pace = GATE_PACE } = settings
  const { db, queue, now, monotonicMs, signal, tell } = world
  const sleep = async (ms: number): Promise<void> => void (await world.sleep(ms, signal))
  const budgets = openRpcBudgets({ urls: urls.length, requestsPerMinute, monotonicMs, sleep })
  const client = openChain({
    chain,
    urls,
    signal,
    timeoutMs: pace.timeoutMs,
    now: monotonicMs,
    spend: budgets.spend,
    onFault: openFaultCount(urls, world),
  })
  const published = openPublishedTxs(db)
  return openFinalityGate({
    chain,
    client,
    queue,
    amounts:
      amounts === null
        ? null
        : openAmountGuard({
            client,
            account: amounts,
            published,
            heldNaming: queue.naming,
            tell,
          }),
    recheck: openRecheck({ chain, client, published, queue, pace, now, monotonicMs, signal, tell }),
    budgets,
    pace,
    overdueMs,
    keptChain: () => readChainId(db),
    leads: world.leads,
    now,
    monotonicMs,
    random: world.random,
    sleep,
    signal,
    tell,
  })
}

/** Opens a counter of faults that tells of them once in a turn of the event loop. */
function openFaultCount(
  urls: readonly string[],
  { defer, tell }: FinalitySurroundings,
): (url: number, failure: RpcFailure) => void {
  const names = chainUrlsOf(urls).map(({ name }) => name)
  const counts = new Map<string, Extract<FinalityReport, { is: 'fault' }>>()
  return (rpc, { fault, said }) => {
    if (counts.size === 0) {
      defer(() => {
        for (const report of counts.values()) tell(report)
        counts.clear()
      })
    }
    const key = `${rpc} ${fault} ${said.code}`
    const count = (counts.get(key)?.count ?? 0) + 1
    counts.set(key, { is: 'fault', rpc, name: names[rpc - 1] ?? '', fault, said, count })
  }
}
