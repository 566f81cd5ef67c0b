import type { ContestStatus, ContestWire, Summary } from '../../../protocol/resources.ts'
import { CONTEST_STATUSES } from '../../../protocol/resources.ts'
import { amountHtml, countHtml } from '../../markup/amount-html.ts'
import { askCancelled } from './contest-timeline.ts'
import { contestLink, contestName, redeemedMeter, statusPill } from '../../markup/contest-name.ts'
import { derived, derivedSum } from '../../markup/derived.ts'
import type { LinkedAnswer } from '../../frame/linked-answers.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { momentOf, momentOrNone } from '../../markup/moment-html.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { percentOf } from '../../charts/share.ts'
import { ANSWER_TABLES } from '../../../serve/api/answer-tables.ts'

/** Rows on a page. A link leads to more; the export has all. */
const ROWS_SHOWN = 50

/** `/contests`: all contests or those in a state, newest first. */
export const contestsPage: EndpointPage<'contests'> = {
  endpoint: 'contests',
  rowsMax: ROWS_SHOWN,
  asksMore: true,
  title: (_, { query }) => titleOf(query.list('status')),
  description: ({ contests: [first] }) =>
    first === undefined
      ? null
      : `Newest first: ${contestName(first.id, first.title)}, ${first.status}. Each contest with its pool, its entries and how much of its prizes is redeemed.`,
  csv: ANSWER_TABLES.contests,
  async render({ contests, next }, view) {
    const summary = await askEndpoint(view, 'summary')
    const shown = contests.slice(0, ROWS_SHOWN)
    const cancelled = await askCancelled(shown, view)
    return html`${tabsOf(summary, view)}
    ${shown.length === 0 ? await emptyOf(summary, view) : contestTable(shown, cancelled, view)}
    ${pager(shown, shown.length < contests.length || next !== null, view)}
    ${jsonLinks([['the numbers of contests', summary], ...[...cancelled.values()].map((one, index) => [index === 0 ? 'a cancellation' : 'another', one] as const)])}`
  },
}

function titleOf(states: readonly string[] | undefined): string {
  return states === undefined ? 'Contests' : `Contests: ${states.join(', ')}`
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
    const href = status === undefined ? '/contests' : `/contests?status=${status}`
    const present = status === chosen ? html` aria-current="page"` : null
    return html`<li><a href="${href}" ${present}>${tab} ${number === null ? null : derived(number)}</a></li>`
  })
  return html`<nav aria-label="States of contests">
    <ul class="tabs">
      ${tabs}
    </ul>
  </nav>`
}

type Cancelled = Awaited<ReturnType<typeof askCancelled>>

function contestTable(contests: readonly ContestWire[], cancelled: Cancelled, { site }: View): Html {
  return html`<div class="wide" role="region" aria-label="Contests" tabindex="0">
    <table class="cards" data-list="/contests" data-most="${ROWS_SHOWN}">
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
    <td>${statusPill(one.status)}${cancelled ? ' cancelled' : null}</td>
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
async function emptyOf({ answer: { contests }, address }: LinkedAnswer<Summary>, view: View): Promise<Html> {
  const schedule = await askEndpoint(view, 'schedule')
  const states = view.query.list('status')
  const [close] = schedule.answer.closes
  const closing = `${schedule.address}#/closes/0`
  const leadText = view.query.has('after')
    ? 'There is no older contest in this list.'
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

function pager(shown: readonly ContestWire[], more: boolean, { query }: View): Html | null {
  const last = shown.at(-1)
  const paged = query.has('after')
  if (!paged && (!more || last === undefined)) return null
  const first = query.format({ after: undefined, limit: undefined })
  const onward = query.format({ after: String(last?.id), limit: String(ROWS_SHOWN) })
  return html`<nav aria-label="Pages of contests" class="pager" data-chrome>
    ${paged ? html`<a href="/contests${first}">Newest contests</a>` : null}
    ${more && last !== undefined ? html`<a rel="next" href="/contests${onward}">Older contests</a>` : null}
  </nav>`
}
