import { assert } from '../../protocol/brand.ts'
import { amountHtml } from './amount-html.ts'
import { type Html, html } from './html.ts'

/**
 * A figure of an answer and its JSON pointer (RFC 6901). The pointer follows the answer's address and `#` if the figure
 * is not in the page's own answer.
 */
export type Term = Readonly<{ pointer: string; figure: string | number }>

/** A figure that a page computes, with the expression that gives it. */
export type Derived = Readonly<{ expression: string; figure: string }>

/** The first figure minus the second. Both have the same number of decimals. */
export function minus(first: Term, second: Term): Derived {
  const places = placesOf([first, second])
  const figure = decimal(digitsOf(first) - digitsOf(second), places)
  return { expression: `minus ${first.pointer} ${second.pointer}`, figure }
}

/** The figure with the other sign. */
export function negated(term: Term): Derived {
  return {
    expression: `negated ${term.pointer}`,
    figure: decimal(-digitsOf(term), placesOf([term])),
  }
}

/** Sum of the terms; null if there are none. */
export function derivedSum(terms: readonly Term[]): Derived | null {
  if (terms.length === 0) return null
  const total = terms.map(digitsOf).reduce((a, b) => a + b, 0n)
  const expression = `sum ${terms.map(({ pointer }) => pointer).join(' ')}`
  return { expression, figure: decimal(total, placesOf(terms)) }
}

/** Sum of figures that one pointer names with `*` for each element; null if there are none. */
export function sumOfAll(pointer: string, figures: readonly (string | number)[]): Derived | null {
  const total = derivedSum(figures.map((figure) => ({ pointer, figure })))
  return total === null ? null : { ...total, expression: `sum ${pointer}` }
}

/** Markup of a derived figure, with its expression in `data-expr`. */
export function derived({ expression, figure }: Derived): Html {
  return html`<span data-expr="${expression}">${amountHtml(figure)}</span>`
}

function digitsOf({ figure }: Term): bigint {
  return BigInt(String(figure).replace('.', ''))
}

/** Number of decimals, the same in all terms. */
function placesOf(terms: readonly Term[]): number {
  const [places = 0, ...others] = new Set(
    terms.map(({ figure }) => String(figure).split('.')[1]?.length ?? 0),
  )
  assert(others.length === 0, 'only figures of one unit are put together')
  return places
}

function decimal(value: bigint, places: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(places + 1, '0')
  const sign = value < 0n ? '-' : ''
  return places === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`
}
