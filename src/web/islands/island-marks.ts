import { fitCards, followPointer, onDismiss, openPlot, type PlotMark } from './island-plot.ts'

// Charts whose marks are few: each names its marks itself. The page has a table of the same figures.

/** Mark of a chart: its share of the width, its height in pixels, its name, its figure and its style. */
type Mark = readonly [x: number, y: number, name: string, figure: string, style: string]

/** Bars and steps: reads the mark that is nearest to the pointer. */
function nearestMark(plot: SVGSVGElement, x: number): PlotMark {
  const marks: readonly Mark[] = JSON.parse(plot.dataset['marks'] ?? '[]')
  const [share, y, name, figure, style] = marks.reduce((best, mark) =>
    Math.abs(mark[0] - x) < Math.abs(best[0] - x) ? mark : best,
  )
  return { share, dots: [{ y, style }], lines: [{ name, figure, style }] }
}

const HOURS = 24
const DAYS = 7
const DAY_HEIGHT = 18

/** Hours of the week: reads the hour under the pointer, and the day's name in the page's table. `y` is in pixels. */
function hourMark(plot: SVGSVGElement, x: number, y: number): PlotMark {
  const cells = (plot.dataset['cells'] ?? '').split(' ')
  const hour = Math.min(HOURS - 1, Math.floor(x * HOURS))
  const day = Math.max(0, Math.min(DAYS - 1, Math.floor(y / DAY_HEIGHT)))
  const figure = cells[day * HOURS + hour] ?? ''
  const name = document.querySelectorAll('.heat tbody th')[day]?.textContent ?? ''
  return {
    share: (hour + 0.5) / HOURS,
    dots: [{ y: (day + 0.5) * DAY_HEIGHT, style: '2' }],
    lines: [{ name: `${name} ${hour}:00 to ${hour + 1}:00`, figure }],
  }
}

function startMarks(plot: SVGSVGElement): void {
  const draw = openPlot(plot)
  const isWeek = plot.dataset['cells'] !== undefined
  let kept: PlotMark | null = null
  let shown: PlotMark | null = null
  const show = (mark: PlotMark | null): void => fitCards([draw((shown = mark))])
  followPointer(plot, {
    read: (x, y) => show(isWeek ? hourMark(plot, x, y) : nearestMark(plot, x)),
    keep: () => (kept = shown),
    leave: () => show(kept),
  })
  const clear = (): void => show((kept = null))
  document.addEventListener('daybook-changed', clear)
  addEventListener('resize', () => show(shown))
  onDismiss(plot, clear)
}

for (const plot of document.querySelectorAll<SVGSVGElement>('svg:is([data-marks], [data-cells])'))
  startMarks(plot)
