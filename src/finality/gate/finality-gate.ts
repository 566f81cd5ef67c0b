import type { ChainClient, Settled } from '../chain/tx-verdict.ts'
import type { LastMessage } from '../../publish/tx-judge.ts'
import { reasonOf } from '../../protocol/error-reason.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { HeldCommands, Settlement } from '../../publish/held-commands.ts'
import type { AmountGuard } from './amount-guard.ts'
import type { FinalityReport } from './finality-report.ts'
import type { AskedChain, GatePace } from './finality-settings.ts'
import { openPollSchedule, type PollSchedule } from './poll-schedule.ts'
import { pollSize, requestsFor } from './poll-size.ts'
import type { Recheck } from './recheck.ts'
import type { RpcBudgets } from '../rpc/rpc-budgets.ts'
import { openWaitingDrafts } from './waiting-drafts.ts'
import { ChainError } from '../rpc/chain-url.ts'

type GateSettings = Readonly<{
  chain: AskedChain
  client: ChainClient
  heldCommands: Pick<HeldCommands, 'quiet' | 'asked' | 'askedAbout' | 'settle'>
  /** Compares amounts; null without `--finality-amounts`. */
  amounts: AmountGuard | null
  recheck: Recheck
  budgets: RpcBudgets
  pace: GatePace
  /** Age from which a draft that waits is reported. */
  overdueMs: number
  /** Id of the chain that has settled earlier drafts of this log; null before the first one. */
  keptChain(): string | null
  /** Whether this node asks. On a log of several nodes only the leader does. */
  leads(): boolean
  now(): Ms
  monotonicMs(): number
  random(): number
  /** Waits, or rejects when the gate stops. */
  sleep(ms: number): Promise<void>
  signal: AbortSignal
  notify(report: FinalityReport): void
}>

/** Asks the chain about held drafts, and settles them. */
export type FinalityGate = Readonly<{
  /** Checks that the servers are of the right chain. Throws `ChainError` when they are not. */
  identify(): Promise<void>
  /** Asks until the signal ends it. Never rejects. */
  run(): Promise<void>
  /** Last messages of the servers about the transaction of a draft that waits; null before the first request. */
  lastMessages(tx: string): readonly LastMessage[] | null
}>

/** Checks of the drafts in the time before the first query about a new one. */
const LOOKS = 8
/** Share of the budget of ten seconds for which a poll waits. */
const POLL_PART = 1 / 4
/**
 * Time without the lead after which this node reports no figures. Two nodes that publish alternately lead alternately.
 */
const AWAY_MS = 60_000

/** Opens the gate. It sends nothing yet. */
export function openFinalityGate(settings: GateSettings): FinalityGate {
  const { chain, client, heldCommands, budgets, pace, signal, notify, monotonicMs, sleep } = settings
  const schedule = openPollSchedule(pace, settings.random)
  const waiting = openWaitingDrafts({ ...settings, schedule })
  const logChain = openLogChain(settings)
  const settling = openSettling({ ...settings, schedule, settlingChain: logChain.settling })
  /** Time since which this node does not lead; null while it does. */
  let awayAtMs: number | null = null

  function leads(): boolean {
    const isLeader = settings.leads()
    awayAtMs = isLeader ? null : (awayAtMs ?? monotonicMs())
    return isLeader
  }

  /** Transactions of the next poll. A used-up budget refills by single requests, which would make polls of one each. */
  function size(): number {
    const left = budgets.left()
    const enough = Math.min(budgets.burst * POLL_PART, requestsFor(chain, schedule.size()))
    return left < enough ? 0 : pollSize(chain, left)
  }

  /**
   * Asks about the transactions that are due, and settles those that the chain has settled. Returns the number asked
   * about.
   */
  async function poll(): Promise<number> {
    await heldCommands.quiet(signal)
    waiting.look()
    const due = schedule.take(size(), monotonicMs())
    const txs = due.filter(settling.isAsked)
    // The operator has vouched for the other drafts, or has dropped them.
    for (const tx of due) if (!settling.isAsked(tx)) schedule.remove(tx)
    const verdicts = await client.ask(txs, waiting.note)
    for (const [index, tx] of txs.entries()) {
      const verdict = verdicts[index]
      if (verdict?.is === 'final' || verdict?.is === 'failed') settling.add({ tx, ...verdict })
    }
    await settling.run()
    return txs.length
  }

  async function step(): Promise<void> {
    if (!logChain.isKnown()) {
      await sleep(pace.identifyMs)
      await logChain.retry()
    }
    const asked = await poll()
    // A poll sends nothing until the chain is known, and reports the reason.
    if (!logChain.isKnown()) return
    if (asked === 0) await settings.recheck.step(budgets)
    const dueMs = settling.size() > 0 ? 0 : (schedule.dueAt() ?? Infinity) - monotonicMs()
    const longestMs = pace.firstMs / LOOKS
    // A due question that was not asked waits for the budget.
    await sleep(asked === 0 && dueMs <= 0 ? longestMs : Math.min(Math.max(dueMs, 0), longestMs))
  }

  /** Waits for the lead. Removes figures of an earlier lead, because the node that leads now reports its own. */
  async function rest(): Promise<void> {
    if (awayAtMs !== null && monotonicMs() - awayAtMs >= AWAY_MS) {
      waiting.leave()
      settings.recheck.leave()
    }
    await sleep(pace.firstMs / LOOKS)
  }

  return {
    identify: logChain.identify,
    lastMessages: waiting.lastMessages,
    async run() {
      while (!signal.aborted) {
        try {
          if (leads()) await step()
          else await rest()
        } catch (error) {
          if (signal.aborted) return
          notify({ is: 'failure', reason: reasonOf(error) })
          await sleep(pace.firstMs).catch(() => undefined)
        }
      }
    },
  }
}

