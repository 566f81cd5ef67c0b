import { nounOf } from '../../../protocol/amount.ts'
import { witnessFact } from './witness-line.ts'
import { askEndpoint } from '../../frame/linked-answers.ts'
import { MINUTE_MS, SECOND_MS } from '../../../protocol/moment.ts'
import type { Mirror, Status } from '../../../protocol/endpoints/description-endpoints.ts'
import { countHtml, eventLink } from '../../markup/amount-html.ts'
import { facts, sectionHead } from '../../markup/book.ts'
import { type Html, html, type Part } from '../../markup/html.ts'
import { clockMoment, untilMoment } from '../../markup/moment-html.ts'
import { asOfWords, lostWords, waitWords } from '../../frame/mirror-line.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import type { AnswerTable } from '../../../serve/http/csv.ts'
import { expressed } from '../../markup/derived.ts'

/** `/status`: whether this server is up to date with its log, its version and its identity. */
export const statusPage: EndpointPage<'status'> = {
  endpoint: 'status',
  title: () => 'Status',
  description: () => 'Whether this server is up to date with its log, what waits, and its version.',
  csv: tableOf,
  heading: verdictOf,
  async render(status, view) {
    const witnesses = witnessFact(await askEndpoint(view, 'logWitnesses'), status.head.seq, view)
    return html`${waitingOf(status, view)}
      <div class="two">
        <section>${factsOf(status, witnesses, view)} ${mirrorOf(status, view)}</section>
        ${asideOf(status)}
      </div>`
  },
}

function verdictOf({ head, following, mirror }: Status, view: View): Html {
  if (mirror?.state === 'stopped') {
    return html`<h1 data-at="/mirror/state">Stopped</h1>
      <p class="lead" data-at="/mirror/contradiction">
        The origin of this mirror contradicts what it signed: ${mirror.contradiction}. This mirror shows what
        was proved before, and has stopped following.
      </p>`
  }
  if (mirror?.state === 'waiting') {
    const { title, sentence } = waitWords(mirror)
    return html`<h1 data-at="/mirror/state">${title}</h1>
      <p class="lead">This is a mirror. ${sentence} ${asOfWords(mirror)}</p>`
  }
  const lost = mirror === null ? null : lostWords(mirror)
  if (lost !== null) {
    return html`<h1 data-at="/mirror/upstream">The origin is behind</h1>
      <p class="lead">This is a mirror. ${lost}</p>`
  }
  if (following.behind > 0) {
    return html`<h1 data-at="/following/behind">
      ${countHtml(following.behind)} ${nounOf(following.behind, 'event')} behind the log
    </h1>`
  }
  if (head.at === null) {
    return html`<h1>Up to date</h1>
      <p class="lead">No event has been published yet.</p>`
  }
  return html`<h1>Up to date</h1>
    <p class="lead" data-at="/head/seq /head/at /head/at">
      The newest event is ${eventLink(head.seq)}, published
      ${clockMoment(head.at, view)}${
        Date.parse(head.at) < view.now - MINUTE_MS ? html`, ${untilMoment(head.at, view)}` : null
      }.
    </p>`
}

/** Facts about a mirror and its origin. */
function mirrorOf({ mirror }: Status, view: View): Html | null {
  if (mirror === null) return null
  const at = (name: string, value: Part): Html => html`<span data-at="/mirror/${name}">${value}</span>`
  const moment = (name: 'provedAt' | 'contactAt'): Part => {
    const value = mirror[name]
    return value === null ? 'not yet' : at(name, clockMoment(value, view))
  }
  const who = mirror.keysFrom === 'operator' ? 'the operator of this mirror' : 'the log, at the first use'
  return html`<h2>This mirror</h2>
    ${facts([
      ['Follows', at('of', html`<a href="${mirror.of}/status">${mirror.of}</a>`)],
      ['State', at('state', mirror.state)],
      ...(mirror.reason === null ? [] : [['It waits, because', at('reason', WAITS[mirror.reason])] as const]),
      ...mirror.upstream.map(
        ({ of, state }, index) =>
          [index === 0 ? 'The origin follows' : 'which follows', upstreamAt(index, of, state)] as const,
      ),
      ['Events not proved yet', at('behindEvents', countHtml(mirror.behindEvents))],
      ['Late by at most, ms', at('behindMs', countHtml(mirror.behindMs))],
      ['The log was last proved', moment('provedAt')],
      ['The origin last answered', moment('contactAt')],
      ['Its keys were named by', who],
      ...(mirror.contradiction === null
        ? []
        : [['It has stopped, because', at('contradiction', mirror.contradiction)] as const]),
    ])}`
}

/** Reasons of a mirror that waits, in words. */
const WAITS: Readonly<Record<NonNullable<Mirror['reason']>, string>> = {
  starting: 'its origin has shown nothing since its start',
  unreachable: 'its origin does not answer',
  unusable: 'the answers of its origin cannot be used',
  version: 'its origin has events that need a newer Daybook',
  disk: 'its disk is full',
}

