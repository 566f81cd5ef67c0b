import type { FlowFigures, Flows } from '../../../protocol/range-resources.ts'
import type { Panel } from '../../charts/chart-figure.ts'
import { linePlot } from '../../charts/chart-line.ts'
import type { SeriesStyle } from '../../charts/chart-plot.ts'
import type { Site } from '../../markup/site.ts'

type Flow = Readonly<{ key: keyof FlowFigures; name: string; style: SeriesStyle }>

/** Amounts of a bucket in the order of their lines. */
export const FLOWS: readonly Flow[] = [
  { key: 'spentOnPlay', name: 'Spent on play', style: 1 },
  { key: 'paidInPrizes', name: 'Paid in prizes', style: 2 },
  { key: 'burned', name: 'Burned', style: 3 },
]

/** Number of unfinished buckets, which are the last ones. */
export function unfinishedIn({
  buckets,
}: Readonly<{ buckets: readonly Readonly<{ complete: boolean }>[] }>): number {
  return buckets.filter(({ complete }) => !complete).length
}

/** Plots of the amounts and, below, of the price, since two units never share an axis. */
export function flowPanels(flows: Flows, site: Site): readonly [Panel, Panel] {
  const { fromMs, toMs, buckets, bucket } = flows
  const common = {
    fromMs,
    toMs,
    bucket,
    starts: buckets.map(({ at }) => at),
    unfinished: unfinishedIn(flows),
  }
  const moved = FLOWS.map(({ key, name, style }) => ({
    name: `${name}, ${site.token}`,
    style,
    figures: buckets.map((one) => one[key]),
  }))
  const price = {
    name: `Price of ${site.token} at each ${bucket}’s end, USD`,
    style: 4,
    figures: buckets.map(({ tokenPriceUsd }) => tokenPriceUsd),
  } as const
  const amounts = linePlot({
    ...common,
    id: 'flows',
    title: `Flows by ${bucket}`,
    series: moved,
    placement: 'middle',
    size: 'tall',
    dated: true,
  })
  const prices = linePlot({
    ...common,
    id: 'price',
    title: price.name,
    series: [price],
    placement: 'end',
    size: 'short',
    dated: true,
  })
  return [
    { plot: amounts, lines: moved },
    { plot: prices, lines: [price] },
  ]
}
