import { isolateDirection, removeDirection } from '../../protocol/foreign-text.ts'
import type { ContestWire } from '../../protocol/endpoints/contest-endpoints.ts'
import { type Html, html } from './html.ts'
import { nearMoment, type Present } from './moment-html.ts'

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

/** Words in place of a contest's planned close that is not announced. */
export const NO_END = 'no end announced'

/** Word before the close of a contest; null before `NO_END`. */
export function closesWord({
  closedAt,
  closesAt,
}: Pick<ContestWire, 'closedAt' | 'closesAt'>): 'closed' | 'closes' | null {
  if (closedAt !== null) return 'closed'
  return closesAt === null ? null : 'closes'
}

/** Actual or planned close of a contest. */
export function closesOrClosed(
  { closedAt, closesAt }: Pick<ContestWire, 'closedAt' | 'closesAt'>,
  present: Present,
): Html {
  const at = closedAt ?? closesAt
  return at === null ? html`${NO_END}` : nearMoment(at, present)
}
