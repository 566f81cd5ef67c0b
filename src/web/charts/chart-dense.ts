import { BOX } from './chart-plot.ts'
import { type ChartValue, rounded, type Scale } from '../markup/chart-scale.ts'

// Paths of many buckets in few characters: steps of one bucket and of whole pixels, from each place to the next.

/** Most buckets with exact places. More have places in whole pixels, to keep the page small. */
const EXACT_MAX = 300

/** Whether a plot has so many buckets that it needs paths in few characters. */
export function isDense(buckets: number): boolean {
  return buckets > EXACT_MAX
}

/** Size of a dense plot: its buckets and its height in pixels. */
type Dense = Readonly<{ scale: Scale; height: number }>

/** Transformation from buckets and pixels to the box of a plot. */
export function denseTransform(buckets: number, height: number): string {
  return `scale(${rounded(BOX / buckets)} ${rounded(BOX / height)})`
}

/** Line through the known figures; `offset` is the place of a figure in its bucket. With a foot it is an area. */
export function denseLine(
  figures: readonly ChartValue[],
  { scale, height, offset, closed }: Dense & Readonly<{ offset: number; closed: boolean }>,
): string {
  const foot = Math.round(scale.zero * height)
  let path = ''
  let before: number | null = null
  let first = 0
  const close = (): void => {
    if (closed && before !== null) path += `V${foot}H${first + offset}z`
  }
  for (const [index, figure] of figures.entries()) {
    if (figure === null) {
      close()
      before = null
      continue
    }
    const y = Math.round(scale.place(figure) * height)
    if (before === null) {
      first = index
      path += `M${index + offset},${y}l`
    } else path += `${path.endsWith('l') ? '' : ' '}1${y < before ? '' : ' '}${y - before}`
    before = y
  }
  close()
  return path.replaceAll(/l(?=M|V|$)/g, '')
}

/** Bars that touch, as the outline of all of them, from one bucket up to another. */
export function denseBars(
  figures: readonly ChartValue[],
  { scale, height, from, to }: Dense & Readonly<{ from: number; to: number }>,
): string {
  const foot = Math.round(scale.zero * height)
  let path = `M${from},${foot}`
  let [before, wait] = [foot, 0]
  for (const figure of figures.slice(from, to)) {
    const y = Math.round(scale.place(figure ?? '0') * height)
    if (y !== before) path += `${wait === 0 ? '' : `h${wait}`}v${y - before}`
    wait = y === before ? wait + 1 : 1
    before = y
  }
  return `${path}H${to}V${foot}z`
}
