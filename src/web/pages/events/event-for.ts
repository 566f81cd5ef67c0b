import type { EventWire } from '../../../protocol/event.ts'
import type { Contest } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { EventDetails } from '../../../protocol/endpoints/event-endpoints.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { contestTitleLink } from '../../markup/contest-name.ts'
import { type Html, html } from '../../markup/html.ts'
import { momentOf } from '../../markup/moment-html.ts'

/** The contest of an event; null for an event of none. */
export async function askForContest(
  { contestId }: EventWire,
  { ask }: View,
): Promise<LinkedAnswer<Contest> | null> {
  if (contestId === null) return null
  const reply = await ask('contest', { segments: { id: String(contestId) } })
  return reply.ok ? reply.value : null
}

/** Purpose of an event: its contest with its state, or the month of a loyalty reward; null for any other. */
export function whatFor(
  { contestId }: EventWire,
  contest: LinkedAnswer<Contest> | null,
  details: LinkedAnswer<EventDetails>,
): Html | null {
  if (contest !== null) return contestOf(contest)
  if (contestId !== null) return html`<span data-at="/contestId">Contest ${contestId}</span>`
  const month = details.answer.details?.['month']
  if (month === undefined) return null
  return html`<span data-at="${details.address}#/details/month"
    ><a href="/loyalty/runs">The loyalty reward of ${String(month)}</a></span
  >`
}

function contestOf({ answer, address }: LinkedAnswer<Contest>): Html {
  const { id, title } = answer
  const [said, field] = stateOf(answer)
  const pointers = [title === null ? '' : 'title', 'id', field].filter((name) => name !== '')
  const named = contestTitleLink(id, title)
  const number = title === null ? null : html`Contest ${id}, `
  return html`<span data-at="${pointers.map((name) => `${address}#/${name}`).join(' ')}"
    >${named}<small>${number}${said}</small></span
  >`
}

/** Last step of a contest, and the field of its moment; no field for a contest without times. */
function stateOf(contest: Contest): readonly [said: Html, field: string] {
  const { opensAt, openedAt, closedAt, cancelledAt } = contest
  if (cancelledAt !== null) return [html`cancelled ${momentOf(cancelledAt)}`, 'cancelledAt']
  if (closedAt !== null) return [html`closed ${momentOf(closedAt)}`, 'closedAt']
  if (openedAt !== null) return [html`opened ${momentOf(openedAt)}`, 'openedAt']
  return opensAt === null ? [html`to come`, ''] : [html`opens ${momentOf(opensAt)}`, 'opensAt']
}
