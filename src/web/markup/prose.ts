import type { Html } from './html.ts'
import { html } from './html.ts'

/** A text of the OpenAPI document: what stands between backticks is code. */
export function prose(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))}`
}

/** The same as a sentence of its own; nothing where there is none. */
export function sentence(text: string | undefined): Html | null {
  return text === undefined || text === '' ? null : prose(text.endsWith('.') ? text : `${text}.`)
}

/** Where a part that answers share is told. */
export const anchorOf = (name: string): string => `of-${name}`
