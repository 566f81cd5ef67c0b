import { assert } from '../../protocol/brand.ts'
import { amountHtml } from './amount-html.ts'
import { type Html, html } from './html.ts'
import type { Payouts } from '../../protocol/endpoints/contest-endpoints.ts'
import { UNPAID_STATUSES } from '../../protocol/enumerations.ts'

/**
 * Figure of an answer and its JSON pointer (RFC 6901). If the figure is not in the page's own answer, the pointer
 * begins with that answer's address and `#`.
 */
export type Term = Readonly<{ pointer: string; figure: string | number }>

/** Figure that a page computes, with its expression. */
export type Derived = Readonly<{ expression: string; figure: string }>

/** The first figure minus the second. Both have the same number of decimals. */
export function minus(first: Term, second: Term): Derived {
  const places = placesOf([first, second])
  const figure = decimal(digitsIn(first) - digitsIn(second), places)
  return { expression: `minus ${first.pointer} ${second.pointer}`, figure }
}

/** The figure with the other sign. */
export function negated(term: Term): Derived {
  return {
    expression: `negated ${term.pointer}`,
    figure: decimal(-digitsIn(term), placesOf([term])),
  }
}

/** Sum of the terms; null if there are none. */
export function derivedSum(terms: readonly Term[]): Derived | null {
  if (terms.length === 0) return null
  const total = terms.map(digitsIn).reduce((a, b) => a + b, 0n)
  const expression = `sum ${terms.map(({ pointer }) => pointer).join(' ')}`
  return { expression, figure: decimal(total, placesOf(terms)) }
}

/** Sum of the figures under one pointer with `*` for each element; null if there are none. */
export function sumOfAll(pointer: string, figures: readonly (string | number)[]): Derived | null {
  const total = derivedSum(figures.map((figure) => ({ pointer, figure })))
  return total === null ? null : { ...total, expression: `sum ${pointer}` }
}

/** Markup of a derived figure, with its expression in `data-expr`. */
export function derived({ expression, figure }: Derived): Html {
  return html`<span data-expr="${expression}">${amountHtml(figure)}</span>`
}

/**
 * Sum of the waiting prizes, from the totals of an answer. Overpaid prizes are not subtracted, so it is zero only when
 * every prize is paid or has expired.
 */
export function waitingSum({
  answer: { totals },
  address,
}: Readonly<{ answer: Payouts; address: string }>): Derived {
  const waiting = UNPAID_STATUSES.filter((status) => status !== 'overpaid')
  const sum = derivedSum(
    waiting.map((status) => ({ pointer: `${address}#/totals/${status}`, figure: totals[status] })),
  )
  return sum ?? { expression: '', figure: '0' }
}

/** A part of a whole in per cent with one decimal; null when the whole is zero. */
export function percentOf(part: Term, whole: Term): Html | null {
  const tenths = tenthsOf(part, whole, 100n)
  return tenths === null ? null : expressed(`percent ${part.pointer} ${whole.pointer}`, `${tenths}%`)
}

/**
 * Part of a whole in whole per cent, cut off so that 99.9% never looks complete: `55%`, `Less than 1%` or `Nothing`.
 * Null when the whole is zero.
 */
export function wholePercentOf(part: Term, whole: Term): Html | null {
  const [some, all] = [digitsIn(part), digitsIn(whole)]
  if (all === 0n) return null
  const percent = (some * 100n) / all
  const shown = some === 0n ? 'Nothing' : percent === 0n ? 'Less than 1%' : `${percent}%`
  return expressed(`share ${part.pointer} ${whole.pointer}`, shown)
}

/** Ratio of two amounts with one decimal; null when the second is zero. */
export function ratioOf(part: Term, whole: Term): Html | null {
  const tenths = tenthsOf(part, whole, 1n)
  return tenths === null ? null : expressed(`ratio ${part.pointer} ${whole.pointer}`, tenths)
}

/** Text that an expression computes from an answer. */
export function expressed(expression: string, shown: string): Html {
  return html`<span data-expr="${expression}">${shown}</span>`
}

function tenthsOf(part: Term, whole: Term, times: bigint): string | null {
  const all = digitsIn(whole)
  if (all === 0n) return null
  const tenths = (digitsIn(part) * times * 10n) / all
  const digits = (tenths < 0n ? -tenths : tenths).toString().padStart(2, '0')
  return `${tenths < 0n ? '-' : ''}${digits.slice(0, -1)}.${digits.slice(-1)}`
}

function digitsIn({ figure }: Term): bigint {
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
