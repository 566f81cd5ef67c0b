import type { EventWire } from '../../../protocol/event.ts'
import { boundOf, formatAt, parseAt } from '../../../protocol/moment.ts'
import type { ContestWire, EventsPage } from '../../../protocol/resources.ts'
import { amountHtml, countHtml, eventLink, isPositive } from '../../markup/amount-html.ts'
import type { LinkedAnswer } from '../../frame/linked-answers.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { momentOf } from '../../markup/moment-html.ts'
import type { View } from '../../frame/page.ts'

/** Events that changed a contest's status, and the answers that have them. */
type ContestTimeline = Readonly<{ steps: readonly Step[]; answers: readonly LinkedAnswer<EventsPage>[] }>
type Step = Readonly<{ event: EventWire; pointer: string }>

/** Asks for the events that changed a contest's status, at the moments that the contest names. */
export async function askTimeline(contest: ContestWire, view: View): Promise<ContestTimeline> {
  const { openedAt, closedAt, paidAt } = contest
  const answers: LinkedAnswer<EventsPage>[] = []
  for (const at of new Set([openedAt, closedAt, paidAt])) {
    const answer = at === null ? null : await eventsAt(at, contest, view)
    if (answer !== null) answers.push(answer)
  }
  const steps = answers.flatMap(({ answer: { events }, address }) =>
    events.map((event, index) => ({ event, pointer: `${address}#/events/${index}` })),
  )
  return { steps, answers }
}

/** Whether a contest was cancelled: it ended without prizes, and its stakes are refunded. */
export function isCancelled({ steps }: Pick<ContestTimeline, 'steps'>): boolean {
  return steps.some(({ event: { kind } }) => kind === 'cancelled')
}

/** Cancelled contests by id, each with the answer that shows it. A contest's own answer does not. */
export async function askCancelled(
  contests: readonly ContestWire[],
  view: View,
): Promise<ReadonlyMap<number, LinkedAnswer<EventsPage>>> {
  const cancelled = new Map<number, LinkedAnswer<EventsPage>>()
  for (const contest of contests) {
    const { closedAt, prizesOwed } = contest
    // A contest with owed prizes was not cancelled.
    if (closedAt === null || isPositive(prizesOwed)) continue
    const answer = await eventsAt(closedAt, contest, view)
    if (answer?.answer.events.some(({ kind }) => kind === 'cancelled') === true)
      cancelled.set(contest.id, answer)
  }
  return cancelled
}

async function eventsAt(
  at: string,
  { id }: ContestWire,
  view: View,
): Promise<LinkedAnswer<EventsPage> | null> {
  const from = parseAt(at)
  if (from === undefined) return null
  const query = `from=${at}&to=${formatAt(boundOf(from + 1))}&type=contest&contestId=${id}`
  return askEndpoint(view, 'events', { query })
}

/** List of a contest's states, each with the event that began it. */
export function timelineList({ steps, answers }: ContestTimeline, contest: ContestWire, view: View): Html {
  const { closedAt, paidAt } = contest
  return html`<h2>Timeline</h2>
    <ul class="timeline">
      <li data-at="/contest/opensAt /contest/closesAt">
        Planned from ${momentOf(contest.opensAt)} to ${momentOf(contest.closesAt)}
      </li>
      ${steps.map(({ event, pointer }) => stepOf(event, pointer))}
      ${closedAt !== null && paidAt === null ? html`<li class="none">Not paid in full yet</li>` : null}
    </ul>
    <p data-at="/contest/entries /contest/plays /contest/spentOnPlay">
      ${countHtml(contest.entries)} ${contest.entries === 1 ? 'entry' : 'entries'} and
      ${countHtml(contest.plays)} ${contest.plays === 1 ? 'play' : 'plays'},
      ${amountHtml(contest.spentOnPlay)} ${view.site.token} spent on them.
      ${
        view.paths.has('/events')
          ? html`<a href="/events?contestId=${contest.id}">Every event of this contest</a>.`
          : null
      }
    </p>
    ${answers.length === 0 ? null : jsonLinks(answers.map((answer, index) => [steps[index]?.event.kind ?? 'events', answer]))}`
}

const STEPS: Readonly<Record<string, string>> = {
  scheduled: 'Scheduled',
  rescheduled: 'Rescheduled',
  opened: 'Opened',
  closed: 'Closed',
  cancelled: 'Cancelled',
  paid: 'Paid in full',
}

function stepOf({ kind, at, seq }: EventWire, pointer: string): Html {
  return html`<li data-at="${pointer}/kind ${pointer}/at ${pointer}/seq">
    ${STEPS[kind] ?? kind} at ${momentOf(at)}, ${eventLink(seq)}
  </li>`
}
