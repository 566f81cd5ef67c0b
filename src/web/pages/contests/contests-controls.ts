import { SEARCH_CHARS_MAX } from '../../../protocol/parameters.ts'
import {
  CONTEST_SORTS,
  CONTEST_STATUSES,
  type ContestSort,
  type ContestStatus,
} from '../../../protocol/enumerations.ts'
import type { Summary } from '../../../protocol/endpoints/figure-endpoints.ts'
import { derived, derivedSum } from '../../markup/derived.ts'
import { type Html, html } from '../../markup/html.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'

/** Orders of the list, as the page names them. */
export const SORT_WORDS: Readonly<Record<ContestSort, string>> = {
  newest: 'newest first',
  closesAt: 'soonest to close',
  pool: 'largest pool',
  prizesNotRedeemed: 'most unpaid',
}

/** Order of the list that a query asks for. */
export function sortOf({ query }: Pick<View, 'query'>): ContestSort {
  return CONTEST_SORTS.find((sort) => sort === query.word('sort')) ?? 'newest'
}

/** Whether a query asks for one list, and not for the overview of all. */
export function isOneList(query: View['query']): boolean {
  return ['status', 'q', 'sort', 'after', 'limit'].some((name) => query.has(name))
}

/** Controls in one row: the states with their numbers, and the search with its order. */
export function contestsControls(summary: LinkedAnswer<Summary>, view: View): Html {
  return html`<div class="controls">${tabs(summary, view)} ${search(view)}</div>`
}

const TABS: readonly (readonly [tab: string, status: ContestStatus | undefined])[] = [
  ['All', undefined],
  ['Running', 'running'],
  ['Paying', 'paying'],
  ['To come', 'upcoming'],
  ['Settled', 'paid'],
]

function tabs({ answer, address }: LinkedAnswer<Summary>, { query }: View): Html {
  const chosen = query.list('status')?.join(',')
  const links = TABS.map(([tab, status]) => {
    const number = derivedSum(
      (status === undefined ? CONTEST_STATUSES : [status]).map((state) => ({
        pointer: `${address}#/contests/${state}`,
        figure: answer.contests[state],
      })),
    )
    const href = `/contests${query.format({ status, after: undefined, limit: undefined })}`
    const present = status === chosen ? html` aria-current="page"` : null
    // A search finds fewer contests than a state has.
    const count = number === null || query.has('q') ? null : html` <small>${derived(number)}</small>`
    return html`<li><a href="${href}" ${present}>${tab}${count}</a></li>`
  })
  return html`<nav aria-label="States of contests">
    <ul class="tabs">
      ${links}
    </ul>
  </nav>`
}

/** Form that searches the titles and sorts the list. It keeps the chosen states. */
function search(view: View): Html {
  const { query } = view
  const status = query.list('status')?.join(',')
  const chosen = sortOf(view)
  return html`<form
    class="find"
    method="get"
    action="/contests"
    role="search"
    aria-label="Contests"
    data-chrome
  >
    ${status === undefined ? null : html`<input type="hidden" name="status" value="${status}" />`}
    <input
      type="search"
      name="q"
      maxlength="${SEARCH_CHARS_MAX}"
      value="${query.word('q') ?? ''}"
      aria-label="Words of the title"
      placeholder="Words of the title"
      autocapitalize="none"
    />
    <select name="sort" aria-label="Order">
      ${CONTEST_SORTS.map(
        (sort) =>
          html`<option value="${sort === 'newest' ? '' : sort}" ${sort === chosen ? html`selected` : null}>
            ${SORT_WORDS[sort]}
          </option>`,
      )}
    </select>
    <button>Find</button>
  </form>`
}
