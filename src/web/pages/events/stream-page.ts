import { AFTER, FILTERS } from '../../../protocol/endpoints/endpoint-parameters.ts'
import { rangeNote } from './events-shown.ts'
import { eventsForm } from './events-form.ts'
import { noEvents, eventsTitle } from './events-page.ts'
import { EVENTS_SHOWN, eventsTable } from './events-table.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import { html } from '../../markup/html.ts'
import type { Page } from '../../frame/page.ts'
import { copyButton } from '../../frame/view-bar.ts'

/** `/stream`: the newest events, and with a script also new ones as they are published. */
export const streamPage: Page<null> = {
  endpoint: null,
  linksFeed: true,
  path: '/stream',
  // With `after` the reader wants a page of events.
  parameters: [...FILTERS, { name: 'after', ...AFTER }],
  redirect: ({ query }) => Promise.resolve(query.has('after') ? `/events${query.format()}` : null),
  asksMore: true,
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
      ${eventsForm(view, false)}
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
