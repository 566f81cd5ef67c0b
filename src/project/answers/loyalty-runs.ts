import { formatAmount, subtract } from '../../protocol/amount.ts'
import { formatAt } from '../../protocol/moment.ts'
import type { LoyaltyFile, LoyaltyRun, LoyaltyRuns } from '../../protocol/endpoints/contest-endpoints.ts'
import { asOf, atOf } from './as-of.ts'
import type { Books } from '../fold/books.ts'
import { type LoyaltyHalf, type LoyaltyState, paysAtOf } from '../fold/loyalty.ts'

/** Loyalty rewards, newest month first, without months whose events are all cancelled. */
export function loyaltyRuns(books: Pick<Books, 'head' | 'loyalty'>): LoyaltyRuns {
  return { asOf: asOf(books.head), runs: books.loyalty().filter(isListed).toReversed().map(run) }
}

function isListed({ plans, inputs, outputs, payouts }: LoyaltyState): boolean {
  return plans.length > 0 || inputs.length > 0 || outputs.length > 0 || payouts > 0
}

function run(state: LoyaltyState): LoyaltyRun {
  const { month, paid, payouts } = state
  const paysAt = paysAtOf(state)
  const input = state.inputs.at(-1) ?? null
  const output = state.outputs.at(-1) ?? null
  return {
    month,
    paysAt: atOf(paysAt),
    paysAtMs: paysAt,
    input: input === null ? null : file(input),
    output: output === null ? null : file(output),
    recipients: output?.recipients ?? null,
    total: output === null ? null : formatAmount(output.total),
    paid: formatAmount(paid),
    notPaid: output === null ? null : formatAmount(subtract(output.total, paid)),
    payouts,
  }
}

function file({ seq, digest, bytes, url, atMs }: LoyaltyHalf): LoyaltyFile {
  return { seq, digest, bytes, url, at: formatAt(atMs), atMs }
}
