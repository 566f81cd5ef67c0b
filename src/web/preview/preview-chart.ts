import type { Bucket, Flows } from '../../protocol/range-resources.ts'
import { bareScaleOf, digitsOf } from '../markup/chart-scale.ts'
import { type Html, html } from '../markup/html.ts'
import { drawLine, fixedPixels } from './preview-line.ts'
import { textWidth } from './preview-font.ts'
import { TONES } from './preview-theme.ts'
import { cutAmount, dayText, minuteText, monthText } from './preview-words.ts'

/** Buckets that a chart shows: what was paid as bars, and what was spent as a line. */
export type FlowsChart = Pick<Flows, 'buckets' | 'bucket'>

type Place = Readonly<{ left: number; top: number; width: number; height: number }>

/** Height below the plot, for the first and the last day. */
const AXIS_HEIGHT = 30
/** Height above the plot, for the words at the highest bar. */
const WORDS_HEIGHT = 26
const BAR_PART = 0.74
/** Opacity of a bucket that is not over. */
const PALE = 0.45

/** Draws the chart of a range with words at its marks. */
export function drawChart({ buckets, bucket }: FlowsChart, { left, top, width, height }: Place): Html {
  const foot = top + height - AXIS_HEIGHT
  const plot = height - AXIS_HEIGHT - WORDS_HEIGHT
  const scale = bareScaleOf(buckets.flatMap(({ spentOnPlay, paidInPrizes }) => [spentOnPlay, paidInPrizes]))
  const step = width / Math.max(1, buckets.length)
  const yOf = (figure: string): number => foot - plot + scale.place(figure) * plot
  const zero = foot - plot + scale.zero * plot
  const bars = buckets.map(({ paidInPrizes, complete }, index) => {
    const y = yOf(paidInPrizes)
    return html`<rect
      x="${fixedPixels(left + (index + (1 - BAR_PART) / 2) * step)}"
      y="${fixedPixels(Math.min(y, zero))}"
      width="${fixedPixels(step * BAR_PART)}"
      height="${fixedPixels(Math.abs(zero - y))}"
      fill="${TONES.paid}"
      opacity="${complete ? 1 : PALE}"
    />`
  })
  // The line ends before a bucket that is not over, which would look like a fall.
  const line = buckets
    .filter(({ complete }) => complete)
    .map(
      ({ spentOnPlay }, index) =>
        `${index === 0 ? 'M' : 'L'}${fixedPixels(left + (index + 0.5) * step)} ${fixedPixels(yOf(spentOnPlay))}`,
    )
  const [first, last] = [buckets[0], buckets.at(-1)]
  const ticks = { size: 22, fill: TONES.soft }
  return html`${bars}
    ${line.length < 2 ? null : html`<path d="${line.join('')}" fill="none" stroke="${TONES.spent}" stroke-width="3.5" stroke-linejoin="round" />`}
    <path d="M${left} ${fixedPixels(zero)}h${width}" stroke="${TONES.ink}" stroke-width="2" />
    ${first === undefined ? null : drawLine(left, foot + 26, bucketText(bucket, first.at), ticks)}
    ${last === undefined || buckets.length < 2 ? null : drawLine(left + width, foot + 26, bucketText(bucket, last.at), { ...ticks, end: true })}
    ${namesOf(left + width / 2, foot + 26)}
    ${wordsAt({ buckets, bucket }, { left, width, step, top: top + WORDS_HEIGHT, yOf })}`
}

/** A bucket by its first moment. */
function bucketText(bucket: Bucket, at: string): string {
  switch (bucket) {
    case 'minute':
    case 'hour':
      return minuteText(at)
    case 'day':
      return dayText(at)
    case 'week':
      return `week of ${dayText(at)}`
    case 'month':
      return monthText(at)
  }
}

/** Names of the bars and the line, in their colours. */
function namesOf(middle: number, y: number): Html {
  const [bars, line] = ['Paid in prizes', 'Spent on play']
  const gap = 28
  const start = middle - (textWidth(bars, 22, 'bold') + gap + textWidth(line, 22, 'bold')) / 2
  return html`${drawLine(start, y, bars, { size: 22, bold: true, fill: TONES['paid-words'] })}
  ${drawLine(start + textWidth(bars, 22, 'bold') + gap, y, line, { size: 22, bold: true, fill: TONES.spent })}`
}

type Marks = Readonly<{ left: number; width: number; step: number; top: number; yOf(figure: string): number }>

/** The highest bar with its bucket, above the plot, and a line down to the bar. */
function wordsAt({ buckets, bucket }: FlowsChart, { left, width, step, top, yOf }: Marks): Html | null {
  const most = buckets.reduce<FlowsChart['buckets'][number] | null>(
    (best, one) => (best === null || digitsOf(one.paidInPrizes) > digitsOf(best.paidInPrizes) ? one : best),
    null,
  )
  if (most === null || digitsOf(most.paidInPrizes) <= 0n) return null
  const text = `Most paid: ${cutAmount(most.paidInPrizes)}, ${bucketText(bucket, most.at)}`
  const middle = left + (buckets.indexOf(most) + 0.5) * step
  const half = textWidth(text, 22, 'bold') / 2
  const x = Math.min(Math.max(middle - half, left), left + width - 2 * half)
  const words = TONES['paid-words']
  return html`<path
      d="M${fixedPixels(middle)} ${fixedPixels(top - 4)}V${fixedPixels(yOf(most.paidInPrizes))}"
      stroke="${words}"
      stroke-width="2"
    />
    ${drawLine(x, top - 9, text, { size: 22, bold: true, fill: words })}`
}
