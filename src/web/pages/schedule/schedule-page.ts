import type { Schedule } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { AnswerTable } from '../../../serve/http/csv.ts'
import { jsonLinks } from '../../frame/linked-answers.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { calendarLinks } from '../../frame/subscription-links.ts'
import { contestName, quotedText } from '../../markup/contest-name.ts'
import { type Html, html } from '../../markup/html.ts'
import { clockMoment, momentText, monthHtml, nearMoment, untilMoment } from '../../markup/moment-html.ts'
import { type ContestPlan, planBook, plansOf } from './schedule-book.ts'
import { askOpen, timeline, timelinePicture } from './schedule-timeline.ts'

/** `/schedule`: what opens and closes next, day by day. */
export const schedulePage: EndpointPage<'schedule'> = {
  endpoint: 'schedule',
  linksFeed: true,
  asksMore: true,
  title: () => 'Schedule',
  description: (schedule, view) => soonestText(schedule, view),
  csv: tableOf,
  svg: timelinePicture,
  heading,
  async render(schedule, view) {
    const open = await askOpen(schedule, view)
    return html`<div class="two">
        <section>${planBook(schedule, open, view)} ${timeline(schedule, open)}</section>
        ${asideOf(schedule, view)}
      </div>
      ${open === null ? null : jsonLinks([['the contests that are open', open]])}`
  },
}

/** Top of the page: the next plan in a sentence. */
function heading(schedule: Schedule, view: View): Html {
  const next = nextPlan(schedule, view)
  const plan = next ?? plansOf(schedule)[0]
  if (plan === undefined) {
    return html`<h1>Nothing is planned</h1>
      <p class="lead">
        See <a href="/contests">the contests so far</a>, or subscribe: what is planned next will be in the
        calendar.
      </p>`
  }
  const { what, contestId, title, at, pointer } = plan
  const name = title === null ? html`Contest ${contestId}` : quotedText(title)
  const named = `${pointer}/${title === null ? 'contestId' : 'title'} ${pointer}/at`
  if (next === undefined) {
    return html`<h1 data-at="${named}">
        ${name} was to ${what === 'opens' ? 'open' : 'close'} ${nearMoment(at, view)}
      </h1>
      <p class="lead">That event has not been published yet. Nothing else is planned.</p>`
  }
  return html`<h1 data-at="${named}">${name} ${what} ${nearMoment(at, view)}</h1>
    <p class="lead" data-at="${pointer}/at">
      That is ${untilMoment(at, view)}. A plan can change: a contest opens or closes when its event is
      published.
    </p>`
}

/** The soonest plan in the future. */
function nextPlan(schedule: Schedule, { now }: Pick<View, 'now'>): ContestPlan | undefined {
  return plansOf(schedule).find(({ atMs }) => atMs > now)
}

/** Link-preview text: the next plan; null if no plan is in the future. */
function soonestText(schedule: Schedule, view: View): string | null {
  const next = nextPlan(schedule, view)
  if (next === undefined) return null
  return `Planned next: ${contestName(next.contestId, next.title)} ${next.what}, at ${momentText(next.at)}.`
}

function asideOf(schedule: Schedule, view: View): Html {
  return html`<aside>
    <h2>Next loyalty reward</h2>
    ${loyaltyOf(schedule, view)}
    <h2>Get notified</h2>
    <p class="quiet">A calendar with each opening, closing and loyalty reward.</p>
    ${calendarLinks('/schedule.ics', view)}
  </aside>`
}

function loyaltyOf({ nextLoyaltyPayment: next }: Schedule, view: View): Html {
  const runs = view.paths.has('/loyalty/runs')
    ? html`<p><a href="/loyalty/runs">The reward of every month</a></p>`
    : null
  if (next === null) {
    return html`<p class="quiet">Its day is not announced yet.</p>
      ${runs}`
  }
  // The answer has it also when the time has passed, or when the reward was computed to be nothing.
  const isLate = next.atMs <= view.now
  const verb = isLate ? 'was to be' : 'is'
  return html`<p data-at="/nextLoyaltyPayment/month /nextLoyaltyPayment/at /nextLoyaltyPayment/at">
      The reward for ${monthHtml(next.month)} ${verb} paid ${clockMoment(next.at, view)},
      ${untilMoment(next.at, view)}.${isLate ? ' No payment of it is published yet.' : null}
    </p>
    ${runs}`
}

const COLUMNS = ['what', 'contestId', 'title', 'month', 'at', 'atMs'] as const

function tableOf(schedule: Schedule): AnswerTable {
  const { nextLoyaltyPayment: next } = schedule
  const reward = next === null ? [] : [{ ...next, what: 'pays', contestId: null, title: null }]
  const contests = plansOf(schedule).map((plan) => ({ ...plan, month: null }))
  const rows = [...contests, ...reward].toSorted((a, b) => a.atMs - b.atMs)
  return { columns: COLUMNS, rows: rows.map((row) => COLUMNS.map((name) => row[name])), next: null }
}
