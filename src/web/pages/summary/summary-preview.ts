import type { Summary } from '../../../protocol/resources.ts'
import { isPositive } from '../../markup/amount-html.ts'
import { plainText } from '../../markup/page-lead.ts'
import type { View } from '../../frame/page.ts'
import type { PreviewCard } from '../../preview/preview-card.ts'
import { drawableToken } from '../../preview/preview-font.ts'
import { cutAmount, minuteText } from '../../preview/preview-words.ts'
import { headline } from './today-top.ts'

/** Link preview of the start page: how many closed contests are paid in full, and what still waits. */
export function summaryPreview(summary: Summary, { site, query }: View): PreviewCard {
  const token = drawableToken(site)
  const { asOf, spentOnPlay, paidInPrizes, burned, runningPools, prizesNotRedeemed } = summary
  return {
    above: query.has('at') ? 'As it stood then' : null,
    headline: plainText(headline(summary, { token })),
    sentence: isPositive(prizesNotRedeemed)
      ? `${cutAmount(prizesNotRedeemed)} ${token} of prizes still wait. This book says which, and why.`
      : 'No prize waits to be paid. Every event is in this book.',
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
