import type { ChainClient, MovedAmount, TokenAccount } from '../chain/tx-verdict.ts'
import type { HeldDraft } from '../../log/held/held-draft.ts'
import type { PublishedTxs } from './published-txs.ts'
import { add, type Amount, formatAmount, ZERO } from '../../protocol/amount.ts'
import type { Settlement } from '../../publish/held-commands.ts'
import { excessOf, formatMoved } from '../chain/moved-amount.ts'
import type { FinalityReport } from './finality-report.ts'

type FinalSettlement = Extract<Settlement, { is: 'final' }>

/** Compares the payouts of a transaction with the amount that it moved. */
export type AmountGuard = Readonly<{
  /** Asks for the moved amount of each transaction of payouts, unless it is known. */
  fetch(drafts: ReadonlyMap<string, readonly HeldDraft[]>): Promise<void>
  /**
   * Settlement of drafts with a final transaction: final, or held with a reason. Null while the servers do not agree on
   * the moved amount.
   */
  judge(final: FinalSettlement, drafts: readonly HeldDraft[]): Settlement | null
}>

type AmountGuardSettings = Readonly<{
  client: ChainClient
  account: TokenAccount
  published: PublishedTxs
  /** Held drafts that name a transaction, including those that the books refuse. */
  heldNaming(tx: string): readonly HeldDraft[]
  notify(report: FinalityReport): void
}>

/** Transactions that are remembered. */
const REMEMBERED_MAX = 10_000

/** Opens the comparison. Its results and reports contain neither account. */
export function openAmountGuard({
  client,
  account,
  published,
  heldNaming,
  notify,
}: AmountGuardSettings): AmountGuard {
  // A final transaction moves no more later.
  const moved = new Map<string, MovedAmount>()
  const reported = new Set<string>()

  function remember(tx: string, amount: MovedAmount): void {
    const [oldest] = moved.keys()
    if (moved.size >= REMEMBERED_MAX && oldest !== undefined) moved.delete(oldest)
    moved.set(tx, amount)
  }

  /** Reports a transaction once. */
  function notifyOnce(tx: string, report: FinalityReport): void {
    const key = `${report.is} ${tx}`
    if (reported.has(key)) return
    if (reported.size >= REMEMBERED_MAX) reported.clear()
    reported.add(key)
    notify(report)
  }

  return {
    async fetch(drafts) {
      const asked = [...drafts].filter(([tx, named]) => !moved.has(tx) && named.some(isPayout))
      await Promise.all(
        asked.map(async ([tx]) => {
          const amount = await client.moved(tx, account)
          if (amount !== null) remember(tx, amount)
        }),
      )
    },
    judge(final, drafts) {
      const { tx } = final
      if (!drafts.some(isPayout)) return final
      const amount = moved.get(tx)
      if (amount === undefined) return null
      const waiting = heldNaming(tx).filter(isPayout)
      const named = waiting.reduce((sum, { draft }) => add(sum, draft.kots ?? ZERO), published.paidIn(tx))
      const { is, reason } = compareAmounts(named, amount)
      switch (is) {
        case 'more':
          notifyOnce(tx, { is: 'excess', drafts: drafts.map(({ id }) => id) })
          return { tx, is: 'excess', reason }
        case 'less':
          notifyOnce(tx, { is: 'less', drafts: drafts.map(({ id }) => id) })
          return final
        case 'equal':
          return final
      }
    },
  }
}

function isPayout({ draft }: HeldDraft): boolean {
  return draft.type === 'payout'
}

/**
 * Compares the sum of payouts with the moved amount exactly. `reason` has both amounts, but neither account nor
 * transaction.
 */
export function compareAmounts(
  named: Amount,
  moved: MovedAmount,
): Readonly<{ is: 'equal' | 'more' | 'less'; reason: string }> {
  const excess = excessOf(named, moved)
  const is = excess === 0n ? 'equal' : excess > 0n ? 'more' : 'less'
  const reason = `payouts of this transaction name ${formatAmount(named)}, and it moved ${formatMoved(moved)}`
  return { is, reason }
}
