import { isolateDirection, removeDirection } from '../../protocol/foreign-text.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'

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
    : html`<a href="${href}">${quotedText(title)}</a> <span class="quiet">#${id}</span>`
}

/** Meter of the part of the owed prizes that is paid. */
export function redeemedMeter(redeemed: string, owed: string): Html {
  return html`<meter
    min="0"
    max="1"
    value="${(Number(redeemed) / Number(owed)).toFixed(4)}"
    aria-label="Redeemed of what was won"
  ></meter>`
}
