import { isolateDirection, removeDirection } from '../../../protocol/foreign-text.ts'
import type { Contests, Schedule } from '../../../protocol/endpoints/contest-endpoints.ts'
import { chartPicture, clipped, sourceOf, themeOf } from '../../charts/chart-picture.ts'
import { plotOnPage } from '../../charts/chart-plot.ts'
import { type ChartSpan, spanExtent, spanPlot, type Spans } from '../../charts/chart-spans.ts'
import { contestName } from '../../markup/contest-name.ts'
import { askEndpoint } from '../../frame/linked-answers.ts'
import { type Html, html } from '../../markup/html.ts'
import { momentText } from '../../markup/moment-html.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'

/** Contests in the picture, so that it is legible on a phone. */
const DRAWN_MAX = 8
/** Open contests that are read, the newest. */
const OPEN_LIMIT = 1_000
/** Characters of a name that fit above a bar on a phone. The table has the whole name. */
const NAME_CHARS_MAX = 30

/** Open contests with their opening, since the schedule has only their planned close; null if there are none. */
export type OpenContests = LinkedAnswer<Contests> | null

/** Asks which contests are open, unless the schedule shows that none is. */
export async function askOpen(schedule: Schedule, view: View): Promise<OpenContests> {
  return schedule.closes.length > schedule.opens.length
    ? askEndpoint(view, 'contests', { query: `status=running&limit=${OPEN_LIMIT}` })
    : null
}

/** A contest from its actual or planned opening to its planned close. */
type DrawnContest = Readonly<{
  id: number
  title: string | null
  opensAt: string
  closesAt: string
  span: ChartSpan
  isOpen: boolean
}>

/** Timeline of the contests that have not closed, by planned close; null if there are none. */
export function timeline(schedule: Schedule, open: OpenContests): Html | null {
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

const PART = ' (only planned ones and the newest thousand open ones)'

/** Whether more contests are open than the page reads. */
function isPartOf(open: OpenContests): boolean {
  return open !== null && open.answer.next !== null
}

/** The timeline as a picture, empty if nothing is planned. */
export async function timelinePicture(schedule: Schedule, view: View): Promise<Html> {
  const open = await askOpen(schedule, view)
  const spans = spansOf(schedule, drawnContests(schedule, open))
  const { fromMs, toMs } = spanExtent(spans.spans, spans.nowMs)
  const days = [fromMs, toMs].map((ms) => new Date(ms).toISOString().slice(0, 10))
  const range =
    spans.spans.length === 0
      ? 'nothing is planned'
      : `${days.join(' to ')}; pale: planned${isPartOf(open) ? PART : ''}`
  return chartPicture(
    { title: spans.title, asOf: schedule.asOf, range, ...sourceOf(view) },
    [spanPlot(spans)],
    themeOf(view),
  )
}

function spansOf({ asOf }: Schedule, courses: readonly DrawnContest[]): Spans {
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
    // An open contest lasts until now at least, even if its planned close has passed.
    const toMs = isOpen ? Math.max(atMs, nowMs) : atMs
    const span: ChartSpan = { mark: `#${id}`, name, fromMs, beenMs: isOpen ? nowMs : fromMs, toMs }
    return [{ id, title, opensAt, closesAt, span, isOpen }]
  })
}
