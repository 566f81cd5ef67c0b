import type { EventWire } from '../../../protocol/event.ts'
import type { Contest } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { EventsPage } from '../../../protocol/endpoints/event-endpoints.ts'
import { askEndpoint } from '../../frame/linked-answers.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { amountOrNone, eventLink } from '../../markup/amount-html.ts'
import { book, type BookLine } from '../../markup/book.ts'
import { quotedText } from '../../markup/contest-name.ts'
import { type Html, html } from '../../markup/html.ts'
import { onePaid } from '../../markup/kind-words.ts'
import { nearMoment, untilMoment } from '../../markup/moment-html.ts'

/** Contests by id, for their titles. */
type ContestAnswers = ReadonlyMap<number, LinkedAnswer<Contest>>

/** Requests the contests of these events, each once. */
export async function askTitles(events: readonly EventWire[], view: View): Promise<ContestAnswers> {
  const ids = new Set(events.flatMap(({ contestId }) => (contestId === null ? [] : [contestId])))
  const asked = [...ids].map(
    async (id) => [id, await askEndpoint(view, 'contest', { segments: { id: String(id) } })] as const,
  )
  return new Map(await Promise.all(asked))
}

/** Payments as lines of the book, the newest first. */
export function newestPayments(
  { answer, address }: LinkedAnswer<EventsPage>,
  contests: ContestAnswers,
  view: View,
): Html {
  if (answer.events.length === 0) return html`<p>Nothing has been paid yet.</p>`
  const lines = answer.events.map(({ seq, kind, at, contestId, kots }): BookLine => ({
    when: nearMoment(at, view),
    what: html`Paid to ${onePaid(kind)}`,
    small: html`${contestOf(contestId, contests)} event ${eventLink(seq)} · ${untilMoment(at, view)}`,
    amount: amountOrNone(kots, ''),
    key: String(seq),
  }))
  return book(lines, { list: `${address}#/events`, fields: 'at kind contestId? seq at kots' })
}

function contestOf(id: number | null, contests: ContestAnswers): Html | null {
  if (id === null) return null
  const found = contests.get(id)
  const title = found?.answer.title ?? null
  const name =
    title === null
      ? html`Contest ${id}`
      : html`<span data-at="${found?.address ?? ''}#/title">${quotedText(title)}</span>`
  return html`<a href="/contests/${id}/ledger">${name}</a> ·`
}
