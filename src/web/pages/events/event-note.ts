import type { EventsPage } from '../../../protocol/endpoints/event-endpoints.ts'
import { eventLink, priceHtml } from '../../markup/amount-html.ts'
import { quotedText } from '../../markup/contest-name.ts'
import { askEndpoint } from '../../frame/linked-answers.ts'
import { type Html, html } from '../../markup/html.ts'
import { momentOf } from '../../markup/moment-html.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'

/** Returns the page's own answer if it has details. Otherwise requests its first `rows` events again with details. */
export async function askDetails(
  answer: EventsPage,
  rows: number,
  view: View,
): Promise<LinkedAnswer<EventsPage>> {
  if (answer.details !== undefined) return { address: '', answer }
  const { after = 0, before } = answer.page
  // The resolved bound keeps the range even if events were published since the first request.
  const bound = before === undefined ? { after: String(after) } : { before: String(before) }
  const query = view.query.format({ ...bound, limit: String(rows), details: '1' }).slice(1)
  return askEndpoint(view, 'events', { query })
}

/** Line below an event's type with its price, title, planned times, corrected event or reason; null without any. */
export function eventNote(
  seq: number,
  { answer: { details }, address }: LinkedAnswer<EventsPage>,
): Html | null {
  const { price, title, opensAt, closesAt, corrects, restates, reason } = details?.[seq] ?? {}
  const parts = [
    price === undefined ? null : html`${priceHtml(String(price))} US dollars`,
    title === undefined ? null : html`“${quotedText(String(title))}”`,
    opensAt === undefined ? null : html`opens ${momentOf(String(opensAt))}`,
    closesAt === undefined ? null : html`closes ${momentOf(String(closesAt))}`,
    corrects === undefined ? null : html`cancels ${eventLink(Number(corrects))}`,
    restates === undefined ? null : html`replaces ${eventLink(Number(restates))}`,
    reason === undefined ? null : html`reason: “${quotedText(String(reason))}”`,
  ].filter((part) => part !== null)
  if (parts.length === 0) return null
  const listed = parts.map((part, index) => (index === 0 ? part : html`, ${part}`))
  return html`<div class="quiet" data-at="${address}#/details/${seq}">${listed}</div>`
}
