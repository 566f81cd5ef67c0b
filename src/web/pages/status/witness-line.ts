import { nounOf } from '../../../protocol/amount.ts'
import type { Witnesses } from '../../../protocol/endpoints/file-endpoints.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { countHtml } from '../../markup/amount-html.ts'
import { type Html, html } from '../../markup/html.ts'
import { clockMoment } from '../../markup/moment-html.ts'
import { expressed } from '../../markup/derived.ts'

/** Sentence part such as "2 of 3 witnesses vouch"; null for a log without a witnessed checkpoint. */
export function vouchersOf({ address, answer }: LinkedAnswer<Witnesses>): Html | null {
  const { witnesses, witnessed } = answer
  if (witnessed === null) return null
  const [some, all] = [witnessed.cosigners.length, new Set(witnesses.map(({ name }) => name)).size]
  const vouching = expressed(`count ${address}#/witnessed/cosigners`, String(some))
  const asked = expressed(`distinct ${address}#/witnesses/*/name`, String(all))
  return html`${vouching} of ${asked} ${all === 1 ? 'witness' : 'witnesses'}
  ${some === 1 ? 'vouches' : 'vouch'}`
}

/** Fact about the witnesses: up to which event and since when they vouch; null for a log without witnesses. */
export function witnessFact(witnesses: LinkedAnswer<Witnesses>, head: number, view: View): Html | null {
  const { address, answer } = witnesses
  const { quorum, witnessed } = answer
  if (quorum === null) return null
  const link = (words: Html): Html => html`<a data-json href="${address}">${words}</a>`
  if (witnessed === null) return link(html`No quorum vouches yet`)
  const { seq, at } = witnessed
  return html`${link(html`${vouchersOf(witnesses)}`)} for
    <span data-at="${address}#/witnessed/seq /head/seq"
      >${countHtml(seq)} of ${countHtml(head)} ${nounOf(head, 'event')}</span
    >, as of <span data-at="${address}#/witnessed/at">${clockMoment(at, view)}</span>`
}
