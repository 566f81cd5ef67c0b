import { curveStepAfter, line } from 'd3-shape'
import type { Plot, SeriesStyle } from './chart-plot.ts'
import { BOX } from './chart-plot.ts'
import type { Scale } from '../markup/chart-scale.ts'
import { scaleOf } from '../markup/chart-scale.ts'
import { timeMarks } from './chart-time.ts'
import { html } from '../markup/html.ts'

/** A figure that holds from a moment until the next step. */
type StepPoint = Readonly<{ atMs: number; figure: string }>

export type StepSeries = Readonly<{ name: string; style: SeriesStyle; steps: readonly StepPoint[] }>

/** Figures that change at single moments, in one unit. */
type StepChart = Readonly<{
  id: string
  title: string
  description: string
  fromMs: number
  toMs: number
  /** Steps in order of time. A series starts with its first step and its last one holds to the end. */
  series: readonly StepSeries[]
}>

/** Plot of steps. A table of the page has the same numbers. */
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

/** Most steps with exact places. More steps have whole places, to keep the page small. */
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

/** Steps rounded to whole places: the last figure at each, and the first one of all. */
function wholePlaces(places: readonly Place[]): readonly Place[] {
  const byX = new Map(places.map(([x, y]) => [Math.round(x), Math.round(y)]))
  const first = places.slice(0, 1).map(([x, y]): Place => [Math.round(x), Math.round(y)])
  return [...first, ...byX]
}
