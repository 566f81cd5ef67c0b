/** Slider of charts. It shows a bucket with the words of the page's table. */
import './island-frame.ts'

const SVG = 'http://www.w3.org/2000/svg'

/** A row of the table: each column's name and cell. The name of the first says which moment of the bucket is meant. */
function rowOf(table: HTMLTableElement, index: number): readonly (readonly [name: string, cell: Element])[] {
  const names = [...(table.tHead?.rows[0]?.cells ?? [])].map(textOf)
  const cells = [...(table.tBodies[0]?.rows[index]?.cells ?? [])]
  return cells.map((cell, column) => [names[column] ?? '', cell])
}

function textOf(cell: Element): string {
  return (cell.textContent ?? '').trim().replaceAll(/\s+/g, ' ')
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
function linesIn(figure: HTMLElement): readonly SVGElement[] {
  return [...figure.querySelectorAll('svg.plot')].map((plot) => {
    const line = document.createElementNS(SVG, 'line')
    line.setAttribute('class', 'reading')
    // The dates are below the marks.
    line.setAttribute('y2', plot.querySelector('svg')?.getAttribute('height') ?? '100%')
    plot.append(line)
    return line
  })
}

function startReading(figure: HTMLElement): void {
  const range = figure.querySelector<HTMLInputElement>('input[type=range]')
  const shown = figure.querySelector<HTMLElement>('.slider p')
  if (range === null || shown === null) return
  const lines = linesIn(figure)

  /** Shows and marks the selected bucket. */
  function read(): void {
    const table = document.querySelector<HTMLTableElement>(`table#${figure.dataset['chart'] ?? ''}`)
    const buckets = table?.tBodies[0]?.rows.length ?? 0
    if (range === null || shown === null || table === null || buckets === 0) return
    const isLast = range.value === range.max
    range.max = String(buckets - 1)
    if (isLast) range.value = range.max
    const index = Number(range.value)
    const share = (index + (figure.dataset['stands'] === 'end' ? 1 : 0.5)) / buckets
    for (const line of lines) {
      line.setAttribute('x1', `${share * 100}%`)
      line.setAttribute('x2', `${share * 100}%`)
    }
    const row = rowOf(table, index)
    const words = row.map(([name, cell]) => `${name}: ${textOf(cell)}`)
    range.setAttribute('aria-valuetext', words.join('; '))
    shown.replaceChildren(...row.map(named))
  }

  range.closest('label')?.removeAttribute('hidden')
  range.addEventListener('input', read)
  // The table may have changed.
  range.addEventListener('focus', read)
  document.addEventListener('daybook-changed', read)
  read()
}

for (const figure of document.querySelectorAll<HTMLElement>('[data-chart]')) startReading(figure)
