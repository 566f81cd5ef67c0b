import type { Finality, Status } from '../../../protocol/resources.ts'
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
    html`${verdictOf(status)} ${waitingOf(status.finality)} ${fieldsOf(status)}
      <p class="quiet">
        The age of the newest event says when the platform last published, not how late this service is: an
        event is here as soon as it is acknowledged. The numbers of waiting payments can change without an
        event: this page looks for them each minute.
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

/** What waits for the blockchain, in a sentence. */
function waitingOf({ asked, held, oldestAt }: Finality): Html {
  const who = asked
    ? 'This service publishes a payment when the blockchain says that it is final.'
    : 'This service does not ask the blockchain: the operator vouches that each payment was final.'
  if (held === 0 || oldestAt === null) return html`<p>${who} None waits now.</p>`
  const what = held === 1 ? 'One waits' : html`${countHtml(held)} wait, with the events that depend on them`
  return html`<p data-at="/finality/held? /finality/oldestAt">
    ${who} ${what}; the oldest since ${momentOf(oldestAt)}<span data-relative="${oldestAt}"></span>.
  </p>`
}

function fieldsOf(status: Status): Html {
  const { head, now, following, version, origin, log, chain, simulated, finality } = status
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
    ['Who says that a payment is final', finality.asked ? 'the blockchain' : 'the operator'],
    ['Payments that wait for the blockchain', countHtml(finality.held), '/finality/held'],
    ['The oldest waits since', momentOrNone(finality.oldestAt), '/finality/oldestAt'],
    ['Final, but refused', countHtml(finality.refused), '/finality/refused'],
    ['Failed on the blockchain', countHtml(finality.failed), '/finality/failed'],
    ['Given up by the operator', countHtml(finality.dropped), '/finality/dropped'],
    ['Published on the operator’s word', countHtml(finality.vouched), '/finality/vouched'],
  ]
  return html`<dl class="fields">
    ${fields.map(
      ([name, value, pointer]) =>
        html`<dt>${name}</dt>
          ${pointer === undefined ? html`<dd>${value}</dd>` : html`<dd data-at="${pointer}">${value}</dd>`}`,
    )}
  </dl>`
}

/** Columns of the CSV, each with its value in the answer. */
const COLUMNS: readonly (readonly [
  name: string,
  value: (status: Status) => string | number | boolean | null,
])[] = [
  ['asOf.seq', ({ asOf }) => asOf.seq],
  ['asOf.at', ({ asOf }) => asOf.at],
  ['asOf.atMs', ({ asOf }) => asOf.atMs],
  ['head.ageMs', ({ head }) => head.ageMs],
  ['now.at', ({ now }) => now.at],
  ['now.atMs', ({ now }) => now.atMs],
  ['version', ({ version }) => version],
  ['log', ({ log }) => log],
  ['origin', ({ origin }) => origin],
  ['chain', ({ chain }) => chain],
  ['simulated', ({ simulated }) => simulated],
  ['following.state', ({ following }) => following.state],
  ['following.behind', ({ following }) => following.behind],
  ['finality.asked', ({ finality }) => finality.asked],
  ['finality.held', ({ finality }) => finality.held],
  ['finality.oldestAt', ({ finality }) => finality.oldestAt],
  ['finality.oldestAtMs', ({ finality }) => finality.oldestAtMs],
  ['finality.refused', ({ finality }) => finality.refused],
  ['finality.failed', ({ finality }) => finality.failed],
  ['finality.dropped', ({ finality }) => finality.dropped],
  ['finality.vouched', ({ finality }) => finality.vouched],
]

function tableOf(status: Status): AnswerTable {
  return {
    columns: COLUMNS.map(([name]) => name),
    rows: [COLUMNS.map(([, valueOf]) => valueOf(status))],
    next: null,
  }
}
