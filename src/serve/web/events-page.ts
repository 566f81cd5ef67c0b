import type { EventsPage } from '../../protocol/resources.ts'
import { assert } from '../../protocol/brand.ts'
import { derived, minus } from './derived.ts'
import { eventsForm } from './events-form.ts'
import { EVENTS_SHOWN, eventRows, eventsTable } from './events-table.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import type { Page, View } from './page.ts'

/** `/events`: the log by pages, filtered. */
export const eventsPage: Page<EventsPage> = {
  endpoint: 'events',
  title: (_, { query }) => eventsTitle(query.list('type')),
  head: (_, { site }) =>
    html`<link
      rel="alternate"
      type="application/atom+xml"
      title="${site.name}: contests, corrections and rewards"
      href="/feed.atom"
    />`,
  csv: ({ events, page }) => eventRows(events, page.next),
  render({ events, page }, view) {
    const shown = events.slice(0, EVENTS_SHOWN)
    return html`${waysIn(view)} ${eventsForm(view, true)}
    ${shown.length === 0 ? emptyOf(page, '', view) : eventsTable(shown, view)}
    ${events.length === 0 ? null : scannedOf(page)}
    ${pager(shown.at(-1)?.seq, shown.length < events.length, page, view)}`
  },
}

export function eventsTitle(types: readonly string[] | undefined): string {
  return types === undefined ? 'Events' : `Events: ${types.join(', ')}`
}

/** The two ends of the log: a reader wants what is new, an auditor what came first. */
function waysIn(view: View): Html {
  const { query, paths } = view
  const newest = { after: undefined, from: undefined, to: undefined, before: undefined }
  const desc = query.format({ ...newest, order: 'desc', limit: String(EVENTS_SHOWN) })
  const asc = query.format({ ...newest, order: undefined, limit: undefined })
  return html`<nav aria-label="Ends of the log" class="pager" data-chrome>
    <a href="/events${desc}">The newest</a> <a href="/events${asc}">From the first event on</a>
    ${paths.has('/stream') ? html`<a href="/stream${filtersOf(view)}">Live</a>` : null}
    ${paths.has('/archive') ? html`<a href="/archive">Whole months as files</a>` : null}
  </nav>`
}

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

/** Between which events this is everything that matches: `after` is left out, the other end is in. */
export function scannedOf(page: EventsPage['page']): Html {
  return page.before === undefined
    ? html`<p class="quiet">
        Every event that matches after ${seqText(page.after)} and up to ${seqText(page.scannedTo)}.
      </p>`
    : html`<p class="quiet">
        Every event that matches from ${seqText(page.scannedTo)} on and before ${seqText(page.before)}.
      </p>`
}

function seqText(seq: number | undefined): Html {
  assert(seq !== undefined, 'a page says where it begins')
  return html`#${seq}`
}

/** Why there is nothing: what was looked through, and where to look on. `from` is the answer's address if not the page's own. */
export function emptyOf(page: EventsPage['page'], from: string, { query }: View): Html {
  const types = query.list('type')
  const what = types === undefined ? 'event' : types.join(' or ')
  const matching = ['kind', 'contestId', 'nonzero', 'from', 'to'].some((name) => query.has(name))
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
  const ends = [last.figure, first.figure]
  return html`<p class="lead">
      No ${what}${matching ? ' that matches' : ''} between #${ends[0] ?? 0} and #${ends[1] ?? 0}
      (${derived(minus(first, last))} events scanned).
    </p>
    <p>
      ${page.hasMore ? 'The log goes on: look further below.' : 'There is no more of the log in this direction.'}
    </p>`
}

/** Older and newer events by seq, in either order, under the same filters. */
function pager(last: number | undefined, cut: boolean, page: EventsPage['page'], view: View): Html {
  const { query, paths } = view
  const limit = String(EVENTS_SHOWN)
  const { before, after = 0 } = page
  // What is not shown of the answer is asked for from the last row shown; else from where the answer ended.
  const onward = cut ? last : page.hasMore ? page.scannedTo : undefined
  const down = { after: undefined, order: 'desc', limit }
  const up = { before: undefined, order: undefined, limit }
  if (before === undefined) {
    // Turning round leaves the end that the range began with.
    const older =
      after > 0 ? query.format({ ...down, from: undefined, before: String(after + 1) }) : undefined
    const newer = onward === undefined ? undefined : query.format({ ...up, after: String(onward) })
    return html`<nav aria-label="Pages of events" class="pager" data-chrome>
      ${older === undefined ? null : html`<a rel="prev" href="/events${older}">Older: up to #${after}</a>`}
      ${newer === undefined ? null : html`<a rel="next" href="/events${newer}">Newer: after #${onward ?? 0}</a>`}
      ${
        newer === undefined && paths.has('/stream')
          ? html`<a class="button" href="/stream${filtersOf(view)}">Go on live</a>`
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
