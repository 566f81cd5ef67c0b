import type { AsOf } from '../../protocol/endpoints/resource-fields.ts'
import { eventLink } from '../markup/amount-html.ts'
import { type Html, html } from '../markup/html.ts'
import { clockMoment } from '../markup/moment-html.ts'
import type { View } from './page.ts'

/**
 * Line that names the state of a page, and the switch that shows all decimals. The frame adds it at the end of a page
 * that has none.
 */
export function asOfLine({ seq, at }: AsOf, view: Pick<View, 'now' | 'past'>): Html {
  const state =
    at === null
      ? html`<span>${view.past ? 'Before the first event.' : 'No event has been published yet.'}</span>`
      : html`<span data-at="/asOf/seq /asOf/at"
          >As of event ${eventLink(seq)}, ${clockMoment(at, view)}.</span
        >`
  return html`<p class="as-of">${state} ${DECIMALS}</p>`
}

/** Whether a page has the line. */
export function hasAsOf({ markup }: Html): boolean {
  return markup.includes('<p class="as-of"')
}

/** Whether markup has a shortened amount, which the switch would change. */
export function hasShortAmount({ markup }: Html): boolean {
  return markup.includes('<i>')
}

/** Markup without the switch. */
export function withoutSwitch({ markup }: Html): Html {
  return { markup: markup.replace(DECIMALS.markup, '') }
}

const DECIMALS = html`<label class="decimals"
  >Amounts are cut, never rounded. <input type="checkbox" id="decimals" data-decimals /> Show all
  decimals</label
>`
