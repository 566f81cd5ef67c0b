import type { ContestSort, ContestStatus, ContestWire, Summary } from '../../../protocol/resources.ts'
import { CONTEST_STATUSES } from '../../../protocol/resources.ts'
import { amountHtml, countHtml } from '../../markup/amount-html.ts'
import { askCancelled } from './contest-timeline.ts'
import { contestLink, contestName, redeemedMeter } from '../../markup/contest-name.ts'
import { derived, derivedSum } from '../../markup/derived.ts'
import type { LinkedAnswer } from '../../frame/linked-answers.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import { contestsForm, SORT_WORDS, sortOf } from './contests-form.ts'
import { TOP_ROWS_MAX } from '../../../protocol/parameters.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { stateChip } from '../../markup/kind-words.ts'
import { momentOf, momentOrNone } from '../../markup/moment-html.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { percentOf } from '../../charts/share.ts'
import { ANSWER_TABLES } from '../../../serve/api/answer-tables.ts'

/** Rows on a page. A link leads to more; the export has all. */
const ROWS_SHOWN = 50

const TOP_SORTS: ReadonlySet<string> = new Set<ContestSort>(['pool', 'prizesNotRedeemed'])

/** Rows of a query. The largest have no further page, so they are all shown. */
function rowsShown(query: View['query']): number {
  return TOP_SORTS.has(query.word('sort') ?? '') ? TOP_ROWS_MAX : ROWS_SHOWN
}

/** `/contests`: all contests, those in a state or those that a search finds, in an order. */
export const contestsPage: EndpointPage<'contests'> = {
  endpoint: 'contests',
  rowsMax: rowsShown,
  asksMore: true,
  title: (_, { query }) => titleOf(query),
  description: ({ contests: [first] }, view) =>
    first === undefined
      ? null
      : `${SORT_WORDS[sortOf(view)]}: ${contestName(first.id, first.title)}, ${first.status}. Each contest with its pool, its entries and how much of its prizes is redeemed.`,
  csv: ANSWER_TABLES.contests,
  async render({ contests, next }, view) {
    const summary = await askEndpoint(view, 'summary')
    const shown = contests.slice(0, rowsShown(view.query))
    const cancelled = await askCancelled(shown, view)
    return html`${tabsOf(summary, view)} ${contestsForm(view)}
    ${shown.length === 0 ? await emptyOf(summary, next, view) : contestTable(shown, cancelled, view)}
    ${pager(next, view)}
    ${jsonLinks([['the numbers of contests', summary], ...[...cancelled.values()].map((one, index) => [index === 0 ? 'a cancellation' : 'another', one] as const)])}`
  },
}

function titleOf(query: View['query']): string {
  const states = query.list('status')
  const what = query.has('q') ? 'Contests found' : 'Contests'
  return states === undefined ? what : `${what}: ${states.join(', ')}`
}

/** Links to the states, each with its number of contests. */
function tabsOf({ answer, address }: LinkedAnswer<Summary>, { query }: View): Html {
  const chosen = query.list('status')?.join(',')
  const all: readonly (readonly [tab: string, states: readonly ContestStatus[]])[] = [
    ['all', CONTEST_STATUSES],
    ...(['running', 'upcoming', 'paying', 'paid'] as const).map((state) => [state, [state]] as const),
    ['closed', ['paying', 'paid']],
  ]
  const tabs = all.map(([tab, states]) => {
    const number = derivedSum(
      states.map((state) => ({
        pointer: `${address}#/contests/${state}`,
        figure: answer.contests[state],
      })),
    )
    const status = tab === 'all' ? undefined : tab
    const href = `/contests${query.format({ status, after: undefined, limit: undefined })}`
    const present = status === chosen ? html` aria-current="page"` : null
    // A search finds fewer contests than a state has.
    const count = number === null || query.has('q') ? null : derived(number)
    return html`<li><a href="${href}" ${present}>${tab} ${count}</a></li>`
  })
  return html`<nav aria-label="States of contests">
    <ul class="tabs">
      ${tabs}
    </ul>
  </nav>`
}

type Cancelled = Awaited<ReturnType<typeof askCancelled>>

