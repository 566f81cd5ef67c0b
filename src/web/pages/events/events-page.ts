import type { EventWire } from '../../../protocol/event.ts'
import type { EventsPage } from '../../../protocol/endpoints/event-endpoints.ts'
import { askDetails, eventNote } from './event-note.ts'
import { eventName, typeNames } from './event-sentence.ts'
import { eventsPageRows } from '../../../serve/api/answer-tables.ts'
import { askEndpoint, firstEvent, jsonLinks } from '../../frame/linked-answers.ts'
import { amountHtml, countHtml, eventLink } from '../../markup/amount-html.ts'
import { type Html, html } from '../../markup/html.ts'
import { cellMoment, momentText } from '../../markup/moment-html.ts'
import type { EndpointPage, LinkedAnswer, Page, View } from '../../frame/page.ts'
import { NOT_FINAL } from './transaction-route.ts'
import { EVENT_TYPES } from '../../../protocol/rules.ts'
import { assert } from '../../../protocol/brand.ts'
import { AFTER, FILTERS } from '../../../protocol/endpoints/endpoint-parameters.ts'
import { transaction } from '../../markup/book.ts'
import { type MonthLinks, monthLinks } from '../ranges/month-links.ts'
import { dateFields } from '../ranges/range-controls.ts'
import { copyButton } from '../../frame/view-bar.ts'

/** `/events`: the log in pages, with filters. */
export const eventsPage: EndpointPage<'events'> = {
  endpoint: 'events',
  async title(_, view) {
    const { titled } = await monthsOf(view)
    return `${eventsTitle(view.query.list('type'))}${titled}`
  },
  description: ({ events }) => previewText(events.slice(0, EVENTS_SHOWN)),
  wholeCsv: true,
  csv: eventsPageRows,
  async render(answer, view) {
    const { events, page } = answer
    const shown = events.slice(0, EVENTS_SHOWN)
    const months = await monthsOf(view)
    return html`${endLinks(view)} ${eventsForm(view, months)} ${months.pager}
    ${shown.length === 0 ? noEvents(page, '', view) : await detailedTable(answer, shown, view)}
    ${pager(shown.at(-1)?.seq, shown.length < events.length, page, view)}`
  },
}

async function detailedTable(answer: EventsPage, shown: readonly EventWire[], view: View): Promise<Html> {
  const detailed = await askDetails(answer, shown.length, view)
  return html`${eventsTable(shown, view, detailed)} ${rangeNote(answer, view)}
  ${detailed.answer === answer ? null : jsonLinks([['these events with their details', detailed]])}`
}

/** Link-preview text: the first and last shown event; null if there is none. */
function previewText(events: readonly EventWire[]): string | null {
  const [first] = events
  const last = events.at(-1)
  if (first === undefined || last === undefined) return null
  const textOf = ({ seq, type, kind, at }: EventWire): string =>
    `#${seq} (${type}, ${kind}) of ${momentText(at)}`
  return first === last ? `Event ${textOf(first)}.` : `From event ${textOf(first)} to event ${textOf(last)}.`
}

function eventsTitle(types: readonly string[] | undefined): string {
  return types === undefined ? 'Events' : typeNames(types)
}

/** Months as ranges of the same filters. A range without an end goes to the present. */
async function monthsOf(view: View): Promise<MonthLinks> {
  const { query, now } = view
  const first = await firstEvent(view)
  const range = {
    fromMs: query.time('from') ?? 0,
    toMs: query.time('to') ?? now,
    launchedAtMs: first?.answer.atMs ?? null,
  }
  return monthLinks(view, range, { after: undefined, before: undefined })
}

/** Links to both orders of the events and to the stream. */
function endLinks(view: View): Html {
  const { query } = view
  const isDescending = query.word('order') === 'desc'
  const newest = { after: undefined, from: undefined, to: undefined, before: undefined }
  const desc = query.format({ ...newest, order: 'desc', limit: String(EVENTS_SHOWN) })
  const asc = query.format({ ...newest, order: undefined, limit: undefined })
  const current = html`aria-current="page"`
  return html`<nav aria-label="Order of events" data-chrome>
    <ul class="tabs">
      <li><a href="/events${desc}" ${isDescending ? current : null}>Newest first</a></li>
      <li><a href="/events${asc}" ${isDescending ? null : current}>Oldest first</a></li>
      ${hasStream(view) ? html`<li><a href="/stream${filtersOf(view)}">Live</a></li>` : null}
    </ul>
  </nav>`
}

/** Whether the page links the stream. The stream has no filter for a transaction. */
const hasStream = ({ query }: View): boolean => !query.has('tx')

