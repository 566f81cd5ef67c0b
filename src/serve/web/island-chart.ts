/** The reading cursor of charts: a range that says each bucket in the very words of the page's table. */
import './island-frame.ts'

const SVG = 'http://www.w3.org/2000/svg'

type Reading = Readonly<{ range: HTMLInputElement; shown: HTMLElement; table: HTMLTableElement }>

function readingOf(figure: HTMLElement): Reading | null {
  const range = figure.querySelector<HTMLInputElement>('input[type=range]')
  const shown = figure.querySelector<HTMLElement>('.cursor p')
  const table = document.querySelector<HTMLTableElement>(`table#${figure.dataset['chart'] ?? ''}`)
  return range === null || shown === null || table === null ? null : { range, shown, table }
}

/** A row as the table has it: the bucket, then each column's name and figure. */
function rowOf(table: HTMLTableElement, index: number): readonly (readonly [name: string, cell: Element])[] {
  const names = [...(table.tHead?.rows[0]?.cells ?? [])].map(textOf)
  const cells = [...(table.tBodies[0]?.rows[index]?.cells ?? [])]
  return cells.map((cell, column) => [column === 0 ? '' : (names[column] ?? ''), cell])
}

function textOf(cell: Element): string {
  return (cell.textContent ?? '').trim().replaceAll(/\s+/g, ' ')
}

/** A figure as it stands in the table, beside its name. */
function named([name, cell]: readonly [name: string, cell: Element]): HTMLElement {
  const shown = document.createElement('span')
  const figure = document.createElement('b')
  figure.append(...cell.cloneNode(true).childNodes)
  shown.append(`${name} `, figure)
  return shown
}

/** Brings a place of a plot that is wider than its frame into sight. */
function reveal(line: SVGElement, share: number): void {
  const frame = line.closest('.plots')
  if (frame !== null) frame.scrollLeft = share * frame.scrollWidth - frame.clientWidth / 2
}

/** A line across each plot, where what is read stands. */
function linesIn(figure: HTMLElement): readonly SVGElement[] {
  return [...figure.querySelectorAll('svg.plot')].map((plot) => {
    const line = document.createElementNS(SVG, 'line')
    line.setAttribute('class', 'reading')
    line.setAttribute('y2', '100%')
    plot.append(line)
    return line
  })
}

function startReading(figure: HTMLElement): void {
  const reading = readingOf(figure)
  if (reading === null) return
  const { range, shown, table } = reading
  const buckets = Number(range.max) + 1
  const lines = linesIn(figure)

  function read(): void {
    const index = Number(range.value)
    const share = (index + (figure.dataset['stands'] === 'end' ? 1 : 0.5)) / buckets
    for (const line of lines) {
      line.setAttribute('x1', `${share * 100}%`)
      line.setAttribute('x2', `${share * 100}%`)
      reveal(line, share)
    }
    const row = rowOf(table, index)
    const words = row.map(([name, cell]) => (name === '' ? textOf(cell) : `${name}: ${textOf(cell)}`))
    range.setAttribute('aria-valuetext', words.join('; '))
    shown.replaceChildren(...row.map(named))
  }

  range.closest('label')?.removeAttribute('hidden')
  range.addEventListener('input', read)
  // The table's times may have been written otherwise since.
  range.addEventListener('focus', read)
  read()
}

for (const figure of document.querySelectorAll<HTMLElement>('[data-chart]')) startReading(figure)
