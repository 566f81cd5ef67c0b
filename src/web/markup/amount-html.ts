import { grouped } from './chart-scale.ts'
import { type Html, html } from './html.ts'

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/
/** Least whole part of an amount that is shown without decimals. */
const WHOLE_LEAST = 100
/** Decimals of an amount below that, unless they would all be zero. */
const DECIMALS = 2
const PRICE_DECIMALS = 4
/** Digits of the whole part from which a headline uses millions. */
const MILLION_DIGITS = 7

/**
 * Amount, price or count, cut and never rounded: whole from 100, otherwise with two decimals. The element has the other
 * digits, hidden until the reader asks for all decimals. `value` is the string of the JSON.
 */
export function amountHtml(text: string): Html {
  const { decimals } = partsOf(text)
  const places = shownPlaces(partsOf(text))
  // Built without `html`, because digits need no escape and a page has thousands of amounts.
  const rest = places > 0 || decimals === '' ? decimals.slice(places) : `.${decimals}`
  return dataOf(text, shortAmount(text), rest)
}

/** An amount cut as `amountHtml` shows it, as plain text. */
export function shortAmount(text: string): string {
  const parts = partsOf(text)
  const places = shownPlaces(parts)
  const near = places > 0 ? `.${parts.decimals.slice(0, places)}` : ''
  return `${parts.sign}${grouped(parts.whole)}${near}`
}

/** Amount of a headline: `5.83 million` from a million, otherwise as `amountHtml`. */
export function headlineAmount(text: string): Html {
  const { sign, whole, decimals } = partsOf(text)
  if (whole.length < MILLION_DIGITS) return amountHtml(text)
  const millions = grouped(whole.slice(0, 1 - MILLION_DIGITS))
  const hundredths = whole.slice(1 - MILLION_DIGITS, 1 - MILLION_DIGITS + DECIMALS)
  const exact = `${sign}${grouped(whole)}${decimals === '' ? '' : `.${decimals}`}`
  return {
    markup: `<data value="${text}"><b>${sign}${millions}.${hundredths} million</b><i>${exact}</i></data>`,
  }
}

/** An amount with all its decimals, for receipts and sums that must agree. */
export function exactAmount(text: string): Html {
  const { sign, whole, decimals } = partsOf(text)
  const soft = decimals === '' ? '' : `<small>.${decimals}</small>`
  return { markup: `<data value="${text}">${sign}${grouped(whole)}${soft}</data>` }
}

/** A price, with four decimals, or more below a thousandth. */
export function priceHtml(text: string): Html {
  const parts = partsOf(text)
  const places = Math.min(parts.decimals.length, Math.max(PRICE_DECIMALS, placesToFirst(parts) + 2))
  const [near, rest] = [parts.decimals.slice(0, places), parts.decimals.slice(places)]
  return dataOf(text, `${parts.sign}${grouped(parts.whole)}.${near}`, rest)
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
  return html`<a class="seq" href="/events/${seq}">${countHtml(seq)}</a>`
}

type DecimalParts = Readonly<{ sign: string; whole: string; decimals: string }>

function partsOf(text: string): DecimalParts {
  const match = DECIMAL.exec(text)
  if (match === null) throw new Error('an amount is decimal digits')
  const [, sign = '', whole = '', decimals = ''] = match
  return { sign, whole, decimals }
}

function dataOf(value: string, shown: string, rest: string): Html {
  return { markup: `<data value="${value}">${shown}${rest === '' ? '' : `<i>${rest}</i>`}</data>` }
}

/** Decimals of a short amount. An amount below a hundredth has its first two non-zero digits. */
function shownPlaces(parts: DecimalParts): number {
  const { whole, decimals } = parts
  if (decimals === '' || Number(whole) >= WHOLE_LEAST) return 0
  if (whole === '0' && isZero(decimals)) return 0
  if (whole !== '0') return DECIMALS
  return Math.min(decimals.length, Math.max(DECIMALS, placesToFirst(parts) + 1))
}

/** Decimals up to the first digit that is not zero. */
function placesToFirst({ whole, decimals }: DecimalParts): number {
  return whole === '0' ? decimals.search(/[1-9]/) + 1 : 0
}
