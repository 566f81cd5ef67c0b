const SVG = 'http://www.w3.org/2000/svg'
/** Lengths of a card in pixels: its margin, the height of a line, and the distance from the reading line. */
const MARGIN = 8
const LINE = 16
const GAP = 10

/** Line of a card: a name, and a figure in the colour of its series. */
export type CardLine = Readonly<{ name: string; figure?: string; style?: string }>

/** Mark of a plot: a vertical line from `share` of its width, or a band up to `end`, with dots and a card. */
export type PlotMark = Readonly<{
  share: number
  end?: number
  /** Heights in pixels from the top, and the styles of their series. */
  dots?: readonly Readonly<{ y: number; style: string }>[]
  lines: readonly CardLine[]
}>

/**
 * Draws a mark on a plot in place of the last one; none for null. Live updates of the page leave it. `fitCards` then
 * places its card.
 */
type DrawMark = (mark: PlotMark | null) => Card | null

/** Card of a mark, before it has its place beside the line. */
type Card = Readonly<{
  plot: SVGSVGElement
  share: number
  group: SVGElement
  box: SVGElement
  texts: readonly SVGTextElement[]
}>

/** Opens a plot for marks. */
export function openPlot(plot: SVGSVGElement): DrawMark {
  const drawn = element('g', { class: 'reading' })
  return (mark) => {
    drawn.replaceChildren()
    if (mark === null) {
      drawn.remove()
      return null
    }
    // The newest mark is in front of what an update has added.
    plot.append(drawn)
    const { share, end, dots = [], lines } = mark
    const height = plot.querySelector('svg')?.getAttribute('height') ?? '100%'
    const x = percent(share)
    drawn.append(
      end === undefined
        ? element('line', { class: 'axis', x1: x, x2: x, y2: height })
        : element('rect', { class: 'f1 area', x, width: percent(end - share), height }),
      ...dots.map(({ y, style }) => element('circle', { class: `f${style}`, cx: x, cy: y, r: 4 })),
    )
    return lines.length === 0 ? null : drawCard(plot, drawn, share, lines)
  }
}

function percent(share: number): string {
  return `${share * 100}%`
}

function drawCard(plot: SVGSVGElement, drawn: SVGElement, share: number, lines: readonly CardLine[]): Card {
  const texts = lines.map(({ name, figure = '', style = '' }, row) => {
    const text = element('text', { x: MARGIN, y: (row + 1) * LINE + 2 })
    text.append(name, ' ', element('tspan', { class: `t${style}` }, figure))
    return text
  })
  const box = element('rect', { class: 'card hair', height: lines.length * LINE + MARGIN })
  const group = element('g')
  group.append(box, ...texts)
  drawn.append(group)
  return { plot, share, group, box, texts }
}

/** Places cards beside their lines, on the side that has more room. Measures all before it changes any: one layout. */
export function fitCards(cards: readonly (Card | null)[]): void {
  const measured = cards.flatMap((card) => {
    if (card === null) return []
    const wide = Math.max(...card.texts.map((text) => text.getBBox().width)) + 2 * MARGIN
    return [{ card, wide, width: areaOf(card.plot).width }]
  })
  for (const { card, wide, width } of measured) {
    const { share, group, box } = card
    const x = share * width
    const left = Math.max(0, Math.min(width - wide, share < 0.5 ? x + GAP : x - GAP - wide))
    assign(box, { width: wide })
    assign(group, { transform: `translate(${left})` })
  }
}

/** Area of a plot beside its margin, in pixels of the window. */
function areaOf(plot: SVGSVGElement): Readonly<{ left: number; top: number; width: number }> {
  const { left, top, width } = plot.getBoundingClientRect()
  const margin = Number.parseFloat(getComputedStyle(plot).paddingLeft)
  return { left: left + margin, top, width: width - margin }
}

type Attributes = Readonly<Record<string, string | number>>

function element<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  text = '',
): SVGElementTagNameMap[Name] {
  const made = document.createElementNS(SVG, name)
  assign(made, attributes)
  made.append(text)
  return made
}

function assign(target: SVGElement, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) target.setAttribute(name, String(value))
}

/** Answers of a chart to a pointer. A place is a share of the plot's width, and pixels from its top. */
type PointerAnswers = Readonly<{
  /** A mouse points at a place, or a finger touches it. */
  read(x: number, y: number): void
  /** The place was clicked, or the finger lifted. */
  keep(): void
  /** The pointer has left, or the browser took it to scroll. */
  leave(): void
  /** A range is being chosen by dragging, from where it began; absent on a chart without ranges. */
  drag?(from: number, to: number): void
  /** The chosen range was released. */
  drop?(): void
}>

/** Calls `clear` when the reader wants no mark: on Escape, and on a click beside the charts. */
export function onDismiss(charts: Element, clear: () => void): void {
  document.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') clear()
  })
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Node && !charts.contains(target)) clear()
  })
}

/** Way in pixels after which a pressed mouse drags, and time in milliseconds after which a still finger does. */
const DRAG_PX = 6
const PRESS_MS = 500

/**
 * Follows mouse, pen and finger on a plot. A mouse that drags chooses a range, as does a finger that was pressed before;
 * any other finger reads along the chart, and scrolls the page upwards and downwards. Returns a function that cancels
 * a drag, and whether there was one.
 */
export function followPointer(plot: SVGSVGElement, answers: PointerAnswers): () => boolean {
  const { read, keep, leave, drag, drop } = answers
  let from: number | undefined
  let isDragging = false
  let pressed = 0

  const placeOf = ({ clientX, clientY }: PointerEvent): readonly [x: number, y: number] => {
    const { left, top, width } = areaOf(plot)
    return [Math.min(1, Math.max(0, (clientX - left) / width)), clientY - top]
  }
  function end(): boolean {
    const was = isDragging
    from = undefined
    isDragging = false
    clearTimeout(pressed)
    return was
  }
  function cancel(): boolean {
    const was = end()
    leave()
    return was
  }

  plot.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || !event.isPrimary) return
    const [x, y] = placeOf(event)
    from = x
    plot.setPointerCapture(event.pointerId)
    read(x, y)
    if (event.pointerType === 'mouse' || drag === undefined) return
    pressed = setTimeout(() => {
      isDragging = true
      drag(x, x)
    }, PRESS_MS)
  })
  plot.addEventListener('pointermove', (event) => {
    const [x, y] = placeOf(event)
    const way = from === undefined ? 0 : Math.abs(x - from) * areaOf(plot).width
    if (way > DRAG_PX) {
      clearTimeout(pressed)
      if (event.pointerType === 'mouse' && drag !== undefined) isDragging = true
    }
    if (isDragging && from !== undefined) drag?.(from, x)
    // The drag was cancelled, but the button is still down.
    else if (from !== undefined || event.buttons === 0) read(x, y)
  })
  plot.addEventListener('pointerup', () => {
    if (from === undefined) return
    if (end()) drop?.()
    else keep()
  })
  plot.addEventListener('pointercancel', cancel)
  plot.addEventListener('pointerleave', () => {
    if (from === undefined) leave()
  })
  // A drag selects no text, and a pressed finger opens no menu.
  plot.addEventListener('mousedown', (event) => event.preventDefault())
  plot.addEventListener('contextmenu', (event) => {
    if (isDragging) event.preventDefault()
  })
  return cancel
}