function filtersOf({ query }: Pick<View, 'query'>): string {
  return query.format({
    after: undefined,
    before: undefined,
    from: undefined,
    to: undefined,
    order: undefined,
    limit: undefined,
  })
}

/**
 * Text of an empty list: the searched range and its end. `from` is the answer's address; empty for the page's own
 * answer.
 */
export function noEvents(page: EventsPage['page'], from: string, { query }: View): Html {
  const types = query.list('type')
  const what = types === undefined ? 'event' : types.join(' or ')
  const matching = ['kind', 'contestId', 'nonzero', 'tx', 'from', 'to'].some((name) => query.has(name))
  const { after = 0, before, scannedTo } = page
  const [low, high] = before === undefined ? [after, scannedTo] : [scannedTo, before]
  const [lowest, highest] = before === undefined ? ['after', 'scannedTo'] : ['scannedTo', 'before']
  return html`<p class="lead" data-at="${from}/page/${lowest} ${from}/page/${highest}">
      No ${what}${matching ? ' that matches' : ''} between events ${countHtml(low)} and ${countHtml(high)}.
    </p>
    ${query.has('tx') ? html`<p>${NOT_FINAL}</p>` : null}
    <p>${endOfRange(page, query)}</p>`
}

/** Text that tells whether the log or the query's own bound ends the range. */
function endOfRange({ hasMore, before }: EventsPage['page'], query: View['query']): string {
  if (hasMore) return `There are more events: choose “${before === undefined ? 'Newer' : 'Older'}”.`
  const bounds = before === undefined ? ['to'] : ['after', 'from']
  if (bounds.some((name) => query.has(name))) return 'This is the end of the range that you chose.'
  return `This is the ${before === undefined ? 'end' : 'beginning'} of the log.`
}

