import type { Schedule } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { View } from '../../frame/page.ts'
import { book, type BookLine, sectionHead } from '../../markup/book.ts'
import { contestLink } from '../../markup/contest-name.ts'
import { type Html, html } from '../../markup/html.ts'
import { hourOf, nearDay, nearMoment, untilMoment } from '../../markup/moment-html.ts'
import type { OpenContests } from './schedule-timeline.ts'

/** Plans on the page. The export has all of them. */
const PLANS_SHOWN = 100

/** A planned opening or closing. */
export type ContestPlan = Readonly<{
  what: 'opens' | 'closes'
  contestId: number
  title: string | null
  at: string
  atMs: number
  /** JSON pointer into the answer. */
  pointer: string
}>

/** All plans of contests, soonest first. */
export function plansOf({ opens, closes }: Schedule): readonly ContestPlan[] {
  return [
    ...opens.map((one, index) => ({ ...one, what: 'opens', pointer: `/opens/${index}` }) as const),
    ...closes.map((one, index) => ({ ...one, what: 'closes', pointer: `/closes/${index}` }) as const),
  ].toSorted((a, b) => a.atMs - b.atMs)
}

/** Openings and closings in lines of the book, by day; null if nothing is planned. */
export function planBook(schedule: Schedule, open: OpenContests, view: View): Html | null {
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
    ${sectionHead('What opens and closes', html`<span>days in UTC</span>`)} ${book(lines, list)}
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
  return [{ as: 'day', key: `day ${day}`, when: shown(weekday), what: shown(date) }]
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
