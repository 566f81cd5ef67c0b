import { type Html, html, type Part } from './html.ts'

// Parts of the look: lines of the book, figures, facts and bars in segments.

/**
 * A line of the book: moment, red double rule, what happened, amount. `row` is the JSON pointer of its element in the
 * list of the book.
 */
export type BookLine = Readonly<{
  when: Part
  what: Part
  /** Second line: the contest, the event and the state. */
  small?: Part
  amount?: Part
  row?: string
  /** Key that lets a live page recognise the line. */
  key?: string
  /** `day`: heads the lines of a day and has their sum. `soft`: is still to come. */
  as?: 'day' | 'soft'
}>

/** JSON pointer of a list that a book shows, the fields of each line in the order of its text, and its most lines. */
type BookList = Readonly<{ list: string; fields: string; most?: number }>

/** Lines of the book. With a `list`, checks compare them with the answer (`test/web/parity/parity.ts`). */
export function book(lines: readonly BookLine[], shown: BookList | null, live: Part = null): Html {
  const held =
    shown === null
      ? ''
      : html` data-list="${shown.list}"
        data-fields="${shown.fields}"${shown.most === undefined ? null : html` data-most="${shown.most}"`}`
  return html`<ol class="book" ${held} ${live}>
    ${lines.map(bookLine)}
  </ol>`
}

function bookLine({ when, what, small, amount, row, key, as }: BookLine): Html {
  return html`<li${as === undefined ? null : html` class="${as}"`}${row === undefined ? null : html` data-row="${row}"`}${key === undefined ? null : html` data-key="${key}"`}>
    <span class="when">${when}</span>
    <span class="what">${what} ${small === undefined ? null : html`<small>${small}</small>`}</span>
    <span class="kots">${amount ?? null}</span>
  </li>`
}

/** A figure: label, number, and one line that says what it is made of or how it moved. */
type ShownFigure = Readonly<{ label: Part; figure: Part; note?: Part }>

/** Figures in a row, two by two on a phone. */
export function figures(shown: readonly ShownFigure[]): Html {
  return html`<dl class="figs">
    ${shown.map(
      ({ label, figure, note }) =>
        html`<div>
          <dt>${label}</dt>
          <dd>${figure}</dd>
          ${note === undefined ? null : html`<dd class="note">${note}</dd>`}
        </div>`,
    )}
  </dl>`
}

/** Facts: a name and its value on a line each. */
export function facts(rows: readonly (readonly [name: Part, value: Part])[]): Html {
  return html`<dl class="facts">
    ${rows.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`
}

/** Heading of a section with a link or a note on its right. */
export function sectionHead(heading: Part, beside: Part = null): Html {
  return html`<div class="head">
    <h2>${heading}</h2>
    ${beside}
  </div>`
}

/** A part of a bar: its share of the whole from 0 to 1, its colour, and its word and amount. */
export type Segment = Readonly<{
  share: number
  as: 'paid' | 'payable' | 'claim' | 'review' | 'locked' | 'expired'
  word: Part
  amount: Part
  /** JSON pointer of the amount, if `amount` does not state its own. */
  at?: string
}>

const PERCENT = 100
/** Decimals of a segment's width in per cent. */
const WIDTH_DECIMALS = 2
const BAR_GAP = 0.4

/** A bar in segments, each with its word and amount below. The words say all that the bar shows. */
export function segmentBar(segments: readonly Segment[]): Html {
  let x = 0
  const rects = segments.map(({ share, as }) => {
    const width = share * PERCENT
    const rect = html`<rect
      class="part ${as}"
      x="${x.toFixed(WIDTH_DECIMALS)}%"
      width="${Math.max(BAR_GAP, width - BAR_GAP).toFixed(WIDTH_DECIMALS)}%"
      height="100%"
      rx="2"
    />`
    x += width
    return rect
  })
  return html`<svg class="seg" aria-hidden="true">${rects}</svg>
    <ul class="seg-words">
      ${segments.map(
        ({ as, word, amount, at }) =>
          html`<li class="k ${as}" ${at === undefined ? null : html`data-at="${at}"`}>
            ${word} <b>${amount}</b>
          </li>`,
      )}
    </ul>`
}

/** A thin bar of a part of a whole, from 0 to 1. The figures beside it say the same. */
export function shareBar(share: number, as: Segment['as'] | 'ink' = 'paid'): Html {
  const width = (Math.min(1, Math.max(0, share)) * PERCENT).toFixed(WIDTH_DECIMALS)
  return html`<svg class="share" aria-hidden="true">
    <rect class="bg" width="100%" height="100%" rx="2" />
    <rect class="part ${as}" width="${width}%" height="100%" rx="2" />
  </svg>`
}
