import { isolated, undirected } from '../../../protocol/direction.ts'
import type { Contests, Schedule } from '../../../protocol/resources.ts'
import { chartPicture, clipped, sourceOf, themeOf } from '../../charts/chart-picture.ts'
import { legend, plotOnPage } from '../../charts/chart-plot.ts'
import type { ChartSpan, Spans } from '../../charts/chart-spans.ts'
import { spanExtent, spanPlot } from '../../charts/chart-spans.ts'
import { contestName } from '../../markup/contest-name.ts'
import type { LinkedAnswer } from '../../frame/linked-answers.ts'
import { askEndpoint } from '../../frame/linked-answers.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { momentText } from '../../markup/moment-html.ts'
import type { View } from '../../frame/page.ts'

/** Contests that are drawn: more rows could not be read on a phone. */
const DRAWN_MAX = 8
/** Contests that are open that are read, the newest. */
const OPEN_READ = 1_000
/** Characters of a name that have room above a bar on a phone; the table has it whole. */
const NAME_CHARS_MAX = 34

/** The contests that are open, each with when it was opened: a schedule says only when they close. */
export type Open = LinkedAnswer<Contests> | null

/** Asks which contests are open, where any of those that are planned to close may be. */
export async function askOpen(schedule: Schedule, view: View): Promise<Open> {
  return schedule.closes.length > schedule.opens.length
    ? askEndpoint(view, 'contests', { query: `status=running&limit=${OPEN_READ}` })
    : null
}

/** A contest from its opening to its closing, as it was and as it is planned. */
type Course = Readonly<{
  id: number
  title: string | null
  opensAt: string
  closesAt: string
  span: ChartSpan
  isOpen: boolean
}>

/** Each contest that is not over, those first that are planned to close first; null where there is none. */
export function timeline(schedule: Schedule, open: Open): Html | null {
  const courses = coursesOf(schedule, open)
  if (courses.length === 0) return null
  const cut = schedule.closes.length > courses.length
  return html`<figure class="chart">
    <figcaption>
      Each contest from its opening to its
      closing${cut ? (isPartOf(open) ? PART : ', of all those that are planned to close first') : null}. The
      upright line stands at the last event.
    </figcaption>
    ${legend([{ name: 'Open so far', style: 1 }], true, 'planned')}
    ${plotOnPage(spanPlot(spansOf(schedule, courses)))}
  </figure>`
}

const PART = ', of those that are planned and the newest thousand that are open'

/** Whether more contests are open than were read. */
function isPartOf(open: Open): boolean {
  return open !== null && open.answer.next !== null
}

/** The same as a picture; an empty one where nothing is planned. */
export async function timelinePicture(schedule: Schedule, view: View): Promise<Html> {
  const open = await askOpen(schedule, view)
  const spans = spansOf(schedule, coursesOf(schedule, open))
  const { fromMs, toMs } = spanExtent(spans.spans, spans.nowMs)
  const days = [fromMs, toMs].map((ms) => new Date(ms).toISOString().slice(0, 10))
  const range =
    spans.spans.length === 0
      ? 'nothing is planned'
      : `${days.join(' to ')}; hatched: planned${isPartOf(open) ? PART : ''}`
  return chartPicture(
    { title: spans.title, asOf: schedule.asOf, range, ...sourceOf(view) },
    [{ plot: spanPlot(spans), lines: spans.spans.length === 0 ? [] : [{ name: 'Open so far', style: 1 }] }],
    themeOf(view),
  )
}

function spansOf({ asOf }: Schedule, courses: readonly Course[]): Spans {
  const described = courses.map(
    ({ id, title, opensAt, closesAt, isOpen }) =>
      `${contestName(id, title)}: ${isOpen ? 'open since' : 'planned to open at'} ${momentText(opensAt)}, planned to close at ${momentText(closesAt)}.`,
  )
  return {
    id: 'timeline',
    title: 'Contests from opening to closing',
    description: described.length === 0 ? 'No contest is open or planned.' : described.join(' '),
    nowMs: asOf.atMs ?? 0,
    spans: courses.map(({ span }) => span),
  }
}

function coursesOf({ asOf, opens, closes }: Schedule, open: Open): readonly Course[] {
  const planned = new Map(opens.map((one) => [one.contestId, one]))
  const opened = new Map(open?.answer.contests.map((one) => [one.id, one]))
  const nowMs = asOf.atMs ?? 0
  const known = closes.filter(({ contestId }) => opened.has(contestId) || planned.has(contestId))
  return known.slice(0, DRAWN_MAX).flatMap(({ contestId: id, title, at: closesAt, atMs }): Course[] => {
    const { openedAt = null, openedAtMs = null } = opened.get(id) ?? {}
    const plan = planned.get(id)
    const isOpen = openedAt !== null
    const opensAt = openedAt ?? plan?.at
    const fromMs = openedAtMs ?? plan?.atMs
    if (opensAt === undefined || fromMs === undefined) return []
    const name = title === null ? contestName(id, null) : isolated(clipped(undirected(title), NAME_CHARS_MAX))
    // One that is open goes on, also when the moment at which it was to close has passed.
    const toMs = isOpen ? Math.max(atMs, nowMs) : atMs
    const span: ChartSpan = { mark: `#${id}`, name, fromMs, beenMs: isOpen ? nowMs : fromMs, toMs }
    return [{ id, title, opensAt, closesAt, span, isOpen }]
  })
}
