/**
 * Charts that answer a finger, a mouse and a slider: a line at a bucket, with its figures beside it. Dragging chooses a
 * range. The figures are those of the page's table, or of the page that the chart names.
 */
import './island-frame.ts'
import './island-marks.ts'
import { type CardLine, fitCards, followPointer, onDismiss, openPlot, type PlotMark } from './island-plot.ts'

/** Least buckets of a chosen range. A shorter one is shown in narrower buckets. */
const BUCKETS_MIN = 8
const NARROWER: Readonly<Record<string, string>> = { month: 'day', week: 'day', day: 'hour', hour: 'minute' }

/** Buckets of a chart: their number, the times of the first and of the end, and a page that has `rows` of them. */
type Buckets = Readonly<{
  page: string
  bucket: string
  count: number
  rows: number
  fromMs: number
  toMs: number
}>

function bucketsOf({ dataset }: HTMLElement): Buckets {
  const { page = '', bucket = '', count, rows, from, to } = dataset
  return { page, bucket, count: Number(count), rows: Number(rows), fromMs: Number(from), toMs: Number(to) }
}

/** Start of a bucket. Only months differ in length. */
function startOf({ bucket, count, fromMs, toMs }: Buckets, index: number): number {
  const first = new Date(fromMs)
  return bucket === 'month'
    ? Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + index)
    : fromMs + (index * (toMs - fromMs)) / count
}

/** Address of the page of some buckets. Without `to` it goes to the present. */
function addressOf(buckets: Buckets, first: number, to: number | null, bucket = buckets.bucket): string {
  const url = new URL(buckets.page, location.href)
  if (url.pathname === location.pathname) url.search = location.search
  const written = (index: number): string => new Date(startOf(buckets, index)).toISOString()
  url.searchParams.set('from', written(first))
  if (to === null) url.searchParams.delete('to')
  else url.searchParams.set('to', written(to))
  url.searchParams.set('bucket', bucket)
  return url.href
}

/** Cells of a bucket's row by their fields, each with the name of its column. The first one names the bucket. */
type Row = ReadonlyMap<string, readonly [name: string, cell: Element]>

function readRow(row: HTMLTableRowElement): Row {
  const heads = [...(row.closest('table')?.tHead?.rows[0]?.cells ?? [])]
  return new Map(
    [...row.cells].map((cell, column) => {
      const head = heads[column]
      return [head?.dataset['field'] ?? '', [head === undefined ? '' : exactText(head), cell]]
    }),
  )
}

/** Text of a cell. A figure is the string of the JSON. */
function exactText(cell: Element): string {
  return cell.querySelector('data')?.value ?? (cell.textContent ?? '').trim().replaceAll(/\s+/g, ' ')
}

/** Text of a cell as it is shown: a figure is without its hidden decimals. */
function shownText(cell: Element): string {
  return cell.querySelector('data')?.firstChild?.textContent ?? exactText(cell)
}

/** A figure of the table with its name. */
function named([name, cell]: readonly [name: string, cell: Element]): HTMLElement {
  const shown = document.createElement('span')
  const figure = document.createElement('b')
  figure.append(...cell.cloneNode(true).childNodes)
  shown.append(`${name} `, figure)
  return shown
}

/** Time in milliseconds after which a failed request for rows is repeated. */
const AGAIN_MS = 5_000

/**
 * Opens the rows of a chart. A row that the page lacks is fetched with its neighbours if `isWanted`; `onRows` is called
 * when they are there.
 */
function openRows(
  charts: HTMLElement,
  onRows: () => void,
): (index: number, isWanted: boolean) => Row | undefined {
  /** Fetched pages by their addresses; null for a request. */
  const pages = new Map<string, Document | null>()
  document.addEventListener('daybook-changed', () => pages.clear())

  function rowIn(page: Document, index: number): Row | undefined {
    const row = page.querySelector<HTMLTableRowElement>(`tr[data-row="/buckets/${index}"]`)
    return row === null ? undefined : readRow(row)
  }
  async function load(address: string): Promise<void> {
    pages.set(address, null)
    const answer = await fetch(address)
    if (!answer.ok) throw new Error(String(answer.status))
    pages.set(address, new DOMParser().parseFromString(await answer.text(), 'text/html'))
    onRows()
  }
  return (index, isWanted) => {
    const own = rowIn(document, index)
    if (own !== undefined || !isWanted) return own
    const buckets = bucketsOf(charts)
    const { count, rows } = buckets
    const first = index - (index % rows)
    const address = addressOf(buckets, first, Math.min(count, first + rows))
    const page = pages.get(address)
    if (page === undefined) load(address).catch(() => setTimeout(() => pages.delete(address), AGAIN_MS))
    return page ? rowIn(page, index - first) : undefined
  }
}

/** Bucket of a chart, and whether it is marked in the plots. */
type Shown = Readonly<{ index: number; isMarked: boolean }>

