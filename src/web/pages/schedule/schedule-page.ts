import type { Contests, Schedule } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { AnswerTable } from '../../../serve/http/csv.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { EndpointPage, LinkedAnswer, View } from '../../frame/page.ts'
import { contestLink, contestName, quotedText } from '../../markup/contest-name.ts'
import { type Html, html } from '../../markup/html.ts'
import {
  clockMoment,
  hourOf,
  momentText,
  monthHtml,
  nearDay,
  nearMoment,
  untilMoment,
} from '../../markup/moment-html.ts'
import { listed } from '../../markup/prose.ts'
import { book, type BookLine, sectionHead } from '../../markup/book.ts'
import { isolateDirection, removeDirection } from '../../../protocol/foreign-text.ts'
import { chartPicture, clipped } from '../../charts/chart-picture.ts'
import { plotOnPage } from '../../charts/chart-plot.ts'
import { type ChartSpan, spanExtent, spanPlot, type Spans } from '../../charts/chart-spans.ts'
import { calendarLinks } from '../../frame/view-bar.ts'

/** `/schedule`: next openings and closings, day by day. */
export const schedulePage: EndpointPage<'schedule'> = {
  endpoint: 'schedule',
  title: () => 'Schedule',
  description: (schedule, view) => soonestText(schedule, view),
  csv: tableOf,
  svg: timelinePicture,
  heading,
  async render(schedule, view) {
    const open = await askOpen(view)
    return html`<div class="two">
        <section>${planBook(schedule, open, view)} ${endlessNote(open)} ${timeline(schedule, open)}</section>
        ${asideOf(schedule, view)}
      </div>
      ${open === null ? null : jsonLinks([['the contests that are open', open]])}`
  },
}

/** Heading of the page: the next plan in a sentence. */
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
  // The time has its own line, so that nothing moves when a script writes "today" in its place.
  return html`<h1 data-at="${named}">${name} ${what} <br />${nearMoment(at, view)}</h1>
    <p class="lead" data-at="${pointer}/at">
      That is ${untilMoment(at, view)}. A plan can change: a contest opens or closes when its event is
      published.
    </p>`
}

/** The soonest plan in the future. */
function nextPlan(schedule: Schedule, { now }: Pick<View, 'now'>): ContestPlan | undefined {
  return plansOf(schedule).find(({ atMs }) => atMs > now)
}

/** Timeline of the contests that have not closed, by planned close; null if there are none. */
function timeline(schedule: Schedule, open: OpenContests): Html | null {
  const courses = drawnContests(schedule, open)
  if (courses.length === 0) return null
  const cut = schedule.closes.length > courses.length
  return html`<figure class="chart">
    <figcaption>
      Each contest from its opening to its
      closing${cut ? (isPartOf(open) ? PART : ' (only the first to close)') : null}. The vertical line is the
      last event. Planned parts are pale. Days are in UTC.
    </figcaption>
    ${plotOnPage(spanPlot(spansOf(schedule, courses)))}
  </figure>`
}

/** Whether more contests are open than the page reads. */
function isPartOf(open: OpenContests): boolean {
  return open !== null && open.answer.next !== null
}

/** Openings and closings in lines of the book, by day; null if nothing is planned. */
function planBook(schedule: Schedule, open: OpenContests, view: View): Html | null {
  const plans = plansOf(schedule)
  if (plans.length === 0) return null
  const opened = openingsOf(open)
  const days = Map.groupBy(plans.slice(0, PLANS_SHOWN), ({ at }) => at.slice(0, 10))
  const lines = [...days].flatMap(([day, ofDay]) => [
    ...dayLine(day, ofDay, view),
    ...ofDay.map((plan) => lineOf(plan, opened, view)),
  ])
  const list = { list: '/opens /closes', fields: 'at title contestId at', most: PLANS_SHOWN }
  return html`<section>
    ${sectionHead('What opens and closes')} ${book(lines, list)}
    ${
      plans.length > PLANS_SHOWN
        ? html`<p class="quiet">
            Only the soonest are shown here: <a href="/schedule.csv">all of them as CSV</a>, or as the JSON
            below.
          </p>`
        : null
    }
  </section>`
}

