import type { Schedule } from '../../protocol/resources.ts'
import { contestLink } from './contest-name.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import { dayOf, momentOf } from './moment.ts'
import type { Page, View } from './page.ts'
import type { Table } from './table.ts'

/** `/schedule`: what is planned, day by day. */
export const schedulePage: Page<Schedule> = {
  endpoint: 'schedule',
  title: () => 'Schedule',
  csv: tableOf,
  render: (schedule, view) => html`${loyaltyOf(schedule, view)} ${subscription(view)} ${daysOf(schedule)}`,
}

/** One planned moment: which, of what, and when. */
type Plan = Readonly<{
  what: 'opens' | 'closes' | 'pays'
  contestId: number | null
  title: string | null
  month: string | null
  at: string
  atMs: number
}>

/** All that is planned, soonest first. */
function plansOf({ opens, closes, nextLoyaltyPayment }: Schedule): readonly Plan[] {
  const payment = nextLoyaltyPayment === null ? [] : [nextLoyaltyPayment]
  return [
    ...opens.map((one) => ({ ...one, what: 'opens', month: null }) as const),
    ...closes.map((one) => ({ ...one, what: 'closes', month: null }) as const),
    ...payment.map((one) => ({ ...one, what: 'pays', contestId: null, title: null }) as const),
  ].toSorted((a, b) => a.atMs - b.atMs)
}

function loyaltyOf({ nextLoyaltyPayment: next }: Schedule, { paths }: View): Html {
  const runs = paths.has('/loyalty/runs')
    ? html` <a href="/loyalty/runs">Every month’s reward so far</a>.`
    : null
  return next === null
    ? html`<p>The day of the next loyalty payment is not announced yet.${runs}</p>`
    : html`<p class="lead">
        Next loyalty payment: for ${next.month}, at ${momentOf(next.at)}<span
          data-relative="${next.at}"
        ></span
        >.${runs}
      </p>`
}

/** The same as a calendar that keeps itself up to date. */
function subscription({ host }: View): Html {
  return html`<p data-subscribe>
    ${host === null ? null : html`<a class="button" href="webcal://${host}/schedule.ics">Subscribe in a calendar</a> `}
    <a class="button" href="/schedule.ics">Calendar file (schedule.ics)</a>
  </p>`
}

function daysOf(schedule: Schedule): Html {
  const plans = plansOf(schedule)
  if (plans.length === 0) {
    return html`<p>
      Nothing is planned. <a href="/contests">See the contests there have been</a>, or subscribe: what is
      planned next will be in the calendar.
    </p>`
  }
  const days = [...Map.groupBy(plans, ({ at }) => at.slice(0, 10)).values()]
  const upTo = schedule.asOf.atMs ?? 0
  return html`<h2>Planned, day by day</h2>
    <p class="quiet">A plan can change: a contest opens or closes when the event says so.</p>
    <div class="wide" role="region" aria-label="Planned, day by day" tabindex="0">
      <table>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">What</th>
          </tr>
        </thead>
        ${days.map(
          (day) =>
            html`<tbody>
              ${groupHead(day)} ${day.map((plan) => rowOf(plan, upTo))}
            </tbody>`,
        )}
      </table>
    </div>`
}

function groupHead([first]: readonly Plan[]): Html | null {
  return first === undefined
    ? null
    : html`<tr class="group" data-key="day">
        <th scope="rowgroup" colspan="2">${dayOf(first.at)}</th>
      </tr>`
}

function rowOf(plan: Plan, upToMs: number): Html {
  const passed = plan.atMs <= upToMs ? html` <em>the time has passed, the event has not come yet</em>` : null
  return html`<tr data-key="${plan.what} ${plan.contestId ?? ''}">
    <td>${momentOf(plan.at)}<span data-relative="${plan.at}"></span>${passed}</td>
    <td>${whatOf(plan)}</td>
  </tr>`
}

function whatOf({ what, contestId, title, month }: Plan): Html {
  return contestId === null
    ? html`Loyalty reward for ${month} is paid`
    : html`${contestLink(contestId, title)} <b>${what}</b>`
}

const COLUMNS = ['what', 'contestId', 'title', 'month', 'at', 'atMs'] as const

function tableOf(schedule: Schedule): Table {
  return {
    columns: COLUMNS,
    rows: plansOf(schedule).map((plan) => COLUMNS.map((name) => plan[name])),
    next: null,
  }
}
