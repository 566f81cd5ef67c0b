import type { KindFigure } from '../../../project/fold/tally.ts'
import type { FlowFigures, Flows } from '../../../protocol/endpoints/figure-endpoints.ts'
import type { Lines, Plot, Series, SeriesStyle } from '../../charts/chart-plot.ts'
import { chartGroup } from '../../charts/chart-figure.ts'
import { linePlot } from '../../charts/chart-line.ts'
import { type Html, html } from '../../markup/html.ts'
import type { LinkedAnswer } from '../../frame/page.ts'
import type { Site } from '../../markup/site.ts'

/** Name of each movement on every page, those with a chart first. */
export const FLOW_NAMES: Readonly<Record<keyof FlowFigures, string>> = {
  spentOnPlay: 'Spent on play',
  paidInPrizes: 'Paid in prizes',
  burned: 'Burned',
  paidInLoyalty: 'Paid as loyalty reward',
  refunded: 'Refunded to players',
  expired: 'Prizes never claimed',
  sponsored: 'Put in by sponsors',
  deposited: 'Put into the treasury',
  withdrawn: 'Taken out of the treasury',
}

type Flow = Readonly<{
  key: KindFigure
  name: string
  style: SeriesStyle
  drawn: 'area' | 'bars'
}>

const SPENT: Flow = { key: 'spentOnPlay', name: FLOW_NAMES.spentOnPlay, style: 1, drawn: 'area' }
const PAID: Flow = { key: 'paidInPrizes', name: FLOW_NAMES.paidInPrizes, style: 2, drawn: 'bars' }
const BURNED: Flow = { key: 'burned', name: FLOW_NAMES.burned, style: 3, drawn: 'bars' }

/** Amounts of a bucket, in the order of the table. */
export const FLOWS: readonly Flow[] = [SPENT, PAID, BURNED]

/** Number of unfinished buckets, which are the last ones. */
export function unfinishedIn({
  buckets,
}: Readonly<{ buckets: readonly Readonly<{ complete: boolean }>[] }>): number {
  return buckets.filter(({ complete }) => !complete).length
}

/** Common parts of all plots of an answer. */
function commonOf(
  flows: Flows,
): Pick<Lines, 'fromMs' | 'toMs' | 'bucket' | 'starts' | 'unfinished' | 'dated'> {
  const { fromMs, toMs, bucket, buckets } = flows
  return {
    fromMs,
    toMs,
    bucket,
    starts: buckets.map(({ at }) => at),
    unfinished: unfinishedIn(flows),
    dated: true,
  }
}

function seriesOf({ key, name, style, drawn }: Flow, { buckets }: Flows): Series {
  return { name, field: key, style, drawn, figures: buckets.map((one) => one[key]) }
}

/**
 * Plot of spending as a line, and of prizes as bars. `from` is the answer's address and `#`; empty for the page's own
 * answer.
 */
export function flowsPlot(flows: Flows, { token }: Site, from = ''): Plot {
  const [spent, paid] = [seriesOf(SPENT, flows), seriesOf(PAID, flows)]
  const pointerOf = (index: number, field: 'figure' | 'at'): string =>
    `${from}/buckets/${index}/${field === 'at' ? 'at' : PAID.key}`
  return linePlot({
    ...commonOf(flows),
    id: 'flows',
    title: `Spent on play and paid in prizes by ${flows.bucket}, ${token}`,
    series: [spent, paid],
    placement: 'middle',
    size: 'tall',
    names: { bars: paid, line: spent, pointerOf },
  })
}

/** Plot of burned tokens, as bars. */
export function burnedPlot(flows: Flows, { token }: Site): Plot {
  return linePlot({
    ...commonOf(flows),
    id: 'burned',
    title: `Burned by ${flows.bucket}, ${token}`,
    series: [seriesOf(BURNED, flows)],
    placement: 'middle',
    size: 'short',
  })
}

/** Plot of the price. Its axis omits zero, so that changes are visible. */
export function pricePlot(flows: Flows, { token }: Site): Plot {
  const name = `Price of ${token} at each ${flows.bucket}’s end, USD`
  return linePlot({
    ...commonOf(flows),
    id: 'price',
    title: name,
    series: [
      {
        name,
        field: 'tokenPriceUsd',
        style: 4,
        drawn: 'line',
        figures: flows.buckets.map((one) => one.tokenPriceUsd),
      },
    ],
    placement: 'end',
    size: 'short',
    zero: false,
  })
}

/** Chart of the start page: daily spending and prizes, from an answer that the page links. */
export function dailyFlows({ answer, address }: LinkedAnswer<Flows>, site: Site): Html {
  return chartGroup({
    main: flowsPlot(answer, site, `${address}#`),
    caption: html`${site.token} a day, UTC. The line is what players spent, the bars what was paid in
    prizes.${unfinishedIn(answer) > 0 ? ' Pale: today, not over yet.' : null}`,
    panels: [],
    placement: 'middle',
    page: '/flows',
    range: answer,
  })
}
