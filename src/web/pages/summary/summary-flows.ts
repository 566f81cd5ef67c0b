import type { Summary } from '../../../protocol/endpoints/figure-endpoints.ts'
import { chartPicture, sourceOf, themeOf } from '../../charts/chart-picture.ts'
import type { View } from '../../frame/page.ts'
import type { Html } from '../../markup/html.ts'
import { momentText } from '../../markup/moment-html.ts'
import { flowsPlot, unfinishedIn } from '../ranges/flows-chart.ts'
import { askFlows } from './summary-figures.ts'

/** Chart of ninety days as a picture. Without events it shows zeros up to now. */
export async function flowsPicture(summary: Summary, view: View): Promise<Html> {
  const { answer } = await askFlows(summary, view)
  return chartPicture(
    {
      title: 'Flows by day',
      asOf: summary.asOf,
      range: `${momentText(answer.from)} to ${momentText(answer.to)}`,
      ...sourceOf(view),
      growing: unfinishedIn(answer) > 0,
    },
    [flowsPlot(answer, view.site)],
    themeOf(view),
  )
}
