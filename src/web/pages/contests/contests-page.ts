import { answerTable } from '../../../serve/api/answer-tables.ts'
import { SEARCH_CHARS_MAX, TOP_ROWS_MAX } from '../../../protocol/parameters.ts'
import {
  CONTEST_OUTCOMES,
  CONTEST_SORTS,
  CONTEST_STATUSES,
  type ContestOutcome,
  type ContestSort,
  type ContestStatus,
} from '../../../protocol/enumerations.ts'
import type { Contests } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { Summary } from '../../../protocol/endpoints/figure-endpoints.ts'
import { contestName } from '../../markup/contest-name.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import { type Html, html } from '../../markup/html.ts'
import { contestState, stateWords } from '../../markup/kind-words.ts'
import { capitalized } from '../../markup/prose.ts'
import type { EndpointPage, LinkedAnswer, View } from '../../frame/page.ts'
import { contestsOverview, foundTable } from './contests-overview.ts'
import { derived, derivedSum } from '../../markup/derived.ts'

/** Rows of one list. A link leads to more; the export has all. */
const ROWS_SHOWN = 20

const TOP_SORTS: ReadonlySet<string> = new Set<ContestSort>(['pool', 'prizesNotRedeemed'])

/**
 * Rows to show for a query. An order by amount has no further page, so all its rows are shown. The overview requests
 * its own lists.
 */
function rowsShown(query: View['query']): number {
  if (!isOneList(query)) return 1
  return TOP_SORTS.has(query.word('sort') ?? '') ? TOP_ROWS_MAX : ROWS_SHOWN
}

/** `/contests`: running, paying, upcoming and settled contests; or one list by state, search or order. */
export const contestsPage: EndpointPage<'contests'> = {
  endpoint: 'contests',
  rowsMax: rowsShown,
  title: (_, { query }) => titleOf(query),
  description: ({ contests: [first] }, view) =>
    first === undefined
      ? null
      : `${capitalized(SORT_WORDS[sortOf(view)])}: ${contestName(first.id, first.title)}, ${stateWords(contestState(first))}. Each contest with its pool, its entries and how much of its prizes is paid.`,
  csv: (answer) => answerTable('contests', answer),
  async render(answer, view) {
    const summary = await askEndpoint(view, 'summary')
    const controls = contestsControls(summary, view)
    if (answer.contests.length > 0 && !isOneList(view.query)) {
      return html`${controls} ${await contestsOverview(summary, view)} ${OUTCOME_LINKS}`
    }
    return html`${controls} ${oneList(answer, summary, view)}`
  },
}

/** Controls in one row: the states with their numbers, and the search with its order. */
function contestsControls(summary: LinkedAnswer<Summary>, view: View): Html {
  return html`<div class="controls">${tabs(summary, view)} ${search(view)}</div>`
}