function startReading(charts: HTMLElement): void {
  const slider = charts.querySelector<HTMLInputElement>('input[type=range]')
  const words = charts.querySelector('.slider p')
  const plots = [...charts.querySelectorAll<SVGSVGElement>('svg.plot')].map(
    (plot) => [plot, openPlot(plot)] as const,
  )
  const rowOf = openRows(charts, () => show(shown))
  const newest = (): Shown => ({ index: bucketsOf(charts).count - 1, isMarked: false })
  /** Bucket that the reader chose, by its start; undefined for the newest one. */
  let kept: Readonly<{ startMs: number | undefined; isMarked: boolean }> = {
    startMs: undefined,
    isMarked: false,
  }
  let shown = newest()
  /** Other end of a range that is being dragged. */
  let until: number | undefined
  let isPointed = false

  function show(next: Shown, end?: number): void {
    shown = next
    until = end
    const { index, isMarked } = next
    const buckets = bucketsOf(charts)
    const row = rowOf(index, isMarked)
    const cells = [...(row?.values() ?? [])]
    if (slider !== null) {
      slider.max = String(buckets.count - 1)
      slider.value = String(index)
      const said = cells.map(([name, cell]) => `${name}: ${exactText(cell)}`).join('; ')
      // Figures of another page may be on their way.
      slider.setAttribute('aria-valuetext', said || new Date(startOf(buckets, index)).toUTCString())
    }
    words?.replaceChildren(...cells.map(named))
    fitCards(plots.map(([plot, draw]) => draw(isMarked ? markOf(plot, buckets.count, row) : null)))
  }

  /** Mark of the shown bucket or range, with the figures of a plot's own series. */
  function markOf({ dataset, children }: SVGSVGElement, count: number, row: Row | undefined): PlotMark {
    if (until !== undefined) {
      const [first, last] = draggedRange(until)
      const dayLine = (index: number, before = ''): readonly CardLine[] => {
        const day = rowOf(index, true)?.get('at')?.[1].querySelector('time')?.textContent
        return day === undefined ? [] : [{ name: before + day }]
      }
      const lines = [...dayLine(first, 'from '), ...dayLine(last, 'to ')]
      return { share: first / count, end: (last + 1) / count, lines }
    }
    const when = row?.get('at')?.[1]
    const { series = '', low, high } = dataset
    const height = Number([...children].find(({ nodeName }) => nodeName === 'svg')?.getAttribute('height'))
    const heightOf = (figure: string): number =>
      ((Number(high) - Number(figure)) / (Number(high) - Number(low))) * height
    const figures = series.split(' ').flatMap((one) => {
      const [field = '', style = ''] = one.split(':')
      const [name, cell] = row?.get(field) ?? []
      return name === undefined || cell === undefined
        ? []
        : [{ name, style, figure: shownText(cell), y: heightOf(exactText(cell)) }]
    })
    return {
      share: (shown.index + (charts.dataset['stands'] === 'end' ? 1 : 0.5)) / count,
      dots: figures.filter(({ y }) => !Number.isNaN(y)),
      lines: [...(when === undefined ? [] : [{ name: exactText(when) }]), ...figures],
    }
  }

  /** First and last bucket of a drag to `end`, in whichever direction. */
  function draggedRange(end: number): readonly [first: number, last: number] {
    return [Math.min(shown.index, end), Math.max(shown.index, end)]
  }

  /** Bucket at a place; figures of a bucket's end are read at the nearest end. */
  function indexAt(share: number): number {
    const { count } = bucketsOf(charts)
    const at = share * count - (charts.dataset['stands'] === 'end' ? 0.5 : 0)
    return Math.min(count - 1, Math.max(0, Math.floor(at)))
  }

  function keep(): void {
    const buckets = bucketsOf(charts)
    const { index } = shown
    kept = { startMs: index === buckets.count - 1 ? undefined : startOf(buckets, index), isMarked: true }
    isPointed = false
    show({ index, isMarked: true })
  }

  /** Shows the kept bucket, which may have moved since. */
  function restore(): void {
    const buckets = bucketsOf(charts)
    isPointed = false
    let index = buckets.count - 1
    while (kept.startMs !== undefined && index > 0 && startOf(buckets, index) > kept.startMs) index -= 1
    show({ index, isMarked: kept.isMarked })
  }

  /** Opens the page of the dragged range. Up to an unfinished bucket, it goes on to the present. */
  function open(): void {
    if (until === undefined) return
    const buckets = bucketsOf(charts)
    const [first, last] = draggedRange(until)
    const isShort = last - first + 1 < BUCKETS_MIN
    const bucket = (isShort ? NARROWER[buckets.bucket] : undefined) ?? buckets.bucket
    const isGrowing = last === buckets.count - 1 && charts.dataset['growing'] !== undefined
    location.assign(addressOf(buckets, first, isGrowing ? null : last + 1, bucket))
  }

  const cancels = plots.map(([plot]) =>
    followPointer(plot, {
      read(share) {
        const index = indexAt(share)
        if (isPointed && index === shown.index && until === undefined) return
        isPointed = true
        show({ index, isMarked: true })
      },
      keep,
      leave: restore,
      drag: (from, to) => show({ index: indexAt(from), isMarked: true }, indexAt(to)),
      drop: open,
    }),
  )
  onDismiss(charts, () => {
    // The first Escape ends a drag.
    if (cancels.some((cancel) => cancel())) return
    kept = { ...kept, isMarked: false }
    restore()
  })
  slider?.closest('label')?.removeAttribute('hidden')
  slider?.addEventListener('input', () => {
    shown = { index: Number(slider.value), isMarked: true }
    keep()
  })
  // Shows figures that only another page has.
  slider?.addEventListener('focus', keep)
  document.addEventListener('daybook-changed', () => {
    if (!isPointed) restore()
    else show({ ...shown, index: Math.min(shown.index, newest().index) }, until)
  })
  addEventListener('resize', () => show(shown, until))
  // The browser may keep this page, and show it again.
  addEventListener('pagehide', restore)
  show(shown)
}

for (const charts of document.querySelectorAll<HTMLElement>('[data-chart]')) startReading(charts)
