import type { EventWire } from '../../../protocol/event.ts'
import type { EventsPage } from '../../../protocol/endpoints/event-endpoints.ts'
import { amountHtml, eventLink } from '../../markup/amount-html.ts'
import { eventName } from './event-names.ts'
import { eventNote } from './event-note.ts'
import { type Html, html } from '../../markup/html.ts'
import { cellMoment } from '../../markup/moment-html.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { transaction } from '../../markup/transaction.ts'

/** Events on a page. Links lead to more; exports have all of an answer. */
export const EVENTS_SHOWN = 100

/**
 * Table of events in the given order. `detailed` is the answer with their details. `upTo` marks a list that a
 * script extends with new events: it knows all up to this seq. `address` is that of the answer if it is not the page's own.
 */
export function eventsTable(
  events: readonly EventWire[],
  view: View,
  detailed: LinkedAnswer<EventsPage>,
  { upTo = null, address = '' }: Readonly<{ upTo?: number | null; address?: string }> = {},
): Html {
  return html`<div class="wide" role="region" aria-label="Events" tabindex="0">
    <table class="events cards" data-list="${address}#/events" data-most="${EVENTS_SHOWN}">
      <thead>
        <tr>
          <th scope="col" data-field="seq">Event</th>
          <th scope="col">What</th>
          <th scope="col" class="fold" data-field="type kind">Type / kind</th>
          <th scope="col" class="r" data-field="kots">Amount, ${view.site.token}</th>
          <th scope="col" data-field="at">When, UTC</th>
          <th scope="col" data-field="contestId">Contest</th>
          <th scope="col" class="fold" data-field="tx">Transaction</th>
        </tr>
      </thead>
      <tbody ${upTo === null ? null : html`data-live-rows data-live="${upTo}"`}>
        ${events.map((event) => rowOf(event, view, detailed))}
      </tbody>
    </table>
  </div>`
}

function rowOf(
  { seq, type, kind, at, contestId, kots, tx }: EventWire,
  view: View,
  detailed: LinkedAnswer<EventsPage>,
): Html {
  const contest = contestId === null ? null : html`<a href="/contests/${contestId}/ledger">${contestId}</a>`
  return html`<tr>
    <th scope="row">${eventLink(seq)}</th>
    <td>${eventName(type, kind)} ${eventNote(seq, detailed)}</td>
    <td class="fold"><code>${type} / ${kind}</code></td>
    <td class="r">${kots === null ? null : amountHtml(kots)}</td>
    <td class="far" data-label="UTC">${cellMoment(at, view)}</td>
    <td data-label="Contest">${contest}</td>
    <td class="fold">${tx === null ? null : transaction(tx, view.site)}</td>
  </tr>`
}
