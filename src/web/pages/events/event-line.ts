import type { EventWire } from '../../../protocol/event.ts'
import type { EventDetails } from '../../../protocol/endpoints/event-endpoints.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { eventLink, exactAmount } from '../../markup/amount-html.ts'
import { facts } from '../../markup/book.ts'
import { quotedText } from '../../markup/contest-name.ts'
import { type Html, html, type Part } from '../../markup/html.ts'
import { eventSentence } from './event-sentence.ts'

/** Details whose value is the seq of another event. */
const POINTERS: ReadonlySet<string> = new Set(['corrects', 'restates'])

/** The line of an event: its fields and details by the names of the API. A payment's sentence stands here. */
export function eventLineOf(event: EventWire, answer: LinkedAnswer<EventDetails>, view: View): Html {
  const { details } = answer.answer
  const { seq, type, kind, at, atMs, contestId, kots, tx } = event
  const fields: readonly (readonly [name: string, value: Part])[] = [
    ['seq', seq],
    ['type', type],
    ['kind', kind],
    ['at', html`<time datetime="${at}" data-form="iso">${at}</time>`],
    ['atMs', atMs],
    ['contestId', contestId],
    ['kots', kots === null ? null : exactAmount(kots)],
    ['tx', tx === null ? null : html`<span class="id cut">${tx}</span>`],
  ]
  const rows = fields.map(([name, value]) => row(name, value, `/${name}`))
  const more = Object.entries(details ?? {}).map(([name, value]) =>
    row(
      name,
      POINTERS.has(name) ? eventLink(Number(value)) : quotedText(String(value)),
      `${answer.address}#/details/${name}`,
    ),
  )
  const said = type === 'payout' ? html`<p class="lead">${eventSentence(event, answer, view)}</p>` : null
  return html`<h3>The line itself</h3>
    ${said} ${facts([...rows, ...more])}`
}

function row(name: string, value: Part, pointer: string): readonly [Html, Html] {
  const shown = value ?? html`<span class="none">null</span>`
  return [html`<code>${name}</code>`, html`<span data-at="${pointer}">${shown}</span>`]
}
