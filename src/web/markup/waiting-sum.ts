import type { Payouts } from '../../protocol/endpoints/contest-endpoints.ts'
import { UNPAID_STATUSES } from '../../protocol/enumerations.ts'
import { type Derived, derivedSum } from './derived.ts'

/**
 * Sum of the prizes that wait, by the totals of an answer. Overpaid prizes are not taken off it, so it is zero only when
 * every prize is paid or has expired.
 */
export function waitingSum({
  answer: { totals },
  address,
}: Readonly<{ answer: Payouts; address: string }>): Derived {
  const waiting = UNPAID_STATUSES.filter((status) => status !== 'overpaid')
  const sum = derivedSum(
    waiting.map((status) => ({ pointer: `${address}#/totals/${status}`, figure: totals[status] })),
  )
  return sum ?? { expression: '', figure: '0' }
}
