import type { Parameter } from '../../protocol/parameters.ts'
import { DAY_MS, parseMonth, parseQueryTime } from '../../protocol/moment.ts'
import { further, jsonLine } from '../frame/further.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'
import type { Page, View } from '../frame/page.ts'
import { NOT_FINAL, placeOfTx } from './events/transaction-route.ts'

/** Longer than any number or moment, and than the address of a transaction at an explorer. */
export const SOUGHT_CHARS_MAX = 300

const SOUGHT: Parameter = {
  name: 'q',
  form: { is: 'text', charsMax: SOUGHT_CHARS_MAX, guarded: false },
  absent: 'nothing',
  meaning: 'The number of an event or of a contest, a day, a month or a transaction',
  example: '42',
}

/** `/find`: leads from a number, a day or a transaction to its page. */
export const findPage: Page<null> = {
  endpoint: null,
  path: '/find',
  parameters: [SOUGHT],
  further: true,
  title: () => 'Find',
  description: (_, view) =>
    soughtIn(view) === ''
      ? 'Leads from the number of an event or of a contest, a day, a month or a transaction to its page.'
      : null,
  permalink: () => '/find',
  canonical: '/find',
  async elsewhere(view) {
    const { places } = await lookFor(soughtIn(view), view)
    const [only, ...others] = places
    return only === undefined || others.length > 0 ? null : only.href
  },
  async render(_, view) {
    const sought = soughtIn(view)
    const found = await lookFor(sought, view)
    const status = await further(view, 'status')
    const { seq } = status.answer.head
    return html`${formOf(sought)} ${sought === '' ? null : foundOf(found, sought)}
      <p data-at="${status.address}#/head/seq?">
        The newest event is ${seq === 0 ? 'still to come' : html`<a href="/events/${seq}">#${seq}</a>`}.
      </p>
      ${HOW} ${jsonLine([['the newest event’s number', status]])}`
  },
}

/** A page that was looked for. */
type Place = Readonly<{ href: string; name: string }>

/** All that a text may mean here, and whether a transaction may be written so. */
type Found = Readonly<{ places: readonly Place[]; isTx: boolean }>

const soughtIn = ({ query }: View): string => (query.word('q') ?? '').trim()

const EVENT = /^(?:#|event\s+#?)(\d{1,16})$/i
const CONTEST = /^(?:c|contest)\s*#?(\d{1,16})$/i
const NUMBER = /^\d{1,16}$/

/** Looks for what a text says, or of an address, an explorer's say, its last part. */
async function lookFor(text: string, view: View): Promise<Found> {
  const sought = text.includes('/') ? (PATH.exec(text)?.[0].split('/').findLast(isSaid) ?? '') : text
  const named = await placeOfTx(sought, view.ask)
  const href = named.ok ? named.value.href : null
  const ofTx = href === null ? [] : [{ href, name: 'What names this transaction' }]
  return { places: [...(await placesOf(sought, view)), ...ofTx], isTx: named.ok }
}

/** An address without its query and its fragment. */
const PATH = /^[^?#]*/
const isSaid = (part: string): boolean => part !== ''

/** What a number or a moment may mean: a bare number may be an event's and a contest's. */
async function placesOf(sought: string, view: View): Promise<readonly Place[]> {
  const event = EVENT.exec(sought)?.[1] ?? NUMBER.exec(sought)?.[0]
  const contest = CONTEST.exec(sought)?.[1] ?? NUMBER.exec(sought)?.[0]
  const found: Place[] = []
  if (event !== undefined && (await view.ask('event', { segments: { seq: event } })).ok) {
    found.push({ href: `/events/${event}`, name: `Event #${event}` })
  }
  if (contest !== undefined && (await view.ask('contest', { segments: { id: contest } })).ok) {
    found.push({ href: `/contests/${contest}/ledger`, name: `Contest ${contest}` })
  }
  if (found.length > 0 || NUMBER.test(sought)) return found
  if (parseMonth(sought) !== undefined) return [{ href: `/archive#${sought}`, name: `The month ${sought}` }]
  const time = parseQueryTime(sought)
  if (!('ms' in time)) return []
  const [from, to] = [time.ms, time.ms + DAY_MS].map((ms) => new Date(ms).toISOString())
  const range = /T/.test(sought) ? `from=${from}` : `from=${from?.slice(0, 10)}&to=${to?.slice(0, 10)}`
  // A day may end after the last moment there is.
  const { ok } = await view.ask('events', { query: `${range}&limit=1` })
  return ok ? [{ href: `/events?${range}&limit=100`, name: 'The events of that time' }] : []
}

function formOf(sought: string): Html {
  return html`<form class="ask" role="search" action="/find" data-chrome>
    <label
      >An event, a contest, a day or a transaction
      <input type="search" name="q" maxlength="${SOUGHT_CHARS_MAX}" value="${sought}"
    /></label>
    <button>Find</button>
  </form>`
}

function foundOf({ places, isTx }: Found, sought: string): Html {
  if (places.length > 0) {
    return html`<nav aria-label="Found" data-chrome>
      <ul>
        ${places.map(({ href, name }) => html`<li><a href="${href}">${name}</a></li>`)}
      </ul>
    </nav>`
  }
  const number = NUMBER.test(sought)
    ? 'No event and no contest has this number.'
    : 'There is nothing by this name.'
  return html`<p class="lead">${number}</p>
    ${isTx ? html`<p>No event names it as its transaction either. ${NOT_FINAL}</p>` : null}`
}

const HOW = html`<section aria-label="What can be found" data-chrome>
  <h2>What can be found</h2>
  <ul>
    <li><code>#1200</code> or <code>event 1200</code>: an event by its number</li>
    <li><code>contest 42</code>: a contest’s ledger</li>
    <li><code>2026-10-03</code>, or with a time <code>2026-10-03T12:00Z</code>: the events from then on</li>
    <li><code>2026-10</code>: that month’s file</li>
    <li>a transaction, or its address at an explorer: the event that names it</li>
  </ul>
</section>`
