import { curveStepAfter, line } from 'd3-shape'
import type { Plot, SeriesStyle } from './chart-plot.ts'
import { BOX } from './chart-plot.ts'
import type { Scale } from '../markup/chart-scale.ts'
import { scaleOf } from '../markup/chart-scale.ts'
import { timeMarks } from './chart-time.ts'
import { html } from '../markup/html.ts'

/** A figure that holds from a moment on, until the next one. */
type StepPoint = Readonly<{ atMs: number; figure: string }>

export type StepSeries = Readonly<{ name: string; style: SeriesStyle; steps: readonly StepPoint[] }>

/** Figures that change at single moments, in one unit. */
type StepChart = Readonly<{
  id: string
  title: string
  description: string
  fromMs: number
  toMs: number
  /** In the order of their moments; a series begins with its first step and holds to the end. */
  series: readonly StepSeries[]
}>

/** A plot of steps. What it shows stands in a table of the page that draws it. */
export function stepPlot({ id, title, description, fromMs, toMs, series }: StepChart): Plot {
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

/** More steps than these are drawn at whole places of the box: a page could not bear the weight of ten thousand. */
const STEPS_EXACT_MAX = 300

type Place = readonly [x: number, y: number]

function stepPath(steps: readonly StepPoint[], scale: Scale, share: (atMs: number) => number): string {
  const places = steps.map(({ atMs, figure }): Place => [
    Math.min(1, Math.max(0, share(atMs))) * BOX,
    scale.place(figure) * BOX,
  ])
  const draw = line<Place>().curve(curveStepAfter).digits(1)
  return draw(steps.length > STEPS_EXACT_MAX ? wholePlaces(places) : places) ?? ''
}

/** The figure with which each whole place is left, and the one that the first begins with. */
function wholePlaces(places: readonly Place[]): readonly Place[] {
  const byX = new Map(places.map(([x, y]) => [Math.round(x), Math.round(y)]))
  const first = places.slice(0, 1).map(([x, y]): Place => [Math.round(x), Math.round(y)])
  return [...first, ...byX]
}
