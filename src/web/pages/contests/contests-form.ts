import { SEARCH_CHARS_MAX } from '../../../protocol/parameters.ts'
import type { ContestSort } from '../../../protocol/resources.ts'
import { CONTEST_SORTS } from '../../../protocol/resources.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import type { View } from '../../frame/page.ts'

/** Orders of the list, as the page names them. */
export const SORT_WORDS: Readonly<Record<ContestSort, string>> = {
  newest: 'Newest first',
  closesAt: 'Soonest to close first',
  pool: 'Largest pool first',
  prizesNotRedeemed: 'Most unpaid prizes first',
}

/** Order of the list that a query asks for. */
export function sortOf({ query }: Pick<View, 'query'>): ContestSort {
  return CONTEST_SORTS.find((sort) => sort === query.word('sort')) ?? 'newest'
}

/** Form that searches the titles and sorts the list. It keeps the chosen states. */
export function contestsForm(view: View): Html {
  const { query } = view
  const status = query.list('status')?.join(',')
  const chosen = sortOf(view)
  const all = query.format({ q: undefined, sort: undefined, after: undefined, limit: undefined })
  return html`<form
    class="ask"
    method="get"
    action="/contests"
    role="search"
    aria-label="Contests"
    data-chrome
  >
    ${status === undefined ? null : html`<input type="hidden" name="status" value="${status}" />`}
    <label
      >Words of the title
      <input
        type="search"
        name="q"
        size="24"
        maxlength="${SEARCH_CHARS_MAX}"
        value="${query.word('q') ?? ''}"
        autocapitalize="none"
    /></label>
    <label
      >Order
      <select name="sort">
        ${CONTEST_SORTS.map(
          (sort) =>
            html`<option value="${sort === 'newest' ? '' : sort}" ${sort === chosen ? html`selected` : null}>
              ${SORT_WORDS[sort]}
            </option>`,
        )}
      </select></label
    >
    <button>Show</button>
    ${query.has('q') || query.has('sort') ? html`<a href="/contests${all}">Without search and order</a>` : null}
  </form>`
}