function contestTable(contests: readonly ContestWire[], cancelled: Cancelled, { site, query }: View): Html {
  return html`<div class="wide" role="region" aria-label="Contests" tabindex="0">
    <table class="cards" data-list="/contests" data-most="${rowsShown(query)}">
      <thead>
        <tr>
          <th scope="col" data-field="title id">Contest</th>
          <th scope="col" data-field="status">State</th>
          <th scope="col" class="r" data-field="pool">Pool, ${site.token}</th>
          <th scope="col" class="r fold" data-field="entries">Entries</th>
          <th scope="col" data-field="openedAt|opensAt? closedAt|closesAt">From and until</th>
          <th scope="col" class="r fold" data-field="prizesRedeemed?">
            Redeemed, ${site.token}, of what was won
          </th>
          <th scope="col" class="r" data-field="prizesNotRedeemed">Not yet redeemed, ${site.token}</th>
        </tr>
      </thead>
      <tbody>
        ${contests.map((one, index) => rowOf(one, index, cancelled.has(one.id)))}
      </tbody>
    </table>
  </div>`
}

function rowOf(one: ContestWire, index: number, cancelled: boolean): Html {
  return html`<tr>
    <th scope="row" class="all">${contestLink(one.id, one.title)}</th>
    <td>${stateChip(one.status)}${cancelled ? ' cancelled' : null}</td>
    <td class="r" data-label="pool">${amountHtml(one.pool)}</td>
    <td class="r fold">${countHtml(one.entries)}</td>
    <td data-label="${one.closedAt === null ? 'closes' : 'closed'}">
      <span class="fold"
        >${momentOrNone(one.openedAt ?? (one.closedAt === null ? one.opensAt : null), 'never opened')}<br /></span
      >${momentOf(one.closedAt ?? one.closesAt)}
    </td>
    <td class="r meters fold">${cancelled ? NOTHING_WON : redeemedOf(one, index)}</td>
    <td class="r" data-label="unpaid">${amountHtml(one.prizesNotRedeemed)}</td>
  </tr>`
}

const NOTHING_WON = html`<span class="none">nothing was won</span>`

/** Paid part of the owed prizes, as an amount, a meter and a percentage. */
function redeemedOf({ status, prizesOwed, prizesRedeemed }: ContestWire, index: number): Html {
  const share = percentOf(
    { figure: prizesRedeemed, pointer: `/contests/${index}/prizesRedeemed` },
    { figure: prizesOwed, pointer: `/contests/${index}/prizesOwed` },
  )
  if (share === null) return status === 'paid' ? NOTHING_WON : html`<span class="none">nothing won yet</span>`
  return html`${amountHtml(prizesRedeemed)}<br />${redeemedMeter(prizesRedeemed, prizesOwed)} ${share}`
}

/** Text of an empty list, with links to other contests. */
async function emptyOf(
  { answer: { contests }, address }: LinkedAnswer<Summary>,
  next: string | null,
  view: View,
): Promise<Html> {
  const schedule = await askEndpoint(view, 'schedule')
  const states = view.query.list('status')
  const [close] = schedule.answer.closes
  const closing = `${schedule.address}#/closes/0`
  const leadText = view.query.has('q')
    ? next === null
      ? 'No contest in this list has all these words in its title.'
      : 'None of the contests of this part has all these words in its title. Search further below.'
    : view.query.has('after')
      ? `There is no ${sortOf(view) === 'newest' ? 'older' : 'further'} contest in this list.`
      : states === undefined
        ? 'There has been no contest yet.'
        : `No contest is ${orOf(states)} now.`
  return html`<p class="lead">${leadText}</p>
    <p data-at="${address}#/contests/running?">
      ${
        contests.running === 0
          ? html`None is running.`
          : html`<a href="/contests?status=running">Running: ${contests.running}</a>.`
      }
      ${
        close === undefined
          ? html`None is planned. <a href="/events">See what was published last</a>.`
          : html`<span data-at="${closing}/title ${closing}/contestId ${closing}/at"
                >The next to close is ${contestLink(close.contestId, close.title)}, planned for
                ${momentOf(close.at)}.</span
              >
              <a href="/schedule">See the schedule</a>.`
      }
    </p>
    ${jsonLinks([['the schedule', schedule]])}`
}

function orOf(states: readonly string[]): string {
  return states.join(' or ')
}

function pager(next: string | null, view: View): Html | null {
  const { query } = view
  const paged = query.has('after')
  if (!paged && next === null) return null
  const isNewest = sortOf(view) === 'newest'
  const first = query.format({ after: undefined, limit: undefined })
  const onward = next?.replace('/api/v1', '')
  return html`<nav aria-label="Pages of contests" class="pager" data-chrome>
    ${paged ? html`<a href="/contests${first}">${isNewest ? 'Newest contests' : 'First contests'}</a>` : null}
    ${onward === undefined ? null : html`<a rel="next" href="${onward}">${isNewest ? 'Older contests' : 'Further contests'}</a>`}
  </nav>`
}
