import { percent } from '../markup/chart-scale.ts'
import { type Html, html } from '../markup/html.ts'

/** Number of a series, which decides its colour: spent, paid, burned, price. */
export type SeriesStyle = 1 | 2 | 3 | 4

/** Widths of a plot, in pixels, below which its words would not fit: of a phone, and of a wider page. */
export const PLOT_WIDTHS = { narrow: 280, wide: 560 } as const
type Width = keyof typeof PLOT_WIDTHS

/** One line of words; `shown` is its markup with the sources of its figures. */
export type ChartRow = Readonly<{ text: string; style?: SeriesStyle | undefined; shown?: Html | undefined }>

/** Words at a mark: their lines, their place, and the widths that have them. */
export type ChartWords = Readonly<{
  rows: readonly ChartRow[]
  /** Place as a share of the width, and a distance from there in pixels. */
  share: number
  dx: number
  /** Base line of the first row, in pixels from the top. */
  y: number
  anchor: 'start' | 'middle' | 'end'
  /** Height in pixels of the mark that a thin line leads to; absent beside it. */
  lead?: number
  only: Width | null
}>

/** A place that words may take. */
export type Candidate = Pick<ChartWords, 'rows' | 'share' | 'dx' | 'y' | 'anchor' | 'lead'>

type Box = Readonly<{ left: number; right: number; top: number; bottom: number }>

/** Marks that words should not cover: top of the highest one between two shares of the width, in pixels. */
type TopBetween = (from: number, to: number) => number

const ROW_HEIGHT = 16
/** Height of letters above their base line, and below it. */
export const ASCENT = 12
export const DESCENT = 4
/** Least distance between words. */
const APART = 4

const NARROW_CHARS = /[ ,.:;'|ijlIft()]/

/** Width of a text of 13 px in pixels, in a wide font. Most fonts need less. */
export function wordsWidth(text: string, bold = false): number {
  let width = 0
  for (const char of text) width += NARROW_CHARS.test(char) ? 5 : /[mwMW]/.test(char) ? 13 : 8.4
  return bold ? width * 1.1 : width
}

function boxOf({ rows, share, dx, y, anchor }: Candidate, width: number): Box {
  const length = Math.max(...rows.map(({ text, style }) => wordsWidth(text, style !== undefined)))
  const at = share * width + dx
  const left = anchor === 'start' ? at : anchor === 'end' ? at - length : at - length / 2
  return {
    left,
    right: left + length,
    top: y - ASCENT,
    bottom: y + (rows.length - 1) * ROW_HEIGHT + DESCENT,
  }
}

function areApart(one: Box, other: Box): boolean {
  return (
    one.right + APART <= other.left ||
    other.right + APART <= one.left ||
    one.bottom <= other.top ||
    other.bottom <= one.top
  )
}

/**
 * Places words in a plot of one width, so that none is cut and none covers another. Wider plots have more space between
 * any two of them, since distances from a mark are in pixels and marks move apart.
 */
export function openPlacing(only: Width, height: number, topBetween: TopBetween) {
  const width = PLOT_WIDTHS[only]
  const reserved: Box[] = []
  const fits = (box: Box): boolean =>
    box.left >= 0 &&
    box.right <= width &&
    box.top >= 0 &&
    box.bottom <= height &&
    reserved.every((other) => areApart(box, other))
  const isClear = (box: Box): boolean => box.bottom <= topBetween(box.left / width, box.right / width) + 1
  return {
    /** Reserves the place of words that are there already. */
    reserve(words: Candidate): void {
      reserved.push(boxOf(words, width))
    },
    /** Places words at the first candidate that covers no mark; `must` allows one that does. Null if none fits. */
    place(candidates: readonly Candidate[], must: boolean): ChartWords | null {
      const fitting = candidates
        .map((one) => ({ one, box: boxOf(one, width) }))
        .filter(({ box }) => fits(box))
      const found = fitting.find(({ box }) => isClear(box)) ?? (must ? fitting[0] : undefined)
      if (found === undefined) return null
      reserved.push(found.box)
      return { ...found.one, only }
    },
    /** Base line just above the marks under words at a place. */
    above({ rows, share, dx, anchor }: Omit<Candidate, 'y' | 'lead'>, gap: number): number {
      const { left, right } = boxOf({ rows, share, dx, anchor, y: 0 }, width)
      const top = topBetween(left / width, right / width)
      return top - gap - (rows.length - 1) * ROW_HEIGHT - DESCENT
    },
  }
}

export type Placing = ReturnType<typeof openPlacing>

/** Words of both widths as one where they are the same. */
export function mergedWords(
  wide: readonly (ChartWords | null)[],
  narrow: readonly (ChartWords | null)[],
): readonly ChartWords[] {
  const keyOf = (words: ChartWords): string =>
    [words.rows.map(({ text }) => text).join('|'), words.share, words.dx, words.y, words.anchor].join(' ')
  const inBoth = (one: ChartWords | null, others: readonly (ChartWords | null)[]): boolean =>
    one !== null && others.some((other) => other !== null && keyOf(other) === keyOf(one))
  return [
    ...wide.flatMap((one) => (one === null ? [] : [inBoth(one, narrow) ? { ...one, only: null } : one])),
    ...narrow.flatMap((one) => (one === null || inBoth(one, wide) ? [] : [one])),
  ]
}

/** Classes of words that only wide or only narrow plots have. */
const ONLY = { wide: 'w', narrow: 'nw' } as const

/** Words as SVG text, in front of everything else. A picture is wide and has no words of narrow pages. */
export function wordsHtml(words: readonly ChartWords[], form: 'page' | 'picture'): Html {
  const shown = form === 'page' ? words : words.filter(({ only }) => only !== 'narrow')
  return html`${shown.map((one) => leadHtml(one, form))}
  ${shown.map(({ rows, share, dx, y, anchor, only }) =>
    rows.map(({ text, style, shown: markup }, index) => {
      const kind = [
        style === undefined ? '' : `t${style}`,
        'halo',
        form === 'page' && only !== null ? ONLY[only] : '',
      ]
      const place = html`x="${percent(share)}" y="${Number((y + index * ROW_HEIGHT).toFixed(1))}"`
      const side = anchor === 'start' ? null : html` text-anchor="${anchor}"`
      return html`<text
        class="${kind.filter((one) => one !== '').join(' ')}"
        ${place}
        ${dx === 0 ? null : html` dx="${dx}"`}
        ${side}
        >${markup ?? text}</text
      >`
    }),
  )}`
}

/** Thin line from words to their mark below. */
function leadHtml({ rows, share, y, lead, only }: ChartWords, form: 'page' | 'picture'): Html | null {
  if (lead === undefined) return null
  const from = y + (rows.length - 1) * ROW_HEIGHT + DESCENT
  const kind = form === 'page' && only !== null ? ` ${ONLY[only]}` : ''
  const x = percent(share)
  return html`<line class="axis${kind}" x1="${x}" x2="${x}" y1="${from}" y2="${lead}" />`
}
