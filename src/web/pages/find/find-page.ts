import type { Parameter } from '../../../protocol/parameters.ts'
import { DAY_MS, parseMonth } from '../../../protocol/moment.ts'
import { parseQueryTime } from '../../../protocol/query-time.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import type { Page, View } from '../../frame/page.ts'
import { NOT_FINAL, findTransaction } from '../events/transaction-route.ts'

/** Maximum characters of a query. A transaction's URL at an explorer fits. */
const QUERY_CHARS_MAX = 300

const QUERY: Parameter = {
  name: 'q',
  form: { is: 'text', charsMax: QUERY_CHARS_MAX, guarded: false },
  absent: 'nothing',
  meaning: 'The number of an event or of a contest, a day, a month or a transaction',
  example: '42',
}

/** `/find`: redirects a number, a day or a transaction to its page. */
export const findPage: Page<null> = {
  endpoint: null,
  path: '/find',
  parameters: [QUERY],
  asksMore: true,
  title: () => 'Find',
  description: (_, view) =>
    queryIn(view) === ''
      ? 'Leads from the number of an event or of a contest, a day, a month or a transaction to its page.'
      : null,
  permalink: () => '/find',
  canonical: '/find',
  async redirect(view) {
    const { matches } = await search(queryIn(view), view)
    const [only, ...others] = matches
    return only === undefined || others.length > 0 ? null : only.href
  },
  async render(_, view) {
    const query = queryIn(view)
    const found = await search(query, view)
    const status = await askEndpoint(view, 'status')
    const { seq } = status.answer.head
    return html`${formOf(query)} ${query === '' ? null : resultOf(found, query)}
      <p data-at="${status.address}#/head/seq?">
        The newest event is ${seq === 0 ? 'still to come' : html`<a href="/events/${seq}">#${seq}</a>`}.
      </p>
      ${EXAMPLES} ${jsonLinks([['the newest event’s number', status]])}`
  },
}

/** Page that a query may mean. */
type Match = Readonly<{ href: string; name: string }>

/** Matches of a query, and whether it has the form of a transaction id. */
type SearchResult = Readonly<{ matches: readonly Match[]; isTx: boolean }>

const queryIn = ({ query }: View): string => (query.word('q') ?? '').trim()

const EVENT = /^(?:#|event\s+#?)(\d{1,16})$/i
const CONTEST = /^(?:c|contest)\s*#?(\d{1,16})$/i
const NUMBER = /^\d{1,16}$/

/** Searches for a text, or for the last path segment of a URL such as an explorer's. */
async function search(text: string, view: View): Promise<SearchResult> {
  const term = text.includes('/')
    ? (PATH.exec(text)?.[0]
        .split('/')
        .findLast((part) => part !== '') ?? '')
    : text
  const named = await findTransaction(term, view.ask)
  const href = named.ok ? named.value.href : null
  const ofTx = href === null ? [] : [{ href, name: 'What names this transaction' }]
  return { matches: [...(await matchesOf(term, view)), ...ofTx], isTx: named.ok }
}

/** A URL without its query and fragment. */
const PATH = /^[^?#]*/

/** Matches of a number, a month or a moment. A bare number may be an event and a contest. */
async function matchesOf(term: string, view: View): Promise<readonly Match[]> {
  const event = EVENT.exec(term)?.[1] ?? NUMBER.exec(term)?.[0]
  const contest = CONTEST.exec(term)?.[1] ?? NUMBER.exec(term)?.[0]
  const found: Match[] = []
  if (event !== undefined && (await view.ask('event', { segments: { seq: event } })).ok) {
    found.push({ href: `/events/${event}`, name: `Event #${event}` })
  }
  if (contest !== undefined && (await view.ask('contest', { segments: { id: contest } })).ok) {
    found.push({ href: `/contests/${contest}/ledger`, name: `Contest ${contest}` })
  }
  if (found.length > 0 || NUMBER.test(term)) return found
  if (parseMonth(term) !== undefined) return [{ href: `/archive#${term}`, name: `The month ${term}` }]
  const time = parseQueryTime(term)
  if (!('ms' in time)) return []
  const [from, to] = [time.ms, time.ms + DAY_MS].map((ms) => new Date(ms).toISOString())
  const range = /T/.test(term) ? `from=${from}` : `from=${from?.slice(0, 10)}&to=${to?.slice(0, 10)}`
  // The last representable day ends after the last representable moment.
  const { ok } = await view.ask('events', { query: `${range}&limit=1` })
  return ok ? [{ href: `/events?${range}&limit=100`, name: 'The events of that time' }] : []
}

function formOf(query: string): Html {
  return html`<form class="ask" role="search" action="/find" data-chrome>
    <label
      >An event, a contest, a day or a transaction
      <input type="search" name="q" maxlength="${QUERY_CHARS_MAX}" value="${query}"
    /></label>
    <button>Find</button>
  </form>`
}

function resultOf({ matches, isTx }: SearchResult, query: string): Html {
  if (matches.length > 0) {
    return html`<nav aria-label="Found" data-chrome>
      <ul>
        ${matches.map(({ href, name }) => html`<li><a href="${href}">${name}</a></li>`)}
      </ul>
    </nav>`
  }
  const number = NUMBER.test(query)
    ? 'No event and no contest has this number.'
    : 'There is nothing by this name.'
  return html`<p class="lead">${number}</p>
    ${isTx ? html`<p>No event names it as its transaction either. ${NOT_FINAL}</p>` : null}`
}

const EXAMPLES = html`<section aria-label="What can be found" data-chrome>
  <h2>What can be found</h2>
  <ul>
    <li><code>#1200</code> or <code>event 1200</code>: an event by its number</li>
    <li><code>contest 42</code>: a contest’s ledger</li>
    <li><code>2026-10-03</code>, or with a time <code>2026-10-03T12:00Z</code>: the events from then on</li>
    <li><code>2026-10</code>: that month’s file</li>
    <li>a transaction, or its address at an explorer: the event that names it</li>
  </ul>
</section>`
