import { curveStepAfter, line } from 'd3-shape'
import type { Plot, SeriesStyle } from './chart-plot.ts'
import { BOX } from './chart-plot.ts'
import type { Scale } from './chart-scale.ts'
import { scaleOf } from './chart-scale.ts'
import { timeMarks } from './chart-time.ts'
import { html } from '../html.ts'

/** A figure that holds from a moment on, until the next one. */
export type Step = Readonly<{ atMs: number; figure: string }>

export type StepSeries = Readonly<{ name: string; style: SeriesStyle; steps: readonly Step[] }>

/** Figures that change at single moments, in one unit. */
export type Steps = Readonly<{
  id: string
  title: string
  description: string
  fromMs: number
  toMs: number
  /** In the order of their moments; a series begins with its first step and holds to the end. */
  series: readonly StepSeries[]
}>

/** A plot of steps. What it shows stands in a table of the page that draws it. */
export function stepPlot({ id, title, description, fromMs, toMs, series }: Steps): Plot {
  const scale = scaleOf(series.flatMap(({ steps }) => steps.map(({ figure }) => figure)))
  const width = Math.max(1, toMs - fromMs)
  const paths = series.map(({ style, steps }) => {
    const last = steps.at(-1)
    const held = last === undefined ? steps : [...steps, { atMs: toMs, figure: last.figure }]
    return html`<path class="s${style}" d="${stepPath(held, scale, (atMs) => (atMs - fromMs) / width)}" />`
  })
  return {
    id,
    title,
    description,
    y: scale.marks,
    x: timeMarks(fromMs, toMs),
    paths: html`${paths}`,
    shapes: null,
    size: 'tall',
    dated: true,
    points: 1,
  }
}

function stepPath(steps: readonly Step[], scale: Scale, share: (atMs: number) => number): string {
  const draw = line<Step>()
    .curve(curveStepAfter)
    .x(({ atMs }) => Math.min(1, Math.max(0, share(atMs))) * BOX)
    .y(({ figure }) => scale.place(figure) * BOX)
    .digits(1)
  return draw(steps) ?? ''
}
