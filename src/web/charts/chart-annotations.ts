import {
  axisWords,
  BAR_WIDTH_SHARE,
  type ChartAnnotation,
  type Lines,
  PLOT_HEIGHTS,
  type Series,
  type Share,
} from './chart-plot.ts'
import { shortAmount } from '../markup/amount-html.ts'
import { digitsOf, type Scale } from '../markup/chart-scale.ts'
import { bucketMark } from './chart-time.ts'
import {
  type Candidate,
  type ChartRow,
  type ChartWords,
  mergedWords,
  openPlacing,
  type Placing,
} from './chart-words.ts'
import { type Html, html } from '../markup/html.ts'

/** Further bars that are named: how many, their least share of the highest, and their least distance in buckets. */
const MORE_PEAKS_MAX = 2
const MORE_PEAKS_SHARE = 2n
const MORE_PEAKS_APART = 3
/** Distance of words from their mark, in pixels. */
const BESIDE = 6
const ABOVE = 6
const ROW = 16
/** Most distance of a last figure from its line, in pixels. */
const NEAR_MAX = 40
/** Places that are tried for the name of a line, at most. */
const TRIED_MAX = 200

/** Everything that places words in one plot. */
type Drawn = Readonly<{ lines: Lines; scale: Scale; share: Share; height: number }>

/** Words of all annotations, for wide and for narrow plots. */
export function annotationWords(lines: Lines, scale: Scale, share: Share): readonly ChartWords[] {
  const { annotations = [], size, zero = true } = lines
  if (annotations.length === 0 || lines.starts.length === 0) return []
  const height = PLOT_HEIGHTS[size]
  const drawn: Drawn = { lines, scale, share, height }
  const placed = (only: 'wide' | 'narrow'): readonly (ChartWords | null)[] => {
    const placing = openPlacing(only, height, topBetween(drawn))
    for (const words of axisWords(scale.marks, { size, base: zero ? scale.zero : null, only }))
      placing.reserve(words)
    const first = annotations.map((one) => (one.at === 'last' ? null : main(one, drawn, placing, only)))
    if (only === 'narrow') return first
    const last = annotations.map((one) => (one.at === 'last' ? lastOf(one, drawn, placing) : null))
    const further = annotations.flatMap((one) => (one.at === 'peak' ? morePeaks(one, drawn, placing) : []))
    return [...first, ...last, ...further]
  }
  return mergedWords(placed('wide'), placed('narrow'))
}

function main(
  one: Exclude<ChartAnnotation, { at: 'last' }>,
  drawn: Drawn,
  placing: Placing,
  only: 'wide' | 'narrow',
): ChartWords | null {
  if (one.at === 'moment') return momentWords(one, drawn, placing)
  if (one.at === 'name') return nameOf(one.series, drawn, placing)
  const [index] = highest(one.series)
  if (index === undefined) return null
  const { text, shown } = figureOf(one, index)
  const name = one.series.name
  const date = dateRow(one, index, drawn)
  const together: readonly ChartRow[] = [
    { text: `${name}: ${text}`, style: one.series.style, shown: html`${name}: ${shown}` },
    date,
  ]
  const apart: readonly ChartRow[] = [
    { text: name, style: one.series.style },
    { text, style: one.series.style, shown },
    date,
  ]
  const candidates = (rows: readonly ChartRow[]): readonly Candidate[] => [
    ...atBar(rows, index, drawn),
    ...overBar(rows, index, drawn, placing),
  ]
  return placing.place(
    only === 'wide' ? candidates(together) : [...candidates(together), ...candidates(apart)],
    true,
  )
}

