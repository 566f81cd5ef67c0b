import type { Html } from './html.ts'
import { html } from './html.ts'

/** Text of the OpenAPI document, with the parts between backticks as code. */
export function prose(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))}`
}

/** The same with a full stop at its end; null for no text. */
export function sentence(text: string | undefined): Html | null {
  return text === undefined || text === '' ? null : prose(text.endsWith('.') ? text : `${text}.`)
}

/** A text with its first letter in upper case. */
export function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** Element id of a part that several answers share. */
export const anchorOf = (name: string): string => `of-${name}`
