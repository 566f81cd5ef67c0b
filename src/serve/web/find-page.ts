import type { Parameter } from '../../protocol/parameters.ts'
import { DAY_MS, parseQueryTime } from '../../protocol/moment.ts'
import { further, jsonLine } from './further.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import type { Page, View } from './page.ts'

/** Longer than any number, moment or transaction's id. */
const SOUGHT_CHARS_MAX = 200

const SOUGHT: Parameter = {
  name: 'q',
  form: { is: 'text', charsMax: SOUGHT_CHARS_MAX },
  absent: 'nothing',
  meaning: 'The number of an event or of a contest, a day or a month',
  example: '42',
}

/** `/find`: leads from a number or a day to its page. */
export const findPage: Page<null> = {
  endpoint: null,
  path: '/find',
  parameters: [SOUGHT],
  further: true,
  title: () => 'Find',
  permalink: () => '/find',
  async elsewhere(view) {
    const [only, ...others] = await placesOf(soughtIn(view), view)
    return only === undefined || others.length > 0 ? null : only.href
  },
  async render(_, view) {
    const sought = soughtIn(view)
    const places = await placesOf(sought, view)
    const status = await further(view, 'status')
    const { seq } = status.answer.head
    return html`${formOf(sought)} ${sought === '' ? null : foundOf(places, sought)}
      <p>The newest event is ${seq === 0 ? 'still to come' : html`<a href="/events/${seq}">#${seq}</a>`}.</p>
      ${HOW} ${jsonLine([['the newest event’s number', status]])}`
  },
}

/** A page that was looked for. */
type Place = Readonly<{ href: string; name: string }>

const soughtIn = ({ query }: View): string => (query.word('q') ?? '').trim()

const EVENT = /^(?:#|event\s+#?)(\d{1,16})$/i
const CONTEST = /^(?:c|contest)\s*#?(\d{1,16})$/i
const NUMBER = /^\d{1,16}$/
const MONTH = /^\d{4}-\d{2}$/

/** All that a text may mean here: a bare number may be an event's and a contest's. */
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
  if (MONTH.test(sought)) return [{ href: `/archive#${sought}`, name: `The month ${sought}` }]
  const time = parseQueryTime(sought)
  if (!('ms' in time)) return []
  const [from, to] = [time.ms, time.ms + DAY_MS].map((ms) => new Date(ms).toISOString())
  const range = /T/.test(sought) ? `from=${from}` : `from=${from?.slice(0, 10)}&to=${to?.slice(0, 10)}`
  return [{ href: `/events?${range}&limit=100`, name: 'The events of that time' }]
}

function formOf(sought: string): Html {
  return html`<form class="ask" role="search" action="/find" data-chrome>
    <label
      >An event, a contest or a day
      <input type="search" name="q" maxlength="${SOUGHT_CHARS_MAX}" value="${sought}"
    /></label>
    <button>Find</button>
  </form>`
}

function foundOf(places: readonly Place[], sought: string): Html {
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
  return html`<p class="lead">${number}</p>`
}

const HOW = html`<section aria-label="What can be found" data-chrome>
  <h2>What can be found</h2>
  <ul>
    <li><code>#1200</code> or <code>event 1200</code>: an event by its number</li>
    <li><code>contest 42</code>: a contest’s ledger</li>
    <li><code>2026-10-03</code>, or with a time <code>2026-10-03T12:00Z</code>: the events from then on</li>
    <li><code>2026-10</code>: that month’s file</li>
  </ul>
  <p>
    Transactions cannot be looked up here. Each is in the line of its event, in the file of its month:
    <code>zgrep -F TRANSACTION 2026-10.jsonl.gz</code> finds it in a file of the
    <a href="/archive">archive</a>.
  </p>
</section>`