/** Places beside a bar's top, then above it. */
function atBar(
  rows: readonly ChartRow[],
  index: number,
  { lines, scale, share, height }: Drawn,
): readonly Candidate[] {
  const bars = lines.series.find(({ drawn }) => drawn === 'bars')
  const top = scale.place(bars?.figures[index] ?? '0') * height
  const half = BAR_WIDTH_SHARE / 2 / lines.starts.length
  const beside = Math.max(12, top + 10)
  const above = top - BESIDE - (rows.length - 1) * ROW
  const at = share(index)
  return [
    { rows, share: at + half, dx: BESIDE, y: beside, anchor: 'start' },
    { rows, share: at - half, dx: -BESIDE, y: beside, anchor: 'end' },
    { rows, share: at, dx: 0, y: above, anchor: 'middle' },
    { rows, share: at, dx: 0, y: above, anchor: 'start' },
    { rows, share: at, dx: 0, y: above, anchor: 'end' },
  ]
}

/** Places above all marks, from where a line leads down to the bar. */
function overBar(
  rows: readonly ChartRow[],
  index: number,
  { lines, scale, share, height }: Drawn,
  placing: Placing,
): readonly Candidate[] {
  const bars = lines.series.find(({ drawn }) => drawn === 'bars')
  const lead = Math.round(scale.place(bars?.figures[index] ?? '0') * height)
  return (['middle', 'start', 'end'] as const).map((anchor) => {
    const place = { rows, share: share(index), dx: 0, anchor }
    return { ...place, lead, y: Math.round(placing.above(place, ABOVE)) }
  })
}

/** Buckets of positive figures, the highest first. */
function highest({ figures }: Series): readonly number[] {
  const known = figures.map((figure, index) => ({ index, digits: digitsOf(figure ?? '0') }))
  return known
    .filter(({ digits }) => digits > 0n)
    .toSorted((a, b) => (a.digits === b.digits ? a.index - b.index : a.digits > b.digits ? -1 : 1))
    .map(({ index }) => index)
}

/** The next highest bars, apart from the highest one and from each other. */
function morePeaks(
  one: Extract<ChartAnnotation, { at: 'peak' | 'last' }>,
  drawn: Drawn,
  placing: Placing,
): readonly (ChartWords | null)[] {
  const order = highest(one.series)
  const digits = (index: number): bigint => digitsOf(one.series.figures[index] ?? '0')
  const [first] = order
  if (first === undefined) return []
  const chosen = [first]
  for (const index of order) {
    if (chosen.length > MORE_PEAKS_MAX || digits(index) * MORE_PEAKS_SHARE < digits(first)) break
    if (chosen.every((other) => Math.abs(other - index) > MORE_PEAKS_APART)) chosen.push(index)
  }
  return chosen.slice(1).map((index) => {
    const rows = [{ ...figureOf(one, index), style: one.series.style }, dateRow(one, index, drawn)]
    return placing.place(atBar(rows, index, drawn), false)
  })
}

/** The name of a line, where it is nearest to it. */
function nameOf(
  { name, style, figures }: Series,
  { scale, share, height }: Drawn,
  placing: Placing,
): ChartWords | null {
  const rows = [{ text: name, style }]
  const each = Math.ceil(figures.length / TRIED_MAX)
  const tried = figures.flatMap((figure, index) => {
    if (figure === null || index % each !== 0) return []
    const place = { rows, share: share(index), dx: 0, anchor: 'middle' } as const
    const y = placing.above(place, ABOVE)
    return [{ candidate: { ...place, y }, away: scale.place(figure) * height - y }]
  })
  const nearest = tried.toSorted((a, b) => a.away - b.away).map(({ candidate }) => candidate)
  const free = [0.3, 0.5, 0.7, 0.15, 0.85].map((at): Candidate => ({
    rows,
    share: at,
    dx: 0,
    y: ABOVE * 2,
    anchor: 'middle',
  }))
  return placing.place([...nearest, ...free], true)
}

