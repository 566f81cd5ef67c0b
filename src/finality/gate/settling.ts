import type { TxVerdict } from '../chain/tx-verdict.ts'
import type { HeldQueue, Settlement } from '../../publish/held-queue.ts'
import type { AmountGuard } from './amount-guard.ts'
import type { PollSchedule } from './poll-schedule.ts'
import type { RpcBudgets } from './rpc-budgets.ts'

/** Word of the chain about a transaction that is settled. */
type SettledWord = Readonly<{ tx: string }> & Extract<TxVerdict, { is: 'final' | 'failed' }>

/** Words of one settlement at most. It is one commit, and of a log on a table one row. */
const WORDS_MAX = 2_000
/** Requests about what one transaction moved, roughly and at most. */
const MOVED_REQUESTS = 3

type SettlingSettings = Readonly<{
  queue: Pick<HeldQueue, 'quiet' | 'askedAbout' | 'settle'>
  schedule: PollSchedule
  /** Compares amounts; null without `--finality-amounts`. */
  amounts: AmountGuard | null
  budgets: RpcBudgets
  signal: AbortSignal
  /** Id of the chain, called before each settlement. Null when it must not settle drafts of this log. */
  settlingChain(): string | null
}>

/** Settles drafts by the word of the chain. */
type Settling = Readonly<{
  /** Whether a draft with this transaction waits for the chain. */
  isAsked(tx: string): boolean
  add(word: SettledWord): void
  /** Number of words that are not used yet. */
  size(): number
  /** Compares amounts and settles, as far as the budget goes. The rest of the words waits for the next run. */
  run(): Promise<void>
}>

/** Opens the settling of drafts. */
export function openSettling({
  queue,
  schedule,
  amounts,
  budgets,
  signal,
  settlingChain,
}: SettlingSettings): Settling {
  const words = new Map<string, SettledWord>()

  async function settlementsOf(taken: readonly SettledWord[]): Promise<readonly Settlement[]> {
    await queue.quiet(signal)
    const final = taken.filter(({ is }) => is === 'final')
    await amounts?.fetch(new Map(final.map(({ tx }) => [tx, queue.askedAbout(tx)])))
    await queue.quiet(signal)
    // From here to the settlement nothing waits, so that the amounts are those of the drafts that it publishes.
    const settlements = taken.map((word): Settlement | null => {
      const named = queue.askedAbout(word.tx)
      if (named.length === 0) return null
      if (word.is === 'failed') return word
      const whole = { ...word, drafts: named.map(({ id }) => id) }
      return amounts === null ? whole : amounts.judge(whole, named)
    })
    return settlements.filter((settlement) => settlement !== null)
  }

  const isAsked = (tx: string): boolean => queue.askedAbout(tx).length > 0

  return {
    isAsked,
    add: (word) => void words.set(word.tx, word),
    size: () => words.size,
    async run() {
      const affordable = amounts === null ? WORDS_MAX : Math.max(1, budgets.left() / MOVED_REQUESTS)
      const max = Math.min(affordable, WORDS_MAX)
      const taken = [...words.values()].slice(0, max)
      for (const { tx } of taken) words.delete(tx)
      const settlements = await settlementsOf(taken)
      const chain = settlements.length === 0 ? null : settlingChain()
      if (chain === null) return
      const outcome = await queue.settle(settlements, chain)
      // A full disk or a wrong clock: the drafts stay held, and are asked again.
      if (!outcome.ok) return
      // A draft that was accepted meanwhile, and one whose amount is too large, is asked again.
      for (const { tx } of settlements) if (!isAsked(tx)) schedule.remove(tx)
    },
  }
}
