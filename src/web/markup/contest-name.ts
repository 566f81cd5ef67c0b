import { isolateDirection, removeDirection } from '../../protocol/foreign-text.ts'
import { type Html, html } from './html.ts'

/** A contest's title and number as plain text; only the number if it has no title. */
export function contestName(id: number, title: string | null): string {
  return title === null ? `Contest ${id}` : `${isolateDirection(title)} (contest ${id})`
}

/** Text by the operator, isolated so that its direction does not affect the text around it. */
export function quotedText(text: string): Html {
  return html`<bdi>${removeDirection(text)}</bdi>`
}

/** Link to a contest's ledger, with its title and number. */
export function contestLink(id: number, title: string | null): Html {
  const href = `/contests/${id}/ledger`
  return title === null
    ? html`<a href="${href}">Contest ${id}</a>`
    : html`<a href="${href}">${quotedText(title)}</a> <span class="quiet">contest ${id}</span>`
}

/** Link to a contest's ledger with its title alone; with its number if it has none. */
export function contestTitleLink(id: number, title: string | null): Html {
  return html`<a href="/contests/${id}/ledger">${title === null ? `Contest ${id}` : quotedText(title)}</a>`
}