/** Figure and bucket of the last complete bucket of a line. */
function lastOf(
  one: Extract<ChartAnnotation, { at: 'peak' | 'last' }>,
  drawn: Drawn,
  placing: Placing,
): ChartWords | null {
  const index = one.series.figures.length - drawn.lines.unfinished - 1
  if ((one.series.figures[index] ?? null) === null) return null
  const { text, shown } = figureOf(one, index)
  const date = dateRow(one, index, drawn)
  const row = {
    text: `${text} ${date.text}`,
    style: one.series.style,
    shown: html`${shown} <tspan class="soft">${date.shown ?? date.text}</tspan>`,
  }
  const place = { rows: [row], share: drawn.share(index), dx: 0, anchor: 'end' } as const
  const y = placing.above(place, ABOVE)
  const isNear = drawn.scale.place(one.series.figures[index] ?? '0') * drawn.height - y < NEAR_MAX
  return isNear ? placing.place([{ ...place, y }], false) : null
}

/** Words at a moment, at the highest place that is free. */
function momentWords(
  { atMs, text, pointer }: Extract<ChartAnnotation, { at: 'moment' }>,
  { lines, height }: Drawn,
  placing: Placing,
): ChartWords | null {
  const at = shareOf(atMs, lines)
  if (at === null) return null
  const day = bucketMark('day', atMs)
  const rows = [{ text }, { text: day, shown: html`<tspan data-expr="day ${pointer}">${day}</tspan>` }]
  const heights = Array.from({ length: Math.floor(height / 8) }, (_, index) => 12 + index * 8)
  return placing.place(
    heights.flatMap((y): readonly Candidate[] => [
      { rows, share: at, dx: BESIDE, y, anchor: 'start' },
      { rows, share: at, dx: -BESIDE, y, anchor: 'end' },
    ]),
    false,
  )
}

/** Place of a moment in the buckets; null outside the range. */
export function shareOf(atMs: number, { starts, toMs }: Lines): number | null {
  const begins = [...starts.map((at) => Date.parse(at)), toMs]
  const index = begins.findLastIndex((begin) => begin <= atMs)
  const [from, to] = [begins[index], begins[index + 1]]
  if (from === undefined || to === undefined) return null
  return (index + (atMs - from) / (to - from)) / starts.length
}

function figureOf(
  { series, pointerOf }: Extract<ChartAnnotation, { at: 'peak' | 'last' }>,
  index: number,
): Readonly<{ text: string; shown: Html }> {
  const text = shortAmount(series.figures[index] ?? '0')
  return { text, shown: html`<tspan data-expr="cut ${pointerOf(index, 'figure')}">${text}</tspan>` }
}

/** Row that names a bucket. */
function dateRow(
  { pointerOf }: Extract<ChartAnnotation, { at: 'peak' | 'last' }>,
  index: number,
  { lines: { bucket, starts } }: Drawn,
): ChartRow & Readonly<{ shown: Html }> {
  const said = bucketMark(bucket, Date.parse(starts[index] ?? ''))
  const form = bucket === 'month' ? 'month' : bucket === 'hour' || bucket === 'minute' ? 'clock' : 'day'
  const before = bucket === 'week' ? 'week of ' : ''
  return {
    text: `${before}${said}`,
    shown: html`${before}<tspan data-expr="${form} ${pointerOf(index, 'at')}">${said}</tspan>`,
  }
}

/** Marks of the plot, as the top of the highest one between two shares of the width. */
function topBetween({ lines, scale, share, height }: Drawn): (from: number, to: number) => number {
  const points = lines.starts.length
  const half = BAR_WIDTH_SHARE / 2 / points
  return (from, to) => {
    let top = scale.zero * height
    const [first, last] = [
      Math.max(0, Math.floor(from * points) - 1),
      Math.min(points - 1, Math.ceil(to * points)),
    ]
    for (const { drawn, figures } of lines.series) {
      for (let index = first; index <= last; index++) {
        const at = share(index)
        const figure = figures[index] ?? null
        const isUnder = drawn !== 'bars' || (at + half >= from && at - half <= to)
        if (figure !== null && isUnder) top = Math.min(top, scale.place(figure) * height)
      }
    }
    return top
  }
}
