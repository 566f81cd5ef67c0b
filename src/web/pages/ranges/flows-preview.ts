import type { Flows } from '../../../protocol/range-resources.ts'
import type { View } from '../../frame/page.ts'
import type { PreviewCard } from '../../preview/preview-card.ts'
import { rangeName } from './range-words.ts'
import { drawableToken } from '../../preview/preview-font.ts'
import { cutAmount, minuteText } from '../../preview/preview-words.ts'

/** Link preview of a range, such as a month: what was paid, spent and burned in it. */
export function flowsPreview(flows: Flows, { site }: View): PreviewCard {
  const token = drawableToken(site)
  const { totals, buckets, asOf } = flows
  const unfinished = buckets.some(({ complete }) => !complete)
  return {
    above: rangeName(flows).words,
    headline: `${cutAmount(totals.paidInPrizes)} ${token} paid in prizes`,
    sentence: `${cutAmount(totals.spentOnPlay)} ${token} spent on play, ${cutAmount(totals.burned)} ${token} burned.`,
    part: { is: 'chart', chart: flows },
    // A finished range says the same for ever.
    state: unfinished && asOf.at !== null ? minuteText(asOf.at) : 'All events of these days',
  }
}
