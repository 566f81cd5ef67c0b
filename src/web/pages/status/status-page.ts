import type { Status } from '../../../protocol/resources.ts'
import { countHtml, eventLink } from '../../markup/amount-html.ts'
import type { Html, Part } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { momentOf, momentOrNone } from '../../markup/moment-html.ts'
import type { EndpointPage } from '../../frame/page.ts'
import type { AnswerTable } from '../../../serve/http/csv.ts'

/** `/status`: whether this server is up to date with its log, and its version and identity. */
export const statusPage: EndpointPage<'status'> = {
  endpoint: 'status',
  linksFeed: true,
  title: () => 'Status',
  csv: tableOf,
  render: (status, { paths }) =>
    html`${verdictOf(status)} ${fieldsOf(status)}
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
    return html`<p class="lead" data-at="/following/behind">
      This node is <b>${countHtml(following.behind)} events behind</b> the log that it follows.
    </p>`
  }
  if (head.at === null) return html`<p class="lead"><b>Up to date.</b> No event has been published yet.</p>`
  return html`<p class="lead" data-at="/head/seq /head/at">
    <b>Up to date.</b> The newest event is ${eventLink(head.seq)}, published ${momentOf(head.at)}<span
      data-relative="${head.at}"
    ></span
    >.
  </p>`
}

function fieldsOf(status: Status): Html {
  const { head, now, following, version, origin, log, chain, simulated } = status
  const fields: readonly (readonly [name: string, value: Part, pointer?: string])[] = [
    [
      'Newest event',
      head.seq === 0 ? html`<span class="none">none yet</span>` : eventLink(head.seq),
      '/head/seq?',
    ],
    ['Published', momentOrNone(head.at), '/head/at'],
    ['Answered in minute', momentOf(now.at), '/now/at'],
    [
      'Event’s age then, ms',
      head.ageMs === null ? html`<span class="none">none yet</span>` : countHtml(head.ageMs),
      '/head/ageMs',
    ],
    ['This node', following.state === 'leader' ? 'holds the log' : 'follows the log'],
    ['Behind, events', countHtml(following.behind), '/following/behind'],
    ['Version', version, '/version'],
    ['Name of the log', html`<code>${origin}</code>`, '/origin'],
    ['Id of the log', html`<code class="id">${log}</code>`, '/log'],
    ['Transactions are of', chain, '/chain'],
    ['Simulated', simulated ? 'yes: no event here is of real money' : 'no'],
  ]
  return html`<dl class="fields">
    ${fields.map(
      ([name, value, pointer]) =>
        html`<dt>${name}</dt>
          ${pointer === undefined ? html`<dd>${value}</dd>` : html`<dd data-at="${pointer}">${value}</dd>`}`,
    )}
  </dl>`
}

function tableOf({
  asOf,
  now,
  head,
  version,
  log,
  origin,
  chain,
  simulated,
  following,
}: Status): AnswerTable {
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
