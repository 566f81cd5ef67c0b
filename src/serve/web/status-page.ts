import type { Status } from '../../protocol/resources.ts'
import { count, eventLink } from './amount.ts'
import type { Html, Part } from './html.ts'
import { html } from './html.ts'
import { momentOf, momentOrNone } from './moment.ts'
import type { Page } from './page.ts'
import type { Table } from './table.ts'

/** `/status`: whether the service keeps up, and what it is. */
export const statusPage: Page<Status> = {
  endpoint: 'status',
  title: () => 'Status',
  csv: tableOf,
  render: (status, { paths }) =>
    html`<p class="lead">${verdictOf(status)}</p>
      ${fieldsOf(status)}
      <p class="quiet">
        The age of the newest event says when the platform last published, not how late this service is: an
        event is here as soon as it is acknowledged.
      </p>
      <p>
        ${paths.has('/verify') ? html`<a href="/verify">Check the signed log for yourself</a> · ` : null}
        <a href="/api/v1/log/checkpoint">The signed checkpoint</a> ·
        <a href="/api/v1/log/keys">The keys that sign it</a>
      </p>`,
}

function verdictOf({ head, following }: Status): Html {
  if (following.behind > 0) {
    return html`This node is <b>${count(following.behind)} events behind</b> the log that it follows.`
  }
  if (head.at === null) return html`<b>Up to date.</b> No event has been published yet.`
  return html`<b>Up to date.</b> The newest event is ${eventLink(head.seq)}, published
    ${momentOf(head.at)}<span data-relative="${head.at}"></span>.`
}

function fieldsOf(status: Status): Html {
  const { head, now, following, version, origin, log, chain, simulated } = status
  const fields: readonly (readonly [name: string, value: Part])[] = [
    ['Newest event', head.seq === 0 ? html`<span class="none">none yet</span>` : eventLink(head.seq)],
    ['Published', momentOrNone(head.at)],
    ['Its age, ms', head.ageMs === null ? html`<span class="none">none yet</span>` : count(head.ageMs)],
    ['This answer is of', momentOf(now.at)],
    ['This node', following.state === 'leader' ? 'has the log itself' : 'follows the log'],
    ['Behind, events', count(following.behind)],
    ['Version', version],
    ['Name of the log', html`<code>${origin}</code>`],
    ['Id of the log', html`<code class="id">${log}</code>`],
    ['Transactions are of', chain],
    ['Simulated', simulated ? 'yes: no event here is of real money' : 'no'],
  ]
  return html`<dl class="fields">
    ${fields.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`
}

function tableOf({ asOf, now, head, version, log, origin, chain, simulated, following }: Status): Table {
  return {
    columns: [
      'asOf.seq',
      'asOf.at',
      'asOf.atMs',
      'head.ageMs',
      'now.at',
      'now.atMs',
      'version',
      'log',
      'origin',
      'chain',
      'simulated',
      'following.state',
      'following.behind',
    ],
    rows: [
      [
        asOf.seq,
        asOf.at,
        asOf.atMs,
        head.ageMs,
        now.at,
        now.atMs,
        version,
        log,
        origin,
        chain,
        simulated,
        following.state,
        following.behind,
      ],
    ],
    next: null,
  }
}
