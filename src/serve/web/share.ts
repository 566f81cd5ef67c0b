import { digitsOf } from './chart-scale.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'

// A figure that no answer holds says how it follows from the page's own: an operator, and JSON pointers into the answer
// (RFC 6901). Everything is computed from the exact digits and cut off, never rounded up.

/** A part of a whole in per cent with one decimal; nothing where the whole is zero. */
export function percentOf(part: Sourced, whole: Sourced): Html | null {
  const all = digitsOf(whole.figure)
  if (all === 0n) return null
  return derived(`percent ${part.at} ${whole.at}`, `${tenths((digitsOf(part.figure) * 1_000n) / all)} %`)
}

/** How many times one amount is another, with one decimal; nothing where the other is zero. */
export function ratioOf(part: Sourced, whole: Sourced): Html | null {
  const all = digitsOf(whole.figure)
  if (all === 0n) return null
  return derived(`ratio ${part.at} ${whole.at}`, tenths((digitsOf(part.figure) * 10n) / all))
}

/** A figure of an answer and where it stands in it. */
export type Sourced = Readonly<{ figure: string; at: string }>

export function derived(expression: string, shown: string): Html {
  return html`<span data-expr="${expression}">${shown}</span>`
}

function tenths(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(2, '0')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -1)}.${digits.slice(-1)}`
}