function tabs({ answer, address }: LinkedAnswer<Summary>, { query }: View): Html {
  const chosen = query.format(NO_WORDS)
  const links = TABS.map(([tab, status]) => {
    const number = derivedSum(
      (status === undefined ? CONTEST_STATUSES : [status]).map((state) => ({
        pointer: `${address}#/contests/${state}`,
        figure: answer.contests[state],
      })),
    )
    const href = `/contests${query.format({ ...ONE_PAGE, status, outcome: undefined })}`
    const isChosen = query.format({ ...NO_WORDS, status, outcome: undefined }) === chosen
    const present = isChosen ? html` aria-current="page"` : null
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

/** Form that searches the titles and sorts the list. It keeps the chosen states and outcomes. */
function search(view: View): Html {
  const { query } = view
  const chosen = sortOf(view)
  return html`<form
    class="find"
    method="get"
    action="/contests"
    role="search"
    aria-label="Contests"
    data-chrome
  >
    ${['status', 'outcome'].map((name) => {
      const values = query.list(name)?.join(',')
      return values === undefined ? null : html`<input type="hidden" name="${name}" value="${values}" />`
    })}
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

function oneList({ contests, next }: Contests, summary: LinkedAnswer<Summary>, view: View): Html {
  const most = rowsShown(view.query)
  const shown = contests.slice(0, most)
  return html`${shown.length === 0 ? emptyOf(next, view) : foundTable(shown, { list: '/contests', most }, view)}
  ${pager(next, view)} ${jsonLinks([['the numbers of contests', summary]])}`
}

/** Text of an empty list, with links to other contests. The tabs above it have the number of each state. */
function emptyOf(next: string | null, view: View): Html {
  const { query } = view
  const states = statesIn(query)
  const leadText = query.has('q')
    ? next === null
      ? 'No contest in this list has all these words in its title.'
      : 'None of the contests of this part has all these words in its title. Search further below.'
    : query.has('after')
      ? `There is no ${sortOf(view) === 'newest' ? 'older' : 'further'} contest in this list.`
      : states.length === 0
        ? 'There has been no contest yet.'
        : `No contest is ${states.join(' or ')} now.`
  return html`<p class="lead">${leadText}</p>
    <p>See <a href="/contests">all contests</a>, or <a href="/schedule">what is planned</a>.</p>`
}

function pager(next: string | null, view: View): Html | null {
  const { query } = view
  const paged = query.has('after')
  if (!paged && next === null) return null
  const isNewest = sortOf(view) === 'newest'
  const first = query.format({ after: undefined, limit: undefined })
  const onward = next?.replace('/api/v1', '')
  return html`<nav aria-label="Pages of contests" class="pager" data-chrome>
    ${paged ? html`<a class="button" href="/contests${first}">${isNewest ? 'Newest contests' : 'First contests'}</a>` : null}
    ${onward === undefined ? null : html`<a class="button" rel="next" href="${onward}">${isNewest ? 'Older contests' : 'Further contests'}</a>`}
  </nav>`
}

function titleOf(query: View['query']): string {
  const what = query.has('q') ? 'Contests found' : 'Contests'
  const words = statesIn(query)
  return words.length === 0 ? what : `${what}: ${words.join(', ')}`
}

/** States and outcomes that a query asks for, in words. */
function statesIn(query: View['query']): readonly string[] {
  const [states, outcomes] = [query.list('status') ?? [], query.list('outcome') ?? []]
  return [
    ...CONTEST_WORDS.filter(([status]) => states.includes(status)).map(([, words]) => words),
    ...CONTEST_OUTCOMES.filter((one) => outcomes.includes(one)).map((one) => OUTCOME_WORDS[one]),
  ]
}

const OUTCOME_WORDS: Readonly<Record<ContestOutcome, string>> = {
  cancelled: 'cancelled',
  owing: 'settled and owing again',
  lapsed: 'settled with expired prizes',
  paid: 'paid in full',
}

const CONTEST_WORDS = [
  ['upcoming', 'to come'],
  ['running', 'running'],
  ['paying', 'paying'],
  ['paid', 'settled'],
  ['closed', 'closed'],
] as const

/** Orders of the list, as the page names them. */
const SORT_WORDS: Readonly<Record<ContestSort, string>> = {
  newest: 'newest first',
  closesAt: 'soonest to close',
  pool: 'largest pool',
  prizesNotRedeemed: 'most unpaid',
}

/** Order of the list that a query asks for. */
function sortOf({ query }: Pick<View, 'query'>): ContestSort {
  return CONTEST_SORTS.find((sort) => sort === query.word('sort')) ?? 'newest'
}

/** Whether a query asks for one list instead of the overview. */
function isOneList(query: View['query']): boolean {
  return ['status', 'outcome', 'q', 'sort', 'after', 'limit'].some((name) => query.has(name))
}

const TABS: readonly (readonly [tab: string, status: ContestStatus | undefined])[] = [
  ['All', undefined],
  ['Running', 'running'],
  ['Paying', 'paying'],
  ['To come', 'upcoming'],
  ['Settled', 'paid'],
]

/** Links to the outcomes that few contests have. */
const OUTCOME_LINKS: Html = html`<p class="quiet" data-chrome>
  By outcome: <a href="/contests?outcome=cancelled">cancelled</a>,
  <a href="/contests?outcome=lapsed">settled with expired prizes</a>,
  <a href="/contests?outcome=owing">owing again</a>.
</p>`

/** Parameters that do not choose a tab, and those of one page. */
const ONE_PAGE = { after: undefined, limit: undefined }
const NO_WORDS = { ...ONE_PAGE, q: undefined, sort: undefined }
