import { type Html, html, type Part } from './html.ts'
import { addressAt, type Site } from './site.ts'

// Parts of the look: lines of the book, figures, facts and bars in segments.

/**
 * Line of the book: moment, red double rule, event, amount. `row` is the JSON pointer of its element in the book's
 * list.
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
  /** `day` heads the lines of a day and has their sum. `soft` is still to come. */
  as?: 'day' | 'soft'
}>

/** JSON pointer of a list that a book shows, the fields of each line in the order of its text, and the most lines. */
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

/** Figure: label, number, and one line about its parts or its change. */
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

/** Part of a bar: its share of the whole from 0 to 1, its colour, and its label and amount. */
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

/** Bar in segments, each with its label and amount below. The text repeats all that the bar shows. */
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

/** Thin bar for a part of a whole, from 0 to 1. The figures beside it state the same. */
export function shareBar(share: number, as: Segment['as'] | 'ink' = 'paid'): Html {
  const width = (Math.min(1, Math.max(0, share)) * PERCENT).toFixed(WIDTH_DECIMALS)
  return html`<svg class="share" aria-hidden="true">
    <rect class="bg" width="100%" height="100%" rx="2" />
    <rect class="part ${as}" width="${width}%" height="100%" rx="2" />
  </svg>`
}

/** Whole id of a transaction, shortened on screen by CSS, with links to explorers. */
export function transaction(tx: string, { explorers }: Site): Html {
  const links = explorers.map(
    (explorer) => html` <a rel="noreferrer" href="${addressAt(explorer, tx)}">${explorer.host}</a>`,
  )
  return html`<code class="id cut">${tx}</code>${links}`
}

/** Note about the explorer links of a list; null if the site names no explorer. */
export function explorersNote({ explorers }: Site): Html | null {
  if (explorers.length === 0) return null
  return html`<p class="quiet">
    Each transaction can be seen at sites that are not ours; this page does not check them.
  </p>`
}

/** Characters at each end of a shortened transaction, and the longest one that is shown whole. */
const TX_ENDS = 4
const TX_WHOLE_MAX = 12

/**
 * Shortened transaction as a link to the first explorer, or to the event that names it. Has a button that copies the
 * whole id, which a script shows.
 */
export function shortTransaction(tx: string, { explorers: [explorer] }: Site): Html {
  const short = tx.length > TX_WHOLE_MAX ? `${tx.slice(0, TX_ENDS)}…${tx.slice(-TX_ENDS)}` : tx
  const link =
    explorer === undefined
      ? html`<a class="id" href="/tx/${encodeURIComponent(tx)}">${short}</a>`
      : html`<a class="id" rel="noreferrer" href="${addressAt(explorer, tx)}">${short}</a>`
  return html`<span class="tx"
    >${link}
    <button type="button" hidden data-copy="${tx}" aria-label="Copy transaction ${short}">Copy</button></span
  >`
}