function dayLine(day: string, [first]: readonly ContestPlan[], view: View): readonly BookLine[] {
  if (first === undefined) return []
  const { weekday, date } = nearDay(first.at, view)
  const shown = (part: Html): Html => html`<span data-at="${first.pointer}/at">${part}</span>`
  return [{ as: 'day', key: `day ${day}`, when: shown(weekday), what: html`${shown(date)} UTC` }]
}

function lineOf(plan: ContestPlan, opened: Openings, view: View): BookLine {
  const { what, contestId, title, at, atMs, pointer } = plan
  const opening = what === 'closes' ? opened.get(contestId) : undefined
  const since =
    opening === undefined
      ? null
      : html` · <span data-at="${opening.pointer}">open since ${nearMoment(opening.at, view)}</span>`
  const until = untilMoment(at, view)
  const when =
    atMs > view.now
      ? html`<b>${what}</b> ${until}${since}`
      : html`<b>${what}</b> at any moment: it was planned for ${until}${since}`
  return {
    when: hourOf(at),
    what: contestLink(contestId, title),
    small: when,
    row: pointer,
    key: `${what} ${contestId}`,
  }
}

/** All plans of contests, soonest first. */
function plansOf({ opens, closes }: Schedule): readonly ContestPlan[] {
  return [
    ...opens.map((one, index) => ({ ...one, what: 'opens', pointer: `/opens/${index}` }) as const),
    ...closes.map((one, index) => ({ ...one, what: 'closes', pointer: `/closes/${index}` }) as const),
  ].toSorted((a, b) => a.atMs - b.atMs)
}

function openingsOf(open: OpenContests): Openings {
  if (open === null) return new Map()
  const { answer, address } = open
  return new Map(
    answer.contests.flatMap(({ id, openedAt: at }, index) =>
      at === null ? [] : [[id, { at, pointer: `${address}#/contests/${index}/openedAt` }]],
    ),
  )
}

/** Asks for the open contests. The schedule does not have those without an announced end. */
async function askOpen(view: View): Promise<OpenContests> {
  const open = await askEndpoint(view, 'contests', { query: `status=running&limit=${OPEN_LIMIT}` })
  return open.answer.contests.length === 0 ? null : open
}

/** Sentence about the open contests without an announced end; null if there are none. */
function endlessNote(open: OpenContests): Html | null {
  if (open === null) return null
  const { answer, address } = open
  const endless = answer.contests
    .map((contest, index) => ({ ...contest, pointer: `${address}#/contests/${index}` }))
    .filter(({ closesAt }) => closesAt === null)
  if (endless.length === 0) return null
  const links = endless
    .slice(0, ENDLESS_SHOWN)
    .map(
      ({ id, title, pointer }) =>
        html`<span data-at="${title === null ? null : `${pointer}/title `}${pointer}/id"
          >${contestLink(id, title)}</span
        >`,
    )
  const rest = html`<a href="/contests?status=running">others</a>`
  return html`<p>
    No end is announced of ${listed(endless.length > ENDLESS_SHOWN ? [...links, rest] : links)}.
  </p>`
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
  const runs = html`<p><a href="/loyalty/runs">The reward of every month</a></p>`
  if (next === null) {
    return html`<p class="quiet">Its day is not announced yet.</p>
      ${runs}`
  }
  // The answer has it even when the time has passed, or when the reward was computed as zero.
  const isLate = next.atMs <= view.now
  const verb = isLate ? 'was to be' : 'is'
  return html`<p data-at="/nextLoyaltyPayment/month /nextLoyaltyPayment/at /nextLoyaltyPayment/at">
      The reward for ${monthHtml(next.month)} ${verb} paid ${clockMoment(next.at, view)},
      ${untilMoment(next.at, view)}.${isLate ? ' No payment of it is published yet.' : null}
    </p>
    ${runs}`
}

/** Link-preview text: the next plan; null if no plan is in the future. */
function soonestText(schedule: Schedule, view: View): string | null {
  const next = nextPlan(schedule, view)
  if (next === undefined) return null
  return `Planned next: ${contestName(next.contestId, next.title)} ${next.what}, at ${momentText(next.at)}.`
}

const COLUMNS = ['what', 'contestId', 'title', 'month', 'at', 'atMs'] as const

