import type { EventWire } from '../../../protocol/event.ts'
import { boundOf, formatAt, parseAt } from '../../../protocol/moment.ts'
import type { ContestWire, EventsPage } from '../../../protocol/resources.ts'
import { amountHtml, countHtml, eventLink } from '../../markup/amount-html.ts'
import type { LinkedAnswer } from '../../frame/linked-answers.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { momentOf } from '../../markup/moment-html.ts'
import type { View } from '../../frame/page.ts'

/** The events that moved a contest from state to state, and the answers that they are from. */
export type Course = Readonly<{ steps: readonly Step[]; answers: readonly LinkedAnswer<EventsPage>[] }>
type Step = Readonly<{ event: EventWire; pointer: string }>

/** Asks which events moved a contest: the contest says when, the log what. */
export async function courseOf(contest: ContestWire, view: View): Promise<Course> {
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

/** Whether a contest ended without prizes, its stakes given back. */
export function isCancelled({ steps }: Pick<Course, 'steps'>): boolean {
  return steps.some(({ event: { kind } }) => kind === 'cancelled')
}

/** Which of some contests were cancelled, each with the answer that says so. A contest alone does not say it. */
export async function cancelledAmong(
  contests: readonly ContestWire[],
  view: View,
): Promise<ReadonlyMap<number, LinkedAnswer<EventsPage>>> {
  const cancelled = new Map<number, LinkedAnswer<EventsPage>>()
  for (const contest of contests) {
    const { closedAt, prizesOwed } = contest
    // One in which something was won was not: nobody need be asked.
    if (closedAt === null || /[1-9]/.test(prizesOwed)) continue
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

/** Each state with the event that began it. */
export function timelineOf({ steps, answers }: Course, contest: ContestWire, view: View): Html {
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
