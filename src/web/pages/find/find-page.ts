import type { Parameter } from '../../../protocol/parameters.ts'
import type { Contests } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { Status } from '../../../protocol/endpoints/description-endpoints.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { LinkedAnswer, Page, View } from '../../frame/page.ts'
import { amountHtml, eventLink } from '../../markup/amount-html.ts'
import { quotedText } from '../../markup/contest-name.ts'
import { type Html, html } from '../../markup/html.ts'
import { contestState, stateChip } from '../../markup/kind-words.ts'
import { dayOf, minuteOf, monthHtml, nearMoment } from '../../markup/moment-html.ts'
import { NOT_FINAL } from '../events/transaction-route.ts'
import { isNumber, type Match, onlyMatch, search, type SearchResult } from './find-matches.ts'
import type { NearestTitle } from './nearest-titles.ts'
import { askSuggested, QUERY_CHARS_MAX, searchBox } from './search-box.ts'

const QUERY: Parameter = {
  name: 'q',
  form: { is: 'text', charsMax: QUERY_CHARS_MAX, guarded: false },
  absent: 'nothing',
  meaning:
    'Words of a contest’s title, the number of an event or of a contest, a day, a month or a transaction',
  example: '42',
}

/** `/find`: redirects words, a number, a day or a transaction to its page, or lists what matches. */
export const findPage: Page<null> = {
  endpoint: null,
  path: '/find',
  parameters: [QUERY],
  asksMore: true,
  title: () => 'Find',
  description: () =>
    'Finds a contest by its title, and the page of an event, a contest, a day, a month or a transaction.',
  permalink: () => '/find',
  canonical: '/find',
  async redirect(view) {
    return onlyMatch(await search(queryIn(view), view))
  },
  async render(_, view) {
    const query = queryIn(view)
    const suggested = await askSuggested(view)
    const found = await search(query, view)
    const status = await askEndpoint(view, 'status')
    return html`<div class="two">
        <section>
          ${searchBox(suggested.answer, query)} ${query === '' ? null : resultOf(found, query, status, view)}
        </section>
        ${EXAMPLES}
      </div>
      ${jsonLinks([
        ...found.matches.flatMap((match) => ('found' in match ? [[match.is, match.found] as const] : [])),
        ...(found.titled === null ? [] : [['contests found', found.titled] as const]),
        ...found.nearest.map(({ list }) => ['similar titles', list] as const),
        ['the newest event', status],
        ['suggested titles', suggested],
      ])}`
  },
}

const queryIn = ({ query }: View): string => (query.word('q') ?? '').trim()

function resultOf(
  { matches, titled, nearest, isTx }: SearchResult,
  query: string,
  status: LinkedAnswer<Status>,
  view: View,
): Html {
  if (matches.length === 0 && titled === null)
    return html`${nearest.length === 0 ? null : nearestTitles(nearest)}
    ${nothingFound(isTx, isNumber(query), status)}`
  const choice = html`<div class="found">
    <h2>Which of these?</h2>
    <ul class="next">
      ${matches.map((match) => html`<li>${matchLine(match, view)}</li>`)}
    </ul>
  </div>`
  return html`${matches.length === 0 ? null : choice}
  ${titled === null ? null : contestsFound(titled, query, view)}`
}

/** Contests with a title like the query, in which a letter may be wrong. */
function nearestTitles(nearest: readonly NearestTitle[]): Html {
  return html`<div class="found">
    <h2>Did you mean</h2>
    <ul class="next">
      ${nearest.map(
        ({ list, index, id, title }) =>
          html`<li data-at="${list.address}#/contests/${index}/title ${list.address}#/contests/${index}/id?">
            <a href="/contests/${id}/ledger">${quotedText(title)}</a>
          </li>`,
      )}
    </ul>
  </div>`
}

function matchLine(match: Match, view: View): Html {
  switch (match.is) {
    case 'event': {
      const { address, answer } = match.found
      return html`<a href="${match.href}" data-at="${address}#/seq">Event ${answer.seq}</a>
        <small data-at="${address}#/at">${nearMoment(answer.at, view)}</small>`
    }
    case 'contest': {
      const { address, answer } = match.found
      const { id, title, outcome } = answer
      return html`<a href="${match.href}" data-at="${address}#/id">Contest ${id}</a>
        <small data-at="${address}#/title ${address}#/${outcome === null ? 'status' : 'outcome'}"
          >${title === null ? null : quotedText(title)} ${stateChip(contestState(answer))}</small
        >`
    }
    case 'transaction':
      return html`<a href="${match.href}">The events of this transaction</a>`
    case 'day':
      return html`<a href="${match.href}">The events of ${dayOf(match.at)}</a>`
    case 'moment':
      return html`<a href="${match.href}">The events from ${minuteOf(match.at)} UTC on</a>`
    case 'month':
      return html`<a href="${match.href}">The file of ${monthHtml(match.month)}</a>`
    case 'range':
      return html`<a href="${match.href}">What was spent and paid in this range</a>`
    case 'schedule':
      return html`<a href="${match.href}">${dayOf(match.at)} is to come: what opens and closes next</a>`
  }
}

/** Contests with the words in their titles, the newest first. */
function contestsFound({ answer, address }: LinkedAnswer<Contests>, query: string, view: View): Html {
  const all =
    answer.next === null
      ? null
      : html`<p><a href="/contests?q=${encodeURIComponent(query)}">All contests with these words</a></p>`
  return html`<div class="found">
    <h2>Contests with these words</h2>
    <ol
      class="next"
      data-list="${address}#/contests"
      data-fields="title? id? outcome|status pool closedAt|closesAt"
    >
      ${answer.contests.map(
        ({ id, title, pool, closedAt, closesAt, ...one }) =>
          html`<li>
            <a href="/contests/${id}/ledger">${title === null ? `Contest ${id}` : quotedText(title)}</a>
            ${stateChip(contestState(one))}
            <small>Pool ${amountHtml(pool)} ${view.site.token}</small>
            <small
              >${closedAt === null ? 'closes' : 'closed'} ${nearMoment(closedAt ?? closesAt, view)}</small
            >
          </li>`,
      )}
    </ol>
    ${all}
  </div>`
}

function nothingFound(isTx: boolean, number: boolean, { answer, address }: LinkedAnswer<Status>): Html {
  const { seq } = answer.head
  const why = number
    ? 'No event, contest or title has this number.'
    : 'No contest has these words in its title.'
  return html`<div class="found">
    <h2>Nothing found</h2>
    <p>${why} ${isTx ? html`No event names it as its transaction either. ${NOT_FINAL}` : null}</p>
    <ul>
      <li><a href="/contests">Look through all contests</a></li>
      <li><a href="/events?type=payout&order=desc">Look through the payments</a></li>
      ${
        seq === 0 ? null : html`<li data-at="${address}#/head/seq">The newest event is ${eventLink(seq)}</li>`
      }
    </ul>
  </div>`
}

const EXAMPLES = html`<aside aria-label="What can be found" data-chrome>
  <h2>What can be found</h2>
  <dl class="fields">
    <dt>duel coffee</dt>
    <dd>contests whose titles have words that begin like this</dd>
    <dt>contest 42</dt>
    <dd>a contest by its number</dd>
    <dt>event 1200</dt>
    <dd>an event by its number</dd>
    <dt>3 Oct 2026</dt>
    <dd>the events of a day, also as 2026-10-03 or yesterday; with 12:00 those from that time on</dd>
    <dt>October 2026</dt>
    <dd>the file of a month</dd>
    <dt>a transaction</dt>
    <dd>the events that name it; its URL at an explorer works too</dd>
  </dl>
</aside>`
