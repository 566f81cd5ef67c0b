import { nounOf } from '../../../protocol/amount.ts'
import type { EventWire } from '../../../protocol/event.ts'
import type { EventsPage } from '../../../protocol/endpoints/event-endpoints.ts'
import { derived, minus } from '../../markup/derived.ts'
import { askDetails } from './event-note.ts'
import { rangeNote } from './events-shown.ts'
import { typeNames } from './event-names.ts'
import { eventsForm } from './events-form.ts'
import { eventsPageRows } from '../../../serve/api/answer-tables.ts'
import { EVENTS_SHOWN, eventsTable } from './events-table.ts'
import { jsonLinks } from '../../frame/linked-answers.ts'
import { countHtml } from '../../markup/amount-html.ts'
import { type Html, html } from '../../markup/html.ts'
import { momentText } from '../../markup/moment-html.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { NOT_FINAL } from './transaction-route.ts'

/** `/events`: the log in pages, with filters. */
export const eventsPage: EndpointPage<'events'> = {
  endpoint: 'events',
  asksMore: true,
  linksFeed: true,
  title: (_, { query }) => eventsTitle(query.list('type')),
  description: ({ events }) => previewText(events.slice(0, EVENTS_SHOWN)),
  wholeCsv: true,
  csv: eventsPageRows,
  async render(answer, view) {
    const { events, page } = answer
    const shown = events.slice(0, EVENTS_SHOWN)
    return html`${endLinks(view)} ${eventsForm(view, true)}
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

export function eventsTitle(types: readonly string[] | undefined): string {
  return types === undefined ? 'Events' : typeNames(types)
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
const hasStream = ({ paths, query }: View): boolean => paths.has('/stream') && !query.has('tx')

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

/** Text of an empty list: the searched range and its end. `from` is the address of an answer other than the page's own. */
export function noEvents(page: EventsPage['page'], from: string, { query }: View): Html {
  const types = query.list('type')
  const what = types === undefined ? 'event' : types.join(' or ')
  const matching = ['kind', 'contestId', 'nonzero', 'tx', 'from', 'to'].some((name) => query.has(name))
  const [first, last] =
    page.before === undefined
      ? ([
          { pointer: `${from}/page/scannedTo`, figure: page.scannedTo },
          { pointer: `${from}/page/after`, figure: page.after ?? 0 },
        ] as const)
      : ([
          { pointer: `${from}/page/before`, figure: page.before },
          { pointer: `${from}/page/scannedTo`, figure: page.scannedTo },
        ] as const)
  const chosen = `No ${what}${matching ? ' that matches' : ''}`
  if (last.figure === first.figure && !query.has('tx')) {
    return html`<p class="lead">${chosen}: there is no event in this range.</p>
      <p>${endOfRange(page, query)}</p>`
  }
  // The index of transactions does not scan every event, and an unfinished transaction needs an explanation.
  const [scanned, why] = query.has('tx')
    ? [null, html`<p>${NOT_FINAL}</p>`]
    : [html` (${derived(minus(first, last))} ${nounOf(first.figure - last.figure, 'event')} scanned)`, null]
  return html`<p class="lead" data-at="${last.pointer} ${first.pointer}">
      ${chosen} between events ${countHtml(last.figure)} and ${countHtml(first.figure)}${scanned}.
    </p>
    ${why}
    <p>${endOfRange(page, query)}</p>`
}

/** Says whether the log or the query's own bound ends the range. */
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
  // The next page starts after the last shown row, or after the end of the answer if all of it is shown.
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
