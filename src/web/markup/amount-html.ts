import type { Html } from './html.ts'
import { html } from './html.ts'

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/

/**
 * An amount, a price or a count as a page shows it: every digit of it, the groups of thousands set apart by margins
 * alone, so that what is read aloud, selected and copied is the JSON's own string.
 */
export function amountHtml(text: string): Html {
  const match = DECIMAL.exec(text)
  if (match === null) throw new Error('an amount is decimal digits')
  const [, sign = '', whole = '', fraction] = match
  const first = whole.length % 3 === 0 ? 3 : whole.length % 3
  const groups = whole.slice(first).match(/\d{3}/g) ?? []
  const leading = `${sign}${whole.slice(0, first)}`
  const decimals = fraction === undefined ? '' : `<small>.${fraction}</small>`
  // Digits need no escape, and a page has thousands of them.
  const markup = groups.reduce((all, group) => `${all}<i>${group}</i>`, leading)
  return { markup: `<data class="n" value="${text}">${markup}${decimals}</data>` }
}

/** An amount that may be unknown: then a dash, and words for who cannot see it. */
export function amountOrNone(text: string | null, none = 'not known'): Html {
  return text === null ? html`<span class="none">${none}</span>` : amountHtml(text)
}

/** A whole number. */
export function countHtml(value: number): Html {
  return amountHtml(String(value))
}

/** The number of an event, linked to its page. */
export function eventLink(seq: number): Html {
  return html`<a class="seq" href="/events/${seq}">#${seq}</a>`
}
