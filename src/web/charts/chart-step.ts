import { curveStepAfter, line } from 'd3-shape'
import { axisWords, BOX, type Plot, PLOT_HEADS, PLOT_HEIGHTS } from './chart-plot.ts'
import { type Scale, scaleOf } from '../markup/chart-scale.ts'
import { timeMarks } from './chart-time.ts'
import {
  ASCENT,
  type Candidate,
  type ChartRow,
  type ChartWords,
  DESCENT,
  mergedWords,
  openPlacing,
  type SeriesStyle,
} from './chart-words.ts'
import { html } from '../markup/html.ts'

/** A figure that holds from a moment until the next step. */
type StepPoint = Readonly<{ atMs: number; figure: string }>

/** Steps with the words at the end of their line, its name if absent, none if null. The description has the name. */
export type StepSeries = Readonly<{
  name: string
  style: SeriesStyle
  steps: readonly StepPoint[]
  label?: ChartRow | null
}>

/** Figures that change at single moments, in one unit. */
type StepChart = Readonly<{
  id: string
  title: string
  description: string
  fromMs: number
  toMs: number
  /** Steps in order of time. A series starts with its first step and its last one holds to the end. */
  series: readonly StepSeries[]
  size?: 'tall' | 'short'
}>

/** Plot of steps. A table of the page has the same numbers. */
export function stepPlot({ id, title, description, fromMs, toMs, series, size = 'tall' }: StepChart): Plot {
  const figures = series.flatMap(({ steps }) => steps.map(({ figure }) => figure))
  const scale = scaleOf(figures, { head: PLOT_HEADS[size] / PLOT_HEIGHTS[size] })
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
    base: scale.zero,
    x: timeMarks(fromMs, toMs),
    paths: html`${paths}`,
    shapes: null,
    words: mergedWords(wordsOf(series, scale, 'wide', size), wordsOf(series, scale, 'narrow', size)),
    size,
    dated: true,
  }
}

/** Distance of words from their line, above and below it, in pixels. */
const ABOVE = -6
const BELOW = 17

/** Words at the end of each line, above it or below it. */
function wordsOf(
  series: readonly StepSeries[],
  scale: Scale,
  only: 'wide' | 'narrow',
  size: 'tall' | 'short',
): readonly (ChartWords | null)[] {
  const height = PLOT_HEIGHTS[size]
  const placing = openPlacing(only, height, () => height)
  for (const words of axisWords(scale.marks, { size, base: scale.zero, only })) placing.take(words)
  const ended = series.flatMap((one) => {
    const last = one.steps.at(-1)
    return last === undefined ? [] : [{ ...one, y: scale.place(last.figure) * height }]
  })
  const isCrossed = (y: number): boolean => ended.some((one) => one.y > y - ASCENT && one.y < y + DESCENT)
  // The highest line first: only its words have room above them.
  return ended
    .toSorted((one, other) => one.y - other.y)
    .map(({ name, style, label, y }) => {
      if (label === null) return null
      const rows = [{ ...(label ?? { text: name }), style }]
      const candidates = [ABOVE, BELOW, ABOVE - 16, BELOW + 16].map((dy): Candidate => ({
        rows,
        share: 1,
        dx: 0,
        y: y + dy,
        anchor: 'end',
      }))
      const clear = candidates.filter((one) => !isCrossed(one.y))
      return placing.place([...clear, ...candidates], true)
    })
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