function tableOf(schedule: Schedule): AnswerTable {
  const { nextLoyaltyPayment: next } = schedule
  const reward = next === null ? [] : [{ ...next, what: 'pays', contestId: null, title: null }]
  const contests = plansOf(schedule).map((plan) => ({ ...plan, month: null }))
  const rows = [...contests, ...reward].toSorted((a, b) => a.atMs - b.atMs)
  return { columns: COLUMNS, rows: rows.map((row) => COLUMNS.map((name) => row[name])), next: null }
}

/** Plans on the page. The export has all of them. */
const PLANS_SHOWN = 100

/** A planned opening or closing. */
type ContestPlan = Readonly<{
  what: 'opens' | 'closes'
  contestId: number
  title: string | null
  at: string
  atMs: number
  /** JSON pointer into the answer. */
  pointer: string
}>

/** Open contests without an announced end that the page names. */
const ENDLESS_SHOWN = 8

/** Openings of the open contests, by contest id. */
type Openings = ReadonlyMap<number, Readonly<{ at: string; pointer: string }>>

/** Most contests in the picture, so that it is legible on a phone. */
const DRAWN_MAX = 8
/** Open contests that are read, the newest. */
const OPEN_LIMIT = 1_000
/** Characters of a name that fit above a bar on a phone. The table has the whole name. */
const NAME_CHARS_MAX = 30

/** Open contests with their opening; null if there are none. The schedule has only their planned close. */
type OpenContests = LinkedAnswer<Contests> | null

/** A contest from its actual or planned opening to its planned close, as a bar and in a sentence. */
type DrawnContest = Readonly<{ span: ChartSpan; sentence: string }>

const PART = ' (only planned ones and the newest thousand open ones)'

/** The timeline as a picture, empty if nothing is planned. */
async function timelinePicture(schedule: Schedule, view: View): Promise<Html> {
  const open = await askOpen(view)
  const spans = spansOf(schedule, drawnContests(schedule, open))
  const { fromMs, toMs } = spanExtent(spans.spans, spans.nowMs)
  const days = [fromMs, toMs].map((ms) => new Date(ms).toISOString().slice(0, 10))
  const range =
    spans.spans.length === 0
      ? 'nothing is planned'
      : `${days.join(' to ')}; pale: planned${isPartOf(open) ? PART : ''}`
  return chartPicture({ title: spans.title, asOf: schedule.asOf, range }, [spanPlot(spans)], view)
}

function spansOf({ asOf }: Schedule, courses: readonly DrawnContest[]): Spans {
  const described = courses.map(({ sentence }) => sentence).join(' ')
  return {
    id: 'timeline',
    title: 'Contests from opening to closing',
    description: described === '' ? 'No contest is open or planned.' : described,
    nowMs: asOf.atMs ?? 0,
    spans: courses.map(({ span }) => span),
  }
}

function drawnContests({ asOf, opens, closes }: Schedule, open: OpenContests): readonly DrawnContest[] {
  const planned = new Map(opens.map((one) => [one.contestId, one]))
  const opened = new Map(open?.answer.contests.map((one) => [one.id, one]))
  const nowMs = asOf.atMs ?? 0
  const known = closes.filter(({ contestId }) => opened.has(contestId) || planned.has(contestId))
  return known.slice(0, DRAWN_MAX).flatMap(({ contestId: id, title, at: closesAt, atMs }): DrawnContest[] => {
    const { openedAt = null, openedAtMs = null } = opened.get(id) ?? {}
    const plan = planned.get(id)
    const isOpen = openedAt !== null
    const opensAt = openedAt ?? plan?.at
    const fromMs = openedAtMs ?? plan?.atMs
    if (opensAt === undefined || fromMs === undefined) return []
    const name =
      title === null
        ? contestName(id, null)
        : isolateDirection(clipped(removeDirection(title), NAME_CHARS_MAX))
    // An open contest lasts at least until now, even if its planned close has passed.
    const toMs = isOpen ? Math.max(atMs, nowMs) : atMs
    const span: ChartSpan = { mark: `#${id}`, name, fromMs, beenMs: isOpen ? nowMs : fromMs, toMs }
    const opening = `${isOpen ? 'open since' : 'planned to open at'} ${momentText(opensAt)}`
    const sentence = `${contestName(id, title)}: ${opening}, planned to close at ${momentText(closesAt)}.`
    return [{ span, sentence }]
  })
}
