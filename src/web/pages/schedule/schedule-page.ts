import type { Schedule } from '../../../protocol/resources.ts'
import { calendarLinks } from '../../frame/subscription-links.ts'
import { contestLink, contestName } from '../../markup/contest-name.ts'
import { jsonLinks } from '../../frame/linked-answers.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { dayOf, momentOf, momentText } from '../../markup/moment-html.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import type { OpenContests } from './schedule-timeline.ts'
import { askOpen, timeline, timelinePicture } from './schedule-timeline.ts'
import type { AnswerTable } from '../../../serve/http/csv.ts'

/** Plans on the page. The export has all of them. */
const PLANS_SHOWN = 200

/** `/schedule`: planned events, day by day. */
export const schedulePage: EndpointPage<'schedule'> = {
  endpoint: 'schedule',
  linksFeed: true,
  asksMore: true,
  title: () => 'Schedule',
  description: (schedule) => soonestIn(schedule),
  csv: tableOf,
  svg: timelinePicture,
  async render(schedule, view) {
    const open = await askOpen(schedule, view)
    return html`${loyaltyOf(schedule, view)} ${calendarLinks('/schedule.ics', view)}
    ${timeline(schedule, open)} ${daysOf(schedule, open)}
    ${open === null ? null : jsonLinks([['the contests that are open', open]])}`
  },
}

/** A planned opening, closing or loyalty payment. */
type Plan = Readonly<{
  what: 'opens' | 'closes' | 'pays'
  contestId: number | null
  title: string | null
  month: string | null
  at: string
  atMs: number
  /** JSON pointer into the answer. */
  pointer: string
}>

/** All plans, soonest first. */
function plansOf({ opens, closes, nextLoyaltyPayment }: Schedule): readonly Plan[] {
  const payment = nextLoyaltyPayment === null ? [] : [nextLoyaltyPayment]
  return [
    ...opens.map(
      (one, index) => ({ ...one, what: 'opens', month: null, pointer: `/opens/${index}` }) as const,
    ),
    ...closes.map(
      (one, index) => ({ ...one, what: 'closes', month: null, pointer: `/closes/${index}` }) as const,
    ),
    ...payment.map(
      (one) =>
        ({ ...one, what: 'pays', contestId: null, title: null, pointer: '/nextLoyaltyPayment' }) as const,
    ),
  ].toSorted((a, b) => a.atMs - b.atMs)
}

/** Link-preview text: the next plan; null if no plan is in the future. */
function soonestIn(schedule: Schedule): string | null {
  const upTo = schedule.asOf.atMs ?? 0
  const soonest = plansOf(schedule).find(({ atMs }) => atMs > upTo)
  if (soonest === undefined) return null
  const { what, contestId, title, month, at } = soonest
  const nextText =
    contestId === null
      ? `the loyalty reward for ${month ?? ''} is paid`
      : `${contestName(contestId, title)} ${what}`
  return `Planned next: ${nextText}, at ${momentText(at)}.`
}

function loyaltyOf({ nextLoyaltyPayment: next }: Schedule, { paths }: View): Html {
  const runs = paths.has('/loyalty/runs') ? html` <a href="/loyalty/runs">Every month’s reward</a>.` : null
  return next === null
    ? html`<p>The day of the next loyalty payment is not announced yet.${runs}</p>`
    : html`<p class="lead" data-at="/nextLoyaltyPayment/month /nextLoyaltyPayment/at">
        Next loyalty payment: for ${next.month}, at ${momentOf(next.at)}<span
          data-relative="${next.at}"
        ></span
        >.${runs}
      </p>`
}

function daysOf(schedule: Schedule, open: OpenContests): Html {
  const plans = plansOf(schedule)
  if (plans.length === 0) {
    return html`<p>
      Nothing is planned. <a href="/contests">See the contests there have been</a>, or subscribe: what is
      planned next will be in the calendar.
    </p>`
  }
  const days = [...Map.groupBy(plans.slice(0, PLANS_SHOWN), ({ at }) => at.slice(0, 10)).values()]
  const upTo = schedule.asOf.atMs ?? 0
  const opened = openingsOf(open)
  return html`<h2>Planned, day by day</h2>
    <p class="quiet">A plan can change: a contest opens or closes when the event says so.</p>
    <div class="wide" role="region" aria-label="Planned, day by day" tabindex="0">
      <table class="cards" data-list="/opens /closes" data-most="${PLANS_SHOWN}">
        <thead>
          <tr>
            <th scope="col" data-field="at">When</th>
            <th scope="col">What</th>
          </tr>
        </thead>
        ${days.map(
          (day) =>
            html`<tbody>
              ${groupHead(day)} ${day.map((plan) => rowOf(plan, upTo, opened))}
            </tbody>`,
        )}
      </table>
    </div>
    ${plans.length > PLANS_SHOWN ? moreInTheExport() : null}`
}

function moreInTheExport(): Html {
  return html`<p class="quiet">
    Only the soonest are shown here: <a href="/schedule.csv">all of them as CSV</a>, or as the JSON below.
  </p>`
}

function groupHead([first]: readonly Plan[]): Html | null {
  return first === undefined
    ? null
    : html`<tr class="group" data-key="day">
        <th scope="rowgroup" colspan="2" data-at="${first.pointer}/at">${dayOf(first.at)}</th>
      </tr>`
}

function rowOf(plan: Plan, upToMs: number, opened: Openings): Html {
  const passed = plan.atMs <= upToMs ? html` <em>the time has passed, the event has not come yet</em>` : null
  return html`<tr data-key="${plan.what} ${plan.contestId ?? ''}" data-row="${plan.pointer}">
    <td>${momentOf(plan.at)}<span data-relative="${plan.at}"></span>${passed}</td>
    ${whatOf(plan, opened)}
  </tr>`
}

function whatOf({ what, contestId, title, month, pointer }: Plan, opened: Openings): Html {
  if (contestId === null) return html`<td data-at="${pointer}/month">Loyalty reward for ${month} is paid</td>`
  const opening = what === 'closes' ? opened.get(contestId) : undefined
  const shown = [
    `${pointer}/title`,
    `${pointer}/contestId`,
    ...(opening === undefined ? [] : [opening.pointer]),
  ]
  return html`<td data-at="${shown.join(' ')}">
    ${contestLink(contestId, title)}
    <b>${what}</b>${opening === undefined ? null : html`, open since ${momentOf(opening.at)}`}
  </td>`
}

/** Openings of the open contests, by contest id. */
type Openings = ReadonlyMap<number, Readonly<{ at: string; pointer: string }>>

function openingsOf(open: OpenContests): Openings {
  if (open === null) return new Map()
  const { answer, address } = open
  return new Map(
    answer.contests.flatMap(({ id, openedAt: at }, index) =>
      at === null ? [] : [[id, { at, pointer: `${address}#/contests/${index}/openedAt` }]],
    ),
  )
}

const COLUMNS = ['what', 'contestId', 'title', 'month', 'at', 'atMs'] as const

function tableOf(schedule: Schedule): AnswerTable {
  return {
    columns: COLUMNS,
    rows: plansOf(schedule).map((plan) => COLUMNS.map((name) => plan[name])),
    next: null,
  }
}
