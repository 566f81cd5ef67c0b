import { ChainError, chainUrlsOf } from '../rpc/chain-url.ts'
import { openChain } from '../chain/open-chain.ts'
import type { RpcFailure } from '../rpc/rpc-failure.ts'
import { openPublishedTxs } from './published-txs.ts'
import { readIdentity } from '../../log/store/store.ts'
import { type JudgeContext, type TxJudge, WriterRefusal } from '../../publish/tx-judge.ts'
import { openAmountGuard } from './amount-guard.ts'
import { type FinalityGate, openFinalityGate } from './finality-gate.ts'
import type { FinalityReport } from './finality-report.ts'
import { type FinalitySettings, GATE_PACE } from './finality-settings.ts'
import { openRecheck } from './recheck.ts'
import { openRpcBudgets } from '../rpc/rpc-budgets.ts'
import { readChainId } from '../../log/held/held-tables.ts'

/**
 * Opens the judge of a log: a gate that asks its chain about held drafts. Throws a `WriterRefusal` for servers of
 * another chain.
 */
export async function openTxJudge(settings: FinalitySettings, world: JudgeContext): Promise<TxJudge> {
  const { chain } = readIdentity(world.db)
  if (settings.chain !== chain)
    throw new WriterRefusal(`--finality: this log has --chain ${chain}, not ${settings.chain}`)
  const gate = openGate(settings, world)
  try {
    await gate.identify()
    return gate
  } catch (cause) {
    if (!(cause instanceof ChainError)) throw cause
    throw new WriterRefusal(`--finality: ${cause.message}`, { cause })
  }
}

/** Opens the gate with the client of its chain. Sends nothing yet. */
function openGate(settings: FinalitySettings, world: JudgeContext): FinalityGate {
  const { chain, urls, requestsPerMinute, amounts, overdueMs, pace = GATE_PACE } = settings
  const { db, heldCommands, now, monotonicMs, signal, report: notify } = world
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
    heldCommands,
    amounts:
      amounts === null
        ? null
        : openAmountGuard({
            client,
            account: amounts,
            published,
            heldNaming: heldCommands.naming,
            notify,
          }),
    recheck: openRecheck({ chain, client, published, heldCommands, pace, now, monotonicMs, signal, notify }),
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
    notify,
  })
}

/** Opens a counter of faults, which reports them once in a turn of the event loop. */
function openFaultCount(
  urls: readonly string[],
  { defer, report: notify }: JudgeContext,
): (url: number, failure: RpcFailure) => void {
  const names = chainUrlsOf(urls).map(({ name }) => name)
  const counts = new Map<string, Extract<FinalityReport, { is: 'fault' }>>()
  return (rpc, { fault, reply }) => {
    if (counts.size === 0) {
      defer(() => {
        for (const report of counts.values()) notify(report)
        counts.clear()
      })
    }
    const key = `${rpc} ${fault} ${reply.code}`
    const count = (counts.get(key)?.count ?? 0) + 1
    counts.set(key, { is: 'fault', rpc, name: names[rpc - 1] ?? '', fault, reply, count })
  }
}
