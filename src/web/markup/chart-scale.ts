import { tickStep } from 'd3-array'
import { scaleLinear } from 'd3-scale'

/** Figure as the API gives it: an exact decimal string, or null if unknown. */
export type ChartValue = string | null

/** Mark on an axis: its place as a share of the axis, and its label. */
export type Mark = Readonly<{ share: number; label: string }>

/** Vertical axis. Places are shares of its height, 0 at the top. */
export type Scale = Readonly<{
  marks: readonly Mark[]
  /** Place of zero. */
  zero: number
  place(figure: string): number
}>

/** Target and maximum number of lines across a plot. */
const MARKS = 4
const MARKS_MAX = 6
const SHARE_DECIMALS = 4
const SHARE_UNIT = 10 ** SHARE_DECIMALS

/**
 * Axis that holds all figures and zero, so heights are proportional to values. Figures become floating-point numbers
 * here, only to compute their places.
 */
export function scaleOf(figures: Iterable<ChartValue>, marks: number = MARKS): Scale {
  const { low, high, flat } = domainOf(figures)
  for (let aim = marks; ; aim--) {
    const linear = scaleLinear().domain([low, high]).nice(aim).range([1, 0])
    const ticks = flat ? [0] : linear.ticks(aim)
    if (ticks.length > MARKS_MAX && aim > 1) continue
    const [first = low, last = high] = linear.domain()
    const label = labelsOf(ticks, tickStep(first, last, aim))
    return {
      marks: ticks.map((tick) => ({ share: rounded(linear(tick)), label: label(tick) })),
      zero: rounded(linear(0)),
      place: (figure) => rounded(linear(Number(figure))),
    }
  }
}

/** Axis without marks, for charts that show none. The greatest figure is at its end. */
export function bareScaleOf(figures: Iterable<ChartValue>): Scale {
  const { low, high } = domainOf(figures)
  const linear = scaleLinear().domain([low, high]).range([1, 0])
  return { marks: [], zero: rounded(linear(0)), place: (figure) => rounded(linear(Number(figure))) }
}

/** Range of the figures and zero. If all are zero, zero is at the foot of the plot. */
function domainOf(figures: Iterable<ChartValue>): Readonly<{ low: number; high: number; flat: boolean }> {
  let [low, high] = [0, 0]
  for (const figure of figures) {
    if (figure === null) continue
    const number = Number(figure)
    if (number < low) low = number
    if (number > high) high = number
  }
  return { low, high: low === high ? 1 : high, flat: low === high }
}

const SIZES: readonly (readonly [size: number, letter: string])[] = [
  [1e12, ' T'],
  [1e9, ' B'],
  [1e6, ' M'],
]

/** Formatter of an axis's labels: all in full, or all in millions, billions or trillions. */
function labelsOf(ticks: readonly number[], step: number): (tick: number) => string {
  const greatest = Math.max(...ticks.map(Math.abs))
  const [size, letter] = SIZES.find(([least]) => greatest >= least) ?? [1, '']
  // A step is 1, 2 or 5 times a power of ten, so this many decimals are exact.
  const decimals = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9))
  return (tick) => (tick === 0 ? '0' : `${grouped((tick / size).toFixed(decimals))}${letter}`)
}

/** `1,234.5` for `1234.5`. For labels only, since figures are copied without commas. */
export function grouped(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.')
  const groups = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
  return fraction === undefined ? groups : `${groups}.${fraction}`
}

/** A share rounded to four decimals; smaller differences are invisible. */
export function rounded(share: number): number {
  return Math.round(share * SHARE_UNIT) / SHARE_UNIT
}

/** A share as a percentage for an SVG attribute. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(SHARE_DECIMALS - 2))}%`
}

/** Digits of a figure as an integer, to compare figures with the same number of decimals exactly. */
export function digitsOf(figure: string): bigint {
  return BigInt(figure.replace('.', ''))
}
