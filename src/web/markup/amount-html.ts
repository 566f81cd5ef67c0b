import type { Html } from './html.ts'
import { html } from './html.ts'

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/

/**
 * An amount, a price or a count with all its digits. Margins separate the groups of thousands, so the text that is
 * copied or read aloud is the string of the JSON.
 */
export function amountHtml(text: string): Html {
  const match = DECIMAL.exec(text)
  if (match === null) throw new Error('an amount is decimal digits')
  const [, sign = '', whole = '', fraction] = match
  const first = whole.length % 3 === 0 ? 3 : whole.length % 3
  const groups = whole.slice(first).match(/\d{3}/g) ?? []
  const leading = `${sign}${whole.slice(0, first)}`
  const decimals = fraction === undefined ? '' : `<small>.${fraction}</small>`
  // Built without `html`, since digits need no escape and a page has thousands of amounts.
  const markup = groups.reduce((all, group) => `${all}<i>${group}</i>`, leading)
  return { markup: `<data class="n" value="${text}">${markup}${decimals}</data>` }
}

/** An amount, or the words `none` for null. */
export function amountOrNone(text: string | null, none = 'not known'): Html {
  return text === null ? html`<span class="none">${none}</span>` : amountHtml(text)
}

/** A whole number. */
export function countHtml(value: number): Html {
  return amountHtml(String(value))
}

/** Whether a decimal string is zero. */
export function isZero(figure: string): boolean {
  return !/[1-9]/.test(figure)
}

/** Whether a decimal string is above zero. */
export function isPositive(figure: string): boolean {
  return !isZero(figure) && !figure.startsWith('-')
}

/** Link to an event's page, with the seq as its text. */
export function eventLink(seq: number): Html {
  return html`<a class="seq" href="/events/${seq}">#${seq}</a>`
}
