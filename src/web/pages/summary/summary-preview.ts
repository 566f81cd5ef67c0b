import type { Payouts, Summary } from '../../../protocol/resources.ts'
import { askEndpoint, type LinkedAnswer } from '../../frame/linked-answers.ts'
import { isPositive } from '../../markup/amount-html.ts'
import { plainText } from '../../markup/page-lead.ts'
import type { View } from '../../frame/page.ts'
import type { PreviewCard } from '../../preview/preview-card.ts'
import { drawableToken } from '../../preview/preview-font.ts'
import { cutAmount, minuteText } from '../../preview/preview-words.ts'
import { waitingSum } from '../../markup/waiting-sum.ts'
import { askReopened } from '../contests/reopened.ts'
import { askCancellations, hasCancelled } from './cancelled-contests.ts'
import { headline } from './today-top.ts'

/** Link preview of the start page: how many closed contests are settled, and what still waits. */
export async function summaryPreview(summary: Summary, view: View): Promise<PreviewCard> {
  const token = drawableToken(view.site)
  const { asOf, spentOnPlay, paidInPrizes, burned, runningPools } = summary
  const isPast = view.query.has('at')
  const payouts = isPast ? null : await askUnpaidTotals(view)
  const waiting = payouts === null ? null : { payouts, reopened: await askReopened(summary.contests, view) }
  return {
    above: isPast ? 'As it stood then' : null,
    headline: plainText(
      headline(summary, { token }, waiting, hasCancelled(await askCancellations(summary, view))),
    ),
    sentence: sentenceOf(summary, payouts, token),
    part: {
      is: 'figures',
      figures: [
        [`Spent on play, ${token}`, cutAmount(spentOnPlay)],
        ['Paid in prizes', cutAmount(paidInPrizes)],
        ['In running pools', cutAmount(runningPools)],
        ['Burned', cutAmount(burned)],
      ],
    },
    state: asOf.at === null ? 'Nothing is published yet' : minuteText(asOf.at),
  }
}

/** The totals of the prizes that are unpaid now. */
export function askUnpaidTotals(view: View): Promise<LinkedAnswer<Payouts>> {
  return askEndpoint(view, 'payouts', { query: 'limit=1' })
}

function sentenceOf(
  { prizesNotRedeemed }: Summary,
  payouts: LinkedAnswer<Payouts> | null,
  token: string,
): string {
  const waits = payouts === null ? prizesNotRedeemed : waitingSum(payouts).figure
  if (isPositive(waits)) {
    return `${cutAmount(waits)} ${token} of prizes still wait. This site says which, and why.`
  }
  // A view of the past knows only the net.
  return `${payouts === null ? '' : 'No prize is waiting to be paid. '}Every event is in this log.`
}
