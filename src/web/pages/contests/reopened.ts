import type { Contests } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { Summary } from '../../../protocol/endpoints/figure-endpoints.ts'
import { askEndpoint } from '../../frame/linked-answers.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { isPositive } from '../../markup/amount-html.ts'

/**
 * The paid contest with the most unpaid prizes, which a correction has left; null if no such prize waits. Without
 * contests that pay, all that waits is of paid contests, so nothing is asked.
 */
export async function askReopened(
  { paying, paid }: Summary['contests'],
  view: Pick<View, 'ask'>,
): Promise<LinkedAnswer<Contests> | null> {
  if (paying === 0 || paid === 0) return null
  const first = await askEndpoint(view, 'contests', { query: 'status=paid&sort=prizesNotRedeemed&limit=1' })
  return first.answer.contests.some((one) => isPositive(one.prizesNotRedeemed)) ? first : null
}