function upstreamAt(index: number, of: string, state: string): Html {
  const at = `/mirror/upstream/${index}`
  return html`<span data-at="${at}/of">${of}</span> (<span data-at="${at}/state">${state}</span>)`
}

function asideOf({ mirror }: Status): Html {
  const arrival =
    mirror === null
      ? 'an event is here as soon as it is acknowledged'
      : 'an event is here when its origin has signed it and this mirror has proved it'
  return html`<aside>
    <h2>Check it</h2>
    <ul class="links">
      <li><a href="/verify">Check the signed log for yourself</a></li>
      <li><a href="/api/v1/log/checkpoint">The signed checkpoint</a></li>
      <li><a href="/api/v1/log/keys">The keys that sign it</a></li>
    </ul>
    <h2>What the age says</h2>
    <p class="quiet">
      The age of the newest event says when the platform last published, not how late this service is:
      ${arrival}.
    </p>
    <p class="quiet">
      The numbers of payments that wait can change without an event: this page checks them every minute.
    </p>
  </aside>`
}

/** Sentence about drafts that wait for the blockchain. */
function waitingOf({ finality, mirror }: Status, view: View): Html {
  const { asked, held, oldestAt } = finality
  // A mirror reports its origin's state.
  const service = mirror === null ? 'This service' : 'The origin'
  const who = asked
    ? `${service} publishes a payment when the blockchain says that it is final.`
    : `${service} does not ask the blockchain: the operator vouches that each payment was final.`
  const whose = mirror === null ? null : ' This is the word of the origin, which no proof covers.'
  if (held === 0 || oldestAt === null) return html`<p class="waits">${who} None waits now.${whose}</p>`
  const what =
    held === 1
      ? html`${countHtml(held)} payment waits for the blockchain`
      : html`${countHtml(held)} payments wait for the blockchain, with the events that depend on them`
  return html`<p class="waits" data-at="/finality/held? /finality/oldestAt">
    ${who} ${what}, ${held === 1 ? null : 'the oldest '}since ${clockMoment(oldestAt, view)}.${whose}
  </p>`
}

/** Task of a node, in words. */
function roleOf({ following }: Status): string {
  return following.state === 'leader' ? 'writer' : 'follower'
}

function factsOf(status: Status, witnesses: Html | null, view: View): Html {
  const { head, now, following, version, origin, log, chain, simulated, finality } = status
  const at = (pointer: string, value: Part): Html => html`<span data-at="${pointer}">${value}</span>`
  const moment = (value: string): Html => clockMoment(value, view)
  const payments: readonly (readonly [name: string, key: 'refused' | 'failed' | 'dropped' | 'vouched'])[] = [
    ['Final, but refused', 'refused'],
    ['Failed on the blockchain', 'failed'],
    ['Given up by the operator', 'dropped'],
    ['Published on the operator’s word', 'vouched'],
  ]
  return html`${sectionHead('The log')}
    ${facts([
      ['Answered at', at('/now/at', moment(now.at))],
      [
        'Age of newest event',
        head.ageMs === null
          ? 'none yet'
          : html`${expressed('seconds /head/ageMs', String(Math.floor(head.ageMs / SECOND_MS)))} s`,
      ],
      ['Role', roleOf(status)],
      ['Events behind', at('/following/behind', countHtml(following.behind))],
      ...(witnesses === null ? [] : [['Witnesses', witnesses] as const]),
      ['Name of the log', at('/origin', html`<code>${origin}</code>`)],
      ['Id of the log', at('/log', html`<code class="id">${log}</code>`)],
      ['Version of the service', at('/version', version)],
      ['Simulated', simulated ? 'yes: no real money is involved' : 'no'],
    ])}
    <h2>Payments and the blockchain</h2>
    ${facts([
      ['Transactions are of', at('/chain', chain)],
      ['Finality checked by', finality.asked ? 'the blockchain' : 'the operator'],
      ['Payments that wait for it', at('/finality/held', countHtml(finality.held))],
      [
        'The oldest waits since',
        finality.oldestAt === null ? 'none waits' : at('/finality/oldestAt', moment(finality.oldestAt)),
      ],
      ...payments.map(([name, key]) => [name, at(`/finality/${key}`, countHtml(finality[key]))] as const),
    ])}`
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
  ['mirror.of', ({ mirror }) => mirror?.of ?? null],
  ['mirror.state', ({ mirror }) => mirror?.state ?? null],
  ['mirror.reason', ({ mirror }) => mirror?.reason ?? null],
  ['mirror.behindEvents', ({ mirror }) => mirror?.behindEvents ?? null],
  ['mirror.behindMs', ({ mirror }) => mirror?.behindMs ?? null],
  ['mirror.provedAt', ({ mirror }) => mirror?.provedAt ?? null],
  ['mirror.provedAtMs', ({ mirror }) => mirror?.provedAtMs ?? null],
]

function tableOf(status: Status): AnswerTable {
  return {
    columns: COLUMNS.map(([name]) => name),
    rows: [COLUMNS.map(([, valueOf]) => valueOf(status))],
    next: null,
  }
}
