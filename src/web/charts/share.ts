import { digitsOf } from '../markup/chart-scale.ts'
import type { Term } from '../markup/derived.ts'
import { type Html, html } from '../markup/html.ts'

// Ratios of two amounts, computed from the exact digits and truncated, never rounded up.

/** A part of a whole in per cent with one decimal; null when the whole is zero. */
export function percentOf(part: Term, whole: Term): Html | null {
  const tenths = tenthsOf(part, whole, 100n)
  return tenths === null ? null : expressed(`percent ${part.pointer} ${whole.pointer}`, `${tenths} %`)
}

/**
 * A part of a whole in whole per cent, cut off, so that 99.9 % never reads as all: `55 %`, `Less than 1 %` or `Nothing`.
 * Null when the whole is zero.
 */
export function wholePercentOf(part: Term, whole: Term): Html | null {
  const [some, all] = [part, whole].map(({ figure }) => digitsOf(String(figure)))
  if (some === undefined || all === undefined || all === 0n) return null
  const percent = (some * 100n) / all
  const shown = some === 0n ? 'Nothing' : percent === 0n ? 'Less than 1 %' : `${percent} %`
  return expressed(`share ${part.pointer} ${whole.pointer}`, shown)
}

/** Ratio of two amounts with one decimal; null when the second is zero. */
export function ratioOf(part: Term, whole: Term): Html | null {
  const tenths = tenthsOf(part, whole, 1n)
  return tenths === null ? null : expressed(`ratio ${part.pointer} ${whole.pointer}`, tenths)
}

/** A text that is computed from an answer by an expression. */
export function expressed(expression: string, shown: string): Html {
  return html`<span data-expr="${expression}">${shown}</span>`
}

function tenthsOf(part: Term, whole: Term, times: bigint): string | null {
  const all = digitsOf(String(whole.figure))
  if (all === 0n) return null
  const tenths = (digitsOf(String(part.figure)) * times * 10n) / all
  const digits = (tenths < 0n ? -tenths : tenths).toString().padStart(2, '0')
  return `${tenths < 0n ? '-' : ''}${digits.slice(0, -1)}.${digits.slice(-1)}`
}
