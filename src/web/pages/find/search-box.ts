import { removeDirection } from '../../../protocol/foreign-text.ts'
import type { Contests } from '../../../protocol/endpoints/contest-endpoints.ts'
import { askEndpoint } from '../../frame/linked-answers.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { type Html, html } from '../../markup/html.ts'

/** Maximum characters of a query. A transaction's URL at an explorer fits. */
export const QUERY_CHARS_MAX = 300

/** Newest contests whose titles a search box suggests. */
const SUGGESTED = 30

/** Requests the contests whose titles a search box suggests. */
export function askSuggested(view: View): Promise<LinkedAnswer<Contests>> {
  return askEndpoint(view, 'contests', { query: `limit=${SUGGESTED}` })
}

/** Search box of a page. The browser suggests titles, without a script. */
export function searchBox({ contests }: Contests, query = ''): Html {
  const titles = new Set(contests.flatMap(({ title }) => (title === null ? [] : [title])))
  return html`<form class="find" role="search" action="/find" data-chrome>
    <input
      type="search"
      name="q"
      maxlength="${QUERY_CHARS_MAX}"
      list="titles"
      aria-label="Find a contest, an event, a day or a transaction"
      placeholder="Contest, event or day"
      value="${query}"
    />
    <datalist id="titles">
      ${[...titles].map((title) => html`<option value="${removeDirection(title)}"></option>`)}
    </datalist>
    <button>Find</button>
  </form>`
}
