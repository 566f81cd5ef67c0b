import { scaleLinear } from 'd3-scale'
import { line } from 'd3-shape'
import { pictureStyle } from '../../../src/web/charts/chart-picture.ts'
import { colourOf } from '../../../src/web/markup/colours.ts'

/** A figure over time: one line for each node. Null breaks a line. */
export type Panel = Readonly<{
  title: string
  unit: string
  lines: readonly Readonly<{ name: string; values: readonly (number | null)[] }>[]
}>

type Picture = Readonly<{
  title: string
  subtitle: string
  /** Simulated hour of each sample. */
  hours: readonly number[]
  /** Simulated hours at which something happened, and its name. */
  marks: readonly Readonly<{ hour: number; name: string }>[]
  panels: readonly Panel[]
}>

const WIDTH = 960
const SIDE = 64
const HEAD = 64
const PANEL = 96
const TITLE = 26
const GAP = 20
const FOOT = 40
const COLOURS = [colourOf('spent', 'light'), colourOf('paid', 'light')]
/** Samples whose median is drawn as one point. */
const POINTS_MAX = 240

/** Small plots below each other, with one axis of simulated hours. */
export function soakPicture({ title, subtitle, hours, marks, panels }: Picture): string {
  const last = hours.at(-1) ?? 1
  const x = scaleLinear([0, last], [SIDE, WIDTH - SIDE / 2])
  const height = HEAD + panels.length * (TITLE + PANEL + GAP) + FOOT
  const body = panels.map((panel, index) =>
    panelOf(panel, HEAD + index * (TITLE + PANEL + GAP), x, hours, marks),
  )
  const ticks = x
    .ticks(12)
    .map(
      (hour) =>
        `<text text-anchor="middle" x="${round(x(hour))}" y="${height - 18}">${hour === 0 ? 'hour 0' : hour}</text>`,
    )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${title}">
<style>${pictureStyle('auto')}</style>
<rect class="bg" width="100%" height="100%"/>
<text class="name" x="${SIDE}" y="28">${title}</text>
<text x="${SIDE}" y="48">${subtitle}</text>
${body.join('\n')}
${ticks.join('')}
</svg>
`
}

function panelOf(
  { title, unit, lines }: Panel,
  top: number,
  x: (hour: number) => number,
  hours: readonly number[],
  marks: Picture['marks'],
): string {
  const most = Math.max(1, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const y = scaleLinear([0, most], [top + TITLE + PANEL, top + TITLE]).nice(3)
  const [left, right] = [SIDE, WIDTH - SIDE / 2]
  const grid = y.ticks(3).map((value) => {
    const at = round(y(value))
    return `<line x1="${left}" x2="${right}" y1="${at}" y2="${at}" stroke="${colourOf('hair', 'light')}" stroke-width="1" opacity=".6"/><text text-anchor="end" x="${left - 6}" y="${at + 4}">${value.toLocaleString('en')}</text>`
  })
  const marked = marks.map(({ hour, name }) => {
    const at = round(x(hour))
    return `<line x1="${at}" x2="${at}" y1="${top + TITLE}" y2="${top + TITLE + PANEL}" stroke="${colourOf('edge', 'light')}" stroke-width="1" stroke-dasharray="2 3"><title>${name}</title></line>`
  })
  const drawn = lines.map(({ values }, index) => {
    const path = line<readonly [number, number | null]>()
      .defined(([, value]) => value !== null)
      .x(([hour]) => round(x(hour)))
      .y(([, value]) => round(y(value ?? 0)))(thinned(hours, values))
    return `<path d="${path ?? ''}" fill="none" stroke="${COLOURS[index % COLOURS.length]}" stroke-width="1.5"/>`
  })
  const names = lines.map(
    ({ name }, index) => `<tspan dx="12" fill="${COLOURS[index % COLOURS.length]}">${name}</tspan>`,
  )
  return `<text class="ink" x="${left}" y="${top + 16}">${title}, ${unit}${names.join('')}</text>
${grid.join('')}${marked.join('')}${drawn.join('')}`
}

/** Medians of neighbouring samples, so that the picture stays small. A gap stays a gap. */
function thinned(
  hours: readonly number[],
  values: readonly (number | null)[],
): readonly (readonly [number, number | null])[] {
  const width = Math.max(1, Math.ceil(hours.length / POINTS_MAX))
  const points: (readonly [number, number | null])[] = []
  for (let at = 0; at < hours.length; at += width) {
    const known = values.slice(at, at + width).filter((value) => value !== null)
    const ordered = known.toSorted((a, b) => a - b)
    points.push([hours[at] ?? 0, ordered[Math.floor(ordered.length / 2)] ?? null])
  }
  return points
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
