/** Slider of charts. It shows one bucket with the figures of the page's tables. */
import './island-frame.ts'

const SVG = 'http://www.w3.org/2000/svg'

/** Row of a bucket. */
function rowOf(index: number): HTMLTableRowElement | null {
  return document.querySelector(`tr[data-row="/buckets/${index}"]`)
}

/** Cells of a bucket, each with the name of its column. */
function cellsOf(row: HTMLTableRowElement): readonly (readonly [name: string, cell: Element])[] {
  const heads = row.closest('table')?.tHead?.rows[0]?.cells ?? []
  const names = [...heads].map((head) => wordsOf(head))
  return [...row.cells].map((cell, column) => [names[column] ?? '', cell])
}

/** Text of a cell. A figure is the string of the JSON. */
function wordsOf(cell: Element): string {
  const value = cell.querySelector('data')?.value
  return value ?? (cell.textContent ?? '').trim().replaceAll(/\s+/g, ' ')
}

/** A figure of the table with its name. */
function named([name, cell]: readonly [name: string, cell: Element]): HTMLElement {
  const shown = document.createElement('span')
  const figure = document.createElement('b')
  figure.append(...cell.cloneNode(true).childNodes)
  shown.append(`${name} `, figure)
  return shown
}

/** Adds a vertical line to each plot, for the selected bucket. */
function linesIn(charts: HTMLElement): readonly SVGElement[] {
  return [...charts.querySelectorAll('svg.plot')].map((plot) => {
    const line = document.createElementNS(SVG, 'line')
    line.setAttribute('class', 'reading')
    // The dates are below the marks.
    line.setAttribute('y2', plot.querySelector('svg')?.getAttribute('height') ?? '100%')
    plot.append(line)
    return line
  })
}

function startReading(charts: HTMLElement): void {
  const range = charts.querySelector<HTMLInputElement>('input[type=range]')
  const shown = charts.querySelector<HTMLElement>('.slider p')
  if (range === null || shown === null) return
  let lines: readonly SVGElement[] = []

  /** Shows the selected bucket, and marks it after the reader's first choice. */
  function read(): void {
    const buckets = document.querySelectorAll('tr[data-row^="/buckets/"]').length
    if (range === null || shown === null || buckets === 0) return
    const isLast = range.value === range.max
    range.max = String(buckets - 1)
    if (isLast) range.value = range.max
    const index = Number(range.value)
    const share = (index + (charts.dataset['stands'] === 'end' ? 1 : 0.5)) / buckets
    for (const line of lines) {
      line.setAttribute('x1', `${share * 100}%`)
      line.setAttribute('x2', `${share * 100}%`)
    }
    const row = rowOf(index)
    const cells = row === null ? [] : cellsOf(row)
    range.setAttribute('aria-valuetext', cells.map(([name, cell]) => `${name}: ${wordsOf(cell)}`).join('; '))
    shown.replaceChildren(...cells.map(named))
  }

  range.closest('label')?.removeAttribute('hidden')
  range.addEventListener('input', () => {
    if (lines.length === 0) lines = linesIn(charts)
    read()
  })
  // The table may have changed.
  range.addEventListener('focus', read)
  document.addEventListener('daybook-changed', read)
  read()
}

for (const charts of document.querySelectorAll<HTMLElement>('[data-chart]')) startReading(charts)
