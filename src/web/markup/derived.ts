import { assert } from '../../protocol/brand.ts'
import { amountHtml } from './amount-html.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'

/**
 * A figure of an answer and where it stands: a JSON pointer (RFC 6901), after the answer's address and `#` when it is
 * not the answer that the page is of.
 */
export type Term = Readonly<{ pointer: string; figure: string | number }>

/** A figure that follows from others, with the expression by which anyone can compute it again. */
export type Derived = Readonly<{ expression: string; figure: string }>

/** The first less the second; both with as many decimals. */
export function minus(first: Term, second: Term): Derived {
  const places = placesOf([first, second])
  const figure = decimal(digitsOf(first) - digitsOf(second), places)
  return { expression: `minus ${first.pointer} ${second.pointer}`, figure }
}

/** All of them together; null where there are none. */
export function derivedSum(terms: readonly Term[]): Derived | null {
  if (terms.length === 0) return null
  const total = terms.map(digitsOf).reduce((a, b) => a + b, 0n)
  const expression = `sum ${terms.map(({ pointer }) => pointer).join(' ')}`
  return { expression, figure: decimal(total, placesOf(terms)) }
}

/** The same, its terms named by one pointer with `*` for each element. */
export function sumOfAll(pointer: string, figures: readonly (string | number)[]): Derived | null {
  const total = derivedSum(figures.map((figure) => ({ pointer, figure })))
  return total === null ? null : { ...total, expression: `sum ${pointer}` }
}

/** A derived figure as a page shows it: like any other, and with its expression. */
export function derived({ expression, figure }: Derived): Html {
  return html`<span data-expr="${expression}">${amountHtml(figure)}</span>`
}

function digitsOf({ figure }: Term): bigint {
  return BigInt(String(figure).replace('.', ''))
}

/** The decimals that all of them have. */
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