/** Chain of the log. The first settlement fixes it. */
type LogChain = Readonly<{
  /** Asks the servers for their chain. Throws `ChainError` when they do not agree on it. */
  identify(): Promise<void>
  /** Asks again, and reports servers that do not agree. */
  retry(): Promise<void>
  isKnown(): boolean
  /**
   * Id of the chain, stored with a settlement. Null when another node has settled drafts of this log by another chain.
   */
  settling(): string | null
}>

/** Opens the chain of the log, which is unknown until enough servers have answered. */
function openLogChain({
  client,
  notify,
  keptChain,
}: Pick<GateSettings, 'client' | 'notify' | 'keptChain'>): LogChain {
  let chainId: string | null = null
  let lastReason = ''

  async function ask(): Promise<void> {
    chainId = await client.identify(keptChain())
    if (chainId !== null) notify({ is: 'chain', id: chainId })
  }

  return {
    async identify() {
      await ask()
      if (chainId === null) notify({ is: 'unanswered' })
    },
    async retry() {
      try {
        await ask()
      } catch (error) {
        if (!(error instanceof ChainError)) throw error
        if (error.message !== lastReason) notify({ is: 'other-chain', reason: error.message })
        lastReason = error.message
      }
    },
    isKnown: () => chainId !== null,
    settling() {
      const kept = keptChain()
      // The servers are asked again with the chain of the log, and their answers are reported.
      if (kept !== null && kept !== chainId) chainId = null
      return chainId
    },
  }
}

/** A transaction that the chain has settled. */
type SettledTx = Settled & Readonly<{ tx: string }>

/** Most transactions of one settlement. It is one commit; on a table it is one row. */
const SETTLED_MAX = 2_000
/** Approximate most requests for the amount that one transaction moved. */
const MOVED_REQUESTS = 3

type SettlingSettings = Pick<GateSettings, 'heldCommands' | 'amounts' | 'budgets' | 'signal'> &
  Readonly<{
    schedule: PollSchedule
    /** Id of the chain, called before each settlement. Null when it must not settle drafts of this log. */
    settlingChain(): string | null
  }>

/** Settles drafts by the verdicts of the chain. */
type Settling = Readonly<{
  /** Whether a draft with this transaction waits for the chain. */
  isAsked(tx: string): boolean
  add(one: SettledTx): void
  /** Number of transactions that are not used yet. */
  size(): number
  /** Compares amounts and settles as far as the budget allows. The rest waits for the next run. */
  run(): Promise<void>
}>

/** Opens the settling of drafts. */
function openSettling({
  heldCommands,
  schedule,
  amounts,
  budgets,
  signal,
  settlingChain,
}: SettlingSettings): Settling {
  const settled = new Map<string, SettledTx>()

  async function settlementsOf(taken: readonly SettledTx[]): Promise<readonly Settlement[]> {
    await heldCommands.quiet(signal)
    const final = taken.filter(({ is }) => is === 'final')
    await amounts?.fetch(new Map(final.map(({ tx }) => [tx, heldCommands.askedAbout(tx)])))
    await heldCommands.quiet(signal)
    // No await from here to the settlement, so that the compared amounts are those of the published drafts.
    const settlements = taken.map((one): Settlement | null => {
      const named = heldCommands.askedAbout(one.tx)
      if (named.length === 0) return null
      if (one.is === 'failed') return one
      const whole = { ...one, drafts: named.map(({ id }) => id) }
      return amounts === null ? whole : amounts.judge(whole, named)
    })
    return settlements.filter((settlement) => settlement !== null)
  }

  const isAsked = (tx: string): boolean => heldCommands.askedAbout(tx).length > 0

  return {
    isAsked,
    add: (one) => void settled.set(one.tx, one),
    size: () => settled.size,
    async run() {
      const affordable = amounts === null ? SETTLED_MAX : Math.max(1, budgets.left() / MOVED_REQUESTS)
      const max = Math.min(affordable, SETTLED_MAX)
      const taken = [...settled.values()].slice(0, max)
      for (const { tx } of taken) settled.delete(tx)
      const settlements = await settlementsOf(taken)
      const chain = settlements.length === 0 ? null : settlingChain()
      if (chain === null) return
      const outcome = await heldCommands.settle(settlements, chain)
      // A full disk or a wrong clock: the drafts stay held, and are asked about again.
      if (!outcome.ok) return
      // Drafts accepted meanwhile and those with too large an amount are asked about again.
      for (const { tx } of settlements) if (!isAsked(tx)) schedule.remove(tx)
    },
  }
}
