import type { Payouts } from '../../../protocol/endpoints/contest-endpoints.ts'
import { amountHtml, isPositive } from '../../markup/amount-html.ts'
import { type Segment, segmentBar } from '../../markup/book.ts'
import { type Html, html } from '../../markup/html.ts'
import { stateWords } from '../../markup/kind-words.ts'
import { capitalized } from '../../markup/prose.ts'

/** States of the bar, payable prizes first. */
const SEGMENTS = [
  ['payable', 'payable'],
  ['awaiting_claim', 'claim'],
  ['in_review', 'review'],
  ['locked', 'locked'],
] as const

/**
 * Bar of the total of each state, over all pages. `pointer` leads to the totals. Null if all unpaid amounts are
 * overpayments.
 */
export function unpaidBar(totals: Payouts['totals'], pointer: string): Html | null {
  const shown = SEGMENTS.filter(([status]) => isPositive(totals[status]))
  const all = shown.reduce((sum, [status]) => sum + Number(totals[status]), 0)
  if (all === 0) return null
  return segmentBar(
    shown.map(([status, as]): Segment => ({
      share: Number(totals[status]) / all,
      as,
      word: capitalized(stateWords(status)),
      amount: html`<span data-at="${pointer}/${status}">${amountHtml(totals[status])}</span>`,
    })),
  )
}
