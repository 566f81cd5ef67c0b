import { assert } from '../../../protocol/brand.ts'
import type { EventWire } from '../../../protocol/event.ts'
import { FILTERS } from '../../../protocol/endpoints/endpoint-parameters.ts'
import type { EventsPage } from '../../../protocol/endpoints/event-endpoints.ts'
import { countHtml } from '../../markup/amount-html.ts'
import { EVENTS_SHOWN } from './events-table.ts'
import { type Html, html } from '../../markup/html.ts'
import type { View } from '../../frame/page.ts'

/**
 * Note on the rows that the page shows, the range in which they are complete, and whether the exports have more rows.
 * `address` is the answer's address; empty for the page's own answer.
 */
export function rangeNote({ events, page }: EventsPage, view: View, address = ''): Html {
  const shown = events.slice(0, EVENTS_SHOWN)
  const isCut = shown.length < events.length
  const others = isCut ? 'all of them' : 'the same'
  const forms = view.api === null ? null : html` The JSON and the CSV of this view hold ${others}.`
  const pointers = [
    ...(isCut ? ['/events/0/seq', `/events/${shown.length - 1}/seq`] : []),
    ...(isCut || page.count !== 1 ? ['/page/count'] : []),
    ...(page.before === undefined ? ['/page/after', '/page/scannedTo'] : ['/page/scannedTo', '/page/before']),
  ]
  return html`<p class="quiet" data-at="${pointers.map((pointer) => `${address}#${pointer}`).join(' ')}">
    Shown: ${isCut ? firstOf(shown, page) : allOf(page)}${matchOf(page, view)} ${searchedRange(page)}.${forms}
  </p>`
}

function firstOf(shown: readonly EventWire[], page: EventsPage['page']): Html {
  const end = page.before === undefined ? 'first' : 'newest'
  return html`events ${seqText(shown.at(0)?.seq)} to ${seqText(shown.at(-1)?.seq)}, the ${end} of
  ${countHtml(page.count)} events`
}

function allOf(page: EventsPage['page']): Html {
  return page.count === 1 ? html`the only event` : html`all ${countHtml(page.count)} events`
}

/** Parameters that filter events. */
const CHOOSING: readonly string[] = [...FILTERS.map(({ name }) => name), 'tx']

function matchOf(page: EventsPage['page'], { query }: View): string {
  if (!CHOOSING.some((name) => query.has(name))) return ''
  return page.count === 1 ? ' that matches' : ' that match'
}

/** Searched range of events. `after` and `before` are exclusive, `scannedTo` is inclusive. */
function searchedRange({ after, before, scannedTo }: EventsPage['page']): Html {
  return before === undefined
    ? html`after event ${seqText(after)} and up to ${seqText(scannedTo)}`
    : html`from event ${seqText(scannedTo)} on and before ${seqText(before)}`
}

function seqText(seq: number | undefined): Html {
  assert(seq !== undefined, 'a page of events has the bounds of its range')
  return countHtml(seq)
}
