import { isolated, undirected } from '../../protocol/direction.ts'
import type { ContestStatus } from '../../protocol/resources.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'

/** A contest by its title and number in plain text; by its number alone where nobody gave it a title. */
export function contestName(id: number, title: string | null): string {
  return title === null ? `Contest ${id}` : `${isolated(title)} (contest ${id})`
}

/** Words of the operator amid a page's own: whatever their direction, what stands beside them keeps its own. */
export function quotedText(text: string): Html {
  return html`<bdi>${undirected(text)}</bdi>`
}

/** A contest's title, linked to its ledger, with its number beside it. */
export function contestLink(id: number, title: string | null): Html {
  const href = `/contests/${id}/ledger`
  return title === null
    ? html`<a href="${href}">Contest ${id}</a>`
    : html`<a href="${href}">${quotedText(title)}</a> <span class="quiet">#${id}</span>`
}

/** A state as a word in a frame of its colour. */
export function statusPill(status: ContestStatus): Html {
  return html`<span class="pill ${status}">${status}</span>`
}

/** A part of what was won as a bar: the figures beside it say it exactly. */
export function redeemedMeter(redeemed: string, owed: string): Html {
  return html`<meter
    min="0"
    max="1"
    value="${(Number(redeemed) / Number(owed)).toFixed(4)}"
    aria-label="Redeemed of what was won"
  ></meter>`
}
