import type { EventWire } from '../../protocol/event.ts'
import { amount, eventLink } from './amount.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import { momentOf } from './moment.ts'
import type { View } from './page.ts'
import type { Cell, Table } from './table.ts'

/** Events on a page: more stand behind a link, and all of an answer in its export. */
export const EVENTS_SHOWN = 100

const COLUMNS = ['seq', 'type', 'kind', 'at', 'atMs', 'contestId', 'kots', 'tx'] as const

/** Events as rows in the order given; `live` for a list that the newest events are put into. */
export function eventsTable(events: readonly EventWire[], { site }: View, live = false): Html {
  return html`<div class="wide" role="region" aria-label="Events" tabindex="0">
    <table class="events">
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col">Type / kind</th>
          <th scope="col" class="r">Amount, ${site.token}</th>
          <th scope="col">Published</th>
          <th scope="col" class="fold">Contest</th>
          <th scope="col" class="fold">Transaction</th>
        </tr>
      </thead>
      <tbody ${live ? html`data-live-rows` : null}>
        ${events.map(rowOf)}
      </tbody>
    </table>
  </div>`
}

function rowOf({ seq, type, kind, at, contestId, kots, tx }: EventWire): Html {
  const contest =
    contestId === null ? null : html`<a href="/contests/${contestId}/ledger">Contest ${contestId}</a>`
  return html`<tr>
    <th scope="row">${eventLink(seq)}</th>
    <td>${type} / ${kind}</td>
    <td class="r">${kots === null ? NOTHING : amount(kots)}</td>
    <td>${momentOf(at)}</td>
    <td class="fold">${contest ?? NOTHING}</td>
    <td class="fold">${tx === null ? NOTHING : html`<code class="id cut">${tx}</code>`}</td>
  </tr>`
}

const NOTHING = html`<span class="none">none</span>`

/** The eight fields under their own names. */
export function eventRows(events: readonly EventWire[], next: string | null): Table {
  const rows = events.map((event): readonly Cell[] => COLUMNS.map((name) => event[name]))
  return { columns: COLUMNS, rows, next }
}
