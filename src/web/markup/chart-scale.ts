import { tickStep } from 'd3-array'
import { scaleLinear } from 'd3-scale'

/** Figure as in the API: an exact decimal string, or null if unknown. */
export type ChartValue = string | null

/** Mark on an axis: its position as a share of the axis, and its label. */
export type Mark = Readonly<{ share: number; label: string }>

/** Vertical axis. Positions are shares of its height, 0 at the top. */
export type Scale = Readonly<{
  marks: readonly Mark[]
  /** Place of zero. */
  zero: number
  /** Figures at the bottom and at the top of the plot. */
  ends: readonly [bottom: number, top: number]
  place(figure: string): number
}>

/** Target and maximum number of lines across a plot. */
const MARKS = 4
const MARKS_MAX = 6
const SHARE_DECIMALS = 4
const SHARE_UNIT = 10 ** SHARE_DECIMALS
/**
 * Least range of an axis without zero, as a share of its greatest figure: 4,500 times the rounding error of a number.
 */
const LEAST_RANGE = 1e-12

/** Form of an axis. */
type AxisForm = Readonly<{
  /** Target number of marks. */
  marks?: number
  /** Share of the height that stays free above the greatest figure. */
  head?: number
  /** Whether the axis includes zero, so that heights are proportional to values. */
  zero?: boolean
}>

/** Axis that includes all figures. Figures become floating-point numbers here, only to compute positions. */
export function scaleOf(figures: Iterable<ChartValue>, form: AxisForm = {}): Scale {
  const { marks = MARKS, head = 0, zero = true } = form
  const { low, high, flat } = zero ? domainOf(figures) : rangeOf(figures)
  for (let aim = marks; ; aim--) {
    const linear = scaleLinear().domain([low, high]).range([1, head])
    if (!zero) linear.nice(aim)
    const ticks = flat ? [low] : linear.ticks(aim)
    if (ticks.length > MARKS_MAX && aim > 1) continue
    const [first = low, last = high] = linear.domain()
    const step = tickStep(first, last, aim)
    const label = labelsOf(ticks, step)
    return {
      marks: ticks.map((tick) => ({ share: rounded(linear(tick)), label: label(tick) })),
      zero: rounded(Math.min(1, linear(0))),
      ends: [linear.invert(1), linear.invert(0)],
      place: (figure) => rounded(linear(Number(figure))),
    }
  }
}

/** Range of the figures and zero. If all are zero, zero is at the bottom of the plot. */
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

/** Range of the figures alone. Wider if they are equal, or too close for floating-point numbers between them. */
function rangeOf(figures: Iterable<ChartValue>): ReturnType<typeof domainOf> {
  const known = [...figures].flatMap((figure) => (figure === null ? [] : [Number(figure)]))
  if (known.length === 0) return domainOf([])
  const [low, high] = [Math.min(...known), Math.max(...known)]
  if (low === 0 && high === 0) return domainOf([])
  const most = Math.max(Math.abs(low), Math.abs(high))
  const around = high - low <= most * LEAST_RANGE ? most / 2 : 0
  return { low: low - around, high: high + around, flat: false }
}

const SIZES: readonly (readonly [size: number, letter: string])[] = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'k'],
]

/** Formatter of an axis's labels: all in the greatest unit that fits, but in thousands only if these are whole. */
function labelsOf(ticks: readonly number[], step: number): (tick: number) => string {
  const greatest = Math.max(...ticks.map(Math.abs))
  const [size, letter] = SIZES.find(([least]) => greatest >= least && (least > 1_000 || step >= 1_000)) ?? [
    1,
    '',
  ]
  // A step is 1, 2 or 5 times a power of ten, so this many decimals are exact.
  const decimals = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9))
  return (tick) => (tick === 0 ? '0' : `${grouped((tick / size).toFixed(decimals))}${letter}`)
}

/** `1,234.5` for `1234.5`. */
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

/** Index of the greatest figure, the first of several; null if none is above zero. */
export function greatestIndex(figures: readonly ChartValue[]): number | null {
  let [most, digits]: [number | null, bigint] = [null, 0n]
  for (const [index, figure] of figures.entries()) {
    const here = digitsOf(figure ?? '0')
    if (here > digits) [most, digits] = [index, here]
  }
  return most
}
