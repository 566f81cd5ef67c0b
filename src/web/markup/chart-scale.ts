import { tickStep } from 'd3-array'
import { scaleLinear } from 'd3-scale'

/** A figure of an answer as the wire has it: an exact decimal string, or null where it is not known. */
export type ChartValue = string | null

/** A mark on an axis: its place as a share of the axis, and what is written beside it. */
export type Mark = Readonly<{ share: number; label: string }>

/** Where figures stand on a vertical axis: shares of its height, 0 at the top. */
export type Scale = Readonly<{
  marks: readonly Mark[]
  /** The share at which zero stands. */
  zero: number
  place(figure: string): number
}>

/** Lines across a plot that are aimed at, and the most that there ever are. */
const MARKS = 4
const MARKS_MAX = 6
const SHARE_DECIMALS = 4
const SHARE_UNIT = 10 ** SHARE_DECIMALS

/**
 * An axis on which all figures have a place, and zero too: what is drawn twice as high is twice as much. Figures become
 * floating-point numbers here, for their places and nothing else.
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

/** The places of figures on an axis that is not shown: the greatest stands at its very end. */
export function bareScaleOf(figures: Iterable<ChartValue>): Scale {
  const { low, high } = domainOf(figures)
  const linear = scaleLinear().domain([low, high]).range([1, 0])
  return { marks: [], zero: rounded(linear(0)), place: (figure) => rounded(linear(Number(figure))) }
}

/** From the least to the greatest figure, zero among them; where all are zero it is the foot of the plot. */
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

/** Round values in full, or from a million on in millions; all of an axis alike. */
function labelsOf(ticks: readonly number[], step: number): (tick: number) => string {
  const greatest = Math.max(...ticks.map(Math.abs))
  const [size, letter] = SIZES.find(([least]) => greatest >= least) ?? [1, '']
  // A step is 1, 2 or 5 of some power of ten: so many decimals say it exactly.
  const decimals = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9))
  return (tick) => (tick === 0 ? '0' : `${grouped((tick / size).toFixed(decimals))}${letter}`)
}

/** `1,234.5` for `1234.5`: only what is not copied as a figure is written so. */
export function grouped(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.')
  const groups = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
  return fraction === undefined ? groups : `${groups}.${fraction}`
}

/** A share of an axis with so many decimals as can be seen. */
export function rounded(share: number): number {
  return Math.round(share * SHARE_UNIT) / SHARE_UNIT
}

/** A share as an attribute of SVG. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(SHARE_DECIMALS - 2))}%`
}

/** The digits of a figure as an integer: figures with the same number of decimals are compared by it, exactly. */
export function digitsOf(figure: string): bigint {
  return BigInt(figure.replace('.', ''))
}
