import type { Summary } from '../../../protocol/resources.ts'
import { isPositive } from '../../markup/amount-html.ts'
import { grouped } from '../../markup/chart-scale.ts'
import type { View } from '../../frame/page.ts'
import type { PreviewCard } from '../../preview/preview-card.ts'
import { drawableToken } from '../../preview/preview-font.ts'
import { cutAmount, minuteText } from '../../preview/preview-words.ts'

/** Link preview of the start page: how many closed contests are paid in full, and what still waits. */
export function summaryPreview(summary: Summary, { site, query }: View): PreviewCard {
  const token = drawableToken(site)
  const { asOf, spentOnPlay, paidInPrizes, burned, runningPools, prizesNotRedeemed } = summary
  return {
    above: query.has('at') ? 'As it stood then' : null,
    headline: headlineOf(summary),
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

function headlineOf({ contests, asOf, prizesNotRedeemed }: Summary): string {
  const { upcoming, running, paying, paid } = contests
  const closed = paying + paid
  if (asOf.seq === 0) return 'The book is open, and its first page is blank'
  if (closed === 0 && running > 0) return `${counted(running, 'contest is', 'contests are')} running`
  if (closed === 0) return `${counted(upcoming, 'contest is', 'contests are')} planned`
  if (paying > 0)
    return `${grouped(String(paid))} of ${counted(closed, 'closed contest is', 'closed contests are')} paid in full`
  // A correction may open a prize of a contest that was paid in full.
  if (isPositive(prizesNotRedeemed)) return 'Prizes of paid contests are open again'
  return closed === 1
    ? 'The one closed contest is paid in full'
    : `All ${grouped(String(closed))} closed contests are paid in full`
}

function counted(count: number, one: string, many: string): string {
  return `${grouped(String(count))} ${count === 1 ? one : many}`
}