/** Links to older and newer events, in either order, with the same filters. */
function pager(last: number | undefined, cut: boolean, page: EventsPage['page'], view: View): Html {
  const { query } = view
  const limit = String(EVENTS_SHOWN)
  const { before, after = 0 } = page
  // The next page starts after the last shown row, or at the end of the answer if all of it is shown.
  const onward = cut ? last : page.hasMore ? page.scannedTo : undefined
  const down = { after: undefined, order: 'desc', limit }
  const up = { before: undefined, order: undefined, limit }
  if (before === undefined) {
    // The other direction drops the bound at which this range started.
    const older =
      after > 0 ? query.format({ ...down, from: undefined, before: String(after + 1) }) : undefined
    const newer = onward === undefined ? undefined : query.format({ ...up, after: String(onward) })
    return html`<nav aria-label="Pages of events" class="pager" data-chrome>
      ${older === undefined ? null : html`<a rel="prev" href="/events${older}">Older: up to #${after}</a>`}
      ${newer === undefined ? null : html`<a rel="next" href="/events${newer}">Newer: after #${onward ?? 0}</a>`}
      ${
        newer === undefined && hasStream(view)
          ? html`<a class="button" href="/stream${filtersOf(view)}">Continue live</a>`
          : null
      }
    </nav>`
  }
  const older = onward === undefined ? undefined : query.format({ ...down, before: String(onward) })
  const newer =
    query.has('before') || query.has('to')
      ? query.format({ ...up, to: undefined, after: String(before - 1) })
      : undefined
  return html`<nav aria-label="Pages of events" class="pager" data-chrome>
    ${newer === undefined ? null : html`<a rel="prev" href="/events${newer}">Newer: from #${before} on</a>`}
    ${older === undefined ? null : html`<a rel="next" href="/events${older}">Older: before #${onward ?? 0}</a>`}
  </nav>`
}

/** Parameters of filters that are folded until a reader opens them. */
const FURTHER = ['kind', 'nonzero', 'tx', 'from', 'to'] as const

/** Form of the filters of events in one row. With `months` it has a range and a transaction. */
function eventsForm({ path, query }: View, months: MonthLinks | null): Html {
  const types = query.list('type')
  // A list of several types is one more option, so that the form keeps the query.
  const several = types !== undefined && types.length > 1 ? [types.join(',')] : []
  const isOpen = FURTHER.some((name) => query.has(name))
  const isFiltered = isOpen || query.has('type') || query.has('contestId')
  return html`<form class="controls filters" method="get" action="${path}" data-chrome>
    <label>Show ${typeChoice(['', ...several, ...EVENT_TYPES], types?.join(',') ?? '')}</label>
    <label
      >of contest
      <input
        name="contestId"
        size="6"
        inputmode="numeric"
        placeholder="any"
        value="${query.integers('contestId')?.join(',') ?? ''}"
    /></label>
    ${query.has('order') ? html`<input type="hidden" name="order" value="${query.word('order') ?? ''}" />` : null}
    <button>Show</button>
    ${isFiltered ? html`<a href="${path}">All events</a>` : null}
    <details ${isOpen ? html`open` : null}>
      <summary>Dates and more filters</summary>
      ${months === null ? null : html`${months.tabs} ${months.names}`}
      <div class="ask">
        <label
          >Kind
          <input name="kind" size="14" value="${query.list('kind')?.join(',') ?? ''}" autocapitalize="none"
        /></label>
        ${months === null ? null : rangeFields(query)}
        <label class="tick"
          ><span>With an amount</span
          ><input type="checkbox" name="nonzero" value="1" ${query.flag('nonzero') ? html`checked` : null}
        /></label>
      </div>
    </details>
  </form>`
}

function rangeFields(query: View['query']): Html {
  return html`<label
      >Transaction
      <input
        name="tx"
        size="24"
        maxlength="128"
        value="${query.word('tx') ?? ''}"
        autocapitalize="none"
        spellcheck="false"
    /></label>
    ${dateFields(query)}`
}

function typeChoice(values: readonly string[], chosen: string): Html {
  const named = (value: string): string => (value === '' ? 'All events' : typeNames(value.split(',')))
  return html`<select name="type">
    ${values.map(
      (value) =>
        html`<option value="${value}" ${value === chosen ? html`selected` : null}>${named(value)}</option>`,
    )}
  </select>`
}

/**
 * Note on the shown rows, the range in which they are complete, and whether the exports have more. `address` is the
 * answer's address; empty for the page's own answer.
 */
function rangeNote({ events, page }: EventsPage, view: View, address = ''): Html {
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

/** Events on a page. Links lead to more, and exports have the whole answer. */
const EVENTS_SHOWN = 100

/**
 * Table of events in the given order. `detailed` is the answer with their details. `upTo` marks a list that a script
 * extends with new events; the list has all up to this seq. `address` is that of the answer; empty for the page's own.
 */
function eventsTable(
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

/** `/stream`: the newest events. A script adds new ones as they are published. */
export const streamPage: Page<null> = {
  endpoint: null,
  path: '/stream',
  // With `after` the reader wants a page of events.
  parameters: [...FILTERS, { name: 'after', ...AFTER }],
  redirect: ({ query }) => Promise.resolve(query.has('after') ? `/events${query.format()}` : null),
  live: true,
  title: (_, { query }) => `${eventsTitle(query.list('type'))}, live`,
  description: () => 'The newest events of the log, and each new event when it is published.',
  async render(_, view) {
    const filters = view.query.format()
    const newest = `order=desc&limit=${EVENTS_SHOWN}&details=1`
    const query = filters === '' ? newest : `${filters.slice(1)}&${newest}`
    const asked = await askEndpoint(view, 'events', { query })
    const { events, page } = asked.answer
    const older = `${filters === '' ? '?' : `${filters}&`}order=desc&before=${page.scannedTo}&limit=${EVENTS_SHOWN}`
    const api = `/api/v1/stream${filters}`
    return html`<nav aria-label="Order of events" data-chrome>
        <ul class="tabs">
          <li><a href="/events${filters === '' ? '?' : `${filters}&`}order=desc">Newest first</a></li>
          <li><a href="/events${filters}">Oldest first</a></li>
          <li><a href="/stream${filters}" aria-current="page">Live</a></li>
        </ul>
      </nav>
      ${eventsForm(view, null)}
      <noscript
        ><p class="quiet"><a href="/stream${filters}">Reload for newer events</a>.</p></noscript
      >
      ${events.length === 0 ? noEvents(page, `${asked.address}#`, view) : eventsTable(events, view, asked, { upTo: (page.before ?? 1) - 1, address: asked.address })}
      ${events.length === 0 ? null : rangeNote(asked.answer, view, asked.address)}
      <nav aria-label="Older events" class="pager" data-chrome>
        ${page.hasMore ? html`<a href="/events${older}">Older: before #${page.scannedTo}</a>` : null}
      </nav>
      ${jsonLinks([['the newest events', asked]])}
      <section class="source" aria-label="The stream for programs" data-chrome>
        <p>
          The stream itself: <code>curl -N '${api}'</code> ${copyButton('Copy curl', { curl: api })}. Add
          <code>-H 'Accept: application/x-ndjson'</code> for JSON lines.
        </p>
      </section>`
  },
}
