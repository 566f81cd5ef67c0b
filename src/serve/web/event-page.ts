import type { EventWire } from '../../protocol/event.ts'
import type { EventDetails } from '../../protocol/resources.ts'
import { assert } from '../../protocol/brand.ts'
import { amount, eventLink } from './amount.ts'
import type { Html, Part } from './html.ts'
import { html } from './html.ts'
import { momentOf } from './moment.ts'
import type { Page, View } from './page.ts'
import type { Table } from './table.ts'
import { copyButton } from './view-bar.ts'

const COLUMNS = ['seq', 'type', 'kind', 'at', 'atMs', 'contestId', 'kots', 'tx'] as const

/** `/events/{seq}`: one event, as it stands in the log for ever. */
export const eventPage: Page<EventWire> = {
  endpoint: 'event',
  further: true,
  title: ({ seq }) => `Event #${seq}`,
  csv: tableOf,
  async render(event, view) {
    const asked = await view.ask('eventDetails', { segments: { seq: String(event.seq) } })
    assert(asked.ok, 'an event that is there has details or none')
    const details: EventDetails = JSON.parse(asked.value.json)
    return html`<p class="lead">${sentenceOf(event, view)}</p>
      ${fieldsOf(event, view)} ${detailsOf(details, asked.value.address)} ${waysOn(event, view)}`
  },
}

function sentenceOf({ type, kind, contestId, kots, at }: EventWire, { site, paths }: View): Html {
  const contest = contestId === null ? null : html` of ${contestLink(contestId, paths)}`
  const moved = kots === null ? null : html`: ${amount(kots)} ${site.token}`
  return html`<b>${type} / ${kind}</b>${contest}${moved}, published ${momentOf(at)}.`
}

function contestLink(id: number, paths: ReadonlySet<string>): Html {
  const name = `contest ${id}`
  return paths.has('/contests/{id}/ledger')
    ? html`<a href="/contests/${id}/ledger">${name}</a>`
    : html`${name}`
}

/** The eight fields under their own names. */
function fieldsOf(event: EventWire, view: View): Html {
  const { seq, type, kind, at, atMs, contestId, kots, tx } = event
  const fields: readonly (readonly [name: string, value: Part])[] = [
    ['seq', seq],
    ['type', type],
    ['kind', kind],
    ['at', html`<time datetime="${at}" data-form="exact">${at}</time>`],
    ['atMs', atMs],
    ['contestId', contestId],
    ['kots', kots === null ? null : amount(kots)],
    ['tx', tx === null ? null : html`<code class="id">${tx}</code> ${copyButton('Copy', { text: tx })}`],
  ]
  return html`<h2>Its eight fields</h2>
    <dl class="fields">
      ${fields.map(
        ([name, value]) =>
          html`<dt><code>${name}</code></dt>
            <dd>${value ?? html`<span class="none">null</span>`}</dd>`,
      )}
    </dl>
    ${tx === null ? null : explorersOf(tx, view)}`
}

function explorersOf(tx: string, { site }: View): Html | null {
  if (site.explorers.length === 0) return null
  const links = site.explorers.map((template) => {
    const href = template.replace('{tx}', encodeURIComponent(tx))
    return html`<li><a rel="noreferrer" href="${href}">${new URL(href).host}</a></li>`
  })
  return html`<p>See the transaction for yourself; these sites are not ours:</p>
    <ul>
      ${links}
    </ul>`
}

/** Details that name another event. */
const POINTERS: ReadonlySet<string> = new Set(['corrects', 'restates'])

function detailsOf({ details }: EventDetails, address: string): Html {
  if (details === null) return html`<p class="quiet">This event has no details.</p>`
  return html`<h2>Details</h2>
    <dl class="fields">
      ${Object.entries(details).map(
        ([name, value]) =>
          html`<dt><code>${name}</code></dt>
            <dd>${POINTERS.has(name) ? eventLink(Number(value)) : String(value)}</dd>`,
      )}
    </dl>
    <p><a data-json href="${address}">JSON of the details</a></p>`
}

function waysOn({ seq }: EventWire, { paths }: View): Html {
  return html`<nav aria-label="Neighbours" class="pager" data-chrome>
    ${seq > 1 ? html`<a rel="prev" href="/events/${seq - 1}">Event #${seq - 1}</a>` : null}
    <a rel="next" href="/events/${seq + 1}">Event #${seq + 1}</a>
    ${paths.has('/verify') ? html`<a class="button" href="/verify?seq=${seq}">Verify this event</a>` : null}
  </nav>`
}

function tableOf(event: EventWire): Table {
  return { columns: COLUMNS, rows: [COLUMNS.map((name) => event[name])], next: null }
}
