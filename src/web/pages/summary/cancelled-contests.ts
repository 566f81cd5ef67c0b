import type { EventsPage } from '../../../protocol/endpoints/event-endpoints.ts'
import type { Summary } from '../../../protocol/endpoints/figure-endpoints.ts'
import { expressed } from '../../charts/share.ts'
import { askEndpoint } from '../../frame/linked-answers.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { PAGE_ROWS_MAX } from '../../frame/page-rows.ts'
import { type Html, html } from '../../markup/html.ts'

/** Cancellations that a summary counts, newest first; null if no contest has closed or been cancelled. */
export async function askCancellations(
  { asOf, contests }: Summary,
  view: View,
): Promise<LinkedAnswer<EventsPage> | null> {
  if (contests.paying + contests.paid === 0) return null
  const range = `order=desc&before=${asOf.seq + 1}&limit=${PAGE_ROWS_MAX}`
  return askEndpoint(view, 'events', { query: `type=contest&kind=cancelled&${range}` })
}

/** Whether a contest was cancelled. */
export function hasCancelled(cancelled: LinkedAnswer<EventsPage> | null): boolean {
  return cancelled !== null && cancelled.answer.events.length > 0
}

/** Sentence below the headline: how many closed contests were cancelled; null for none. */
export function cancelledNote(
  { contests }: Summary,
  cancelled: LinkedAnswer<EventsPage> | null,
): Html | null {
  if (cancelled === null || !hasCancelled(cancelled)) return null
  // The headline says it of the only one.
  if (contests.paying + contests.paid === 1) return null
  const { address, answer } = cancelled
  const count = answer.events.length
  // Not "of them": the headline may speak of a part of the closed contests.
  const some = answer.page.hasMore
    ? html`Some closed contests were cancelled`
    : html`${expressed(`count ${address}#/events`, String(count))} closed
      ${count === 1 ? 'contest was' : 'contests were'} cancelled`
  return html`<p>${some}: <a href="/about#closed">a cancelled contest gives its pool back</a>.</p>`
}
