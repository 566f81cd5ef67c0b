import type { EventWire } from '../../../protocol/event.ts'
import type { Contest } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { EventCorrections, EventDetails } from '../../../protocol/endpoints/event-endpoints.ts'
import { type EventType, isEventType } from '../../../protocol/rules.ts'
import { expressed } from '../../charts/share.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { copyButton } from '../../frame/view-bar.ts'
import { countHtml, eventLink, exactAmount } from '../../markup/amount-html.ts'
import { type Html, html, type Part } from '../../markup/html.ts'
import { onePaid } from '../../markup/kind-words.ts'
import { dayOf, exactMoment } from '../../markup/moment-html.ts'
import { addressAt, type Site } from '../../markup/site.ts'
import { whatFor } from './event-for.ts'
import { eventSentence } from './event-sentence.ts'
import type { EventProof } from './event-proof.ts'

/** Answers that a sheet shows besides the event. */
type SheetAnswers = Readonly<{
  details: LinkedAnswer<EventDetails>
  corrections: LinkedAnswer<EventCorrections>
  contest: LinkedAnswer<Contest> | null
  proof: LinkedAnswer<EventProof>
}>

const HEADINGS: Readonly<Record<EventType, string>> = {
  contest: 'Record of a contest',
  play: 'Record of play',
  pool: 'Record of a pool',
  prize: 'Record of prizes won',
  hold: 'Record of a review',
  payout: 'Receipt of a payment',
  expiry: 'Record of expired prizes',
  burn: 'Record of a burn',
  loyalty: 'Record of a loyalty reward',
  treasury: 'Record of the treasury',
  price: 'Price of the token',
  trade: 'Record of a trade',
  correction: 'Record of a correction',
}

/** Name of the record of an event: `Receipt of a payment`. */
export function sheetTitle(type: string): string {
  return isEventType(type) ? HEADINGS[type] : 'Record of an event'
}

/** The sheet of an event: a receipt that prints on one page. */
export function eventSheet(event: EventWire, answers: SheetAnswers, view: View): Html {
  const { details, corrections, contest } = answers
  const { seq, type, kind, at, tx } = event
  const isPaid = type === 'payout'
  const target = whatFor(event, contest, details, view)
  const restates = details.answer.details?.['restates']
  const said = html`<p class="lead">${eventSentence(event, details, view)}</p>`
  const rows: readonly (readonly [name: string, value: Part])[] = [
    ['What', isPaid ? null : said],
    ['Paid to', isPaid ? html`<span data-at="/kind">${onePaid(kind, true)}</span>` : null],
    [isPaid ? 'For' : 'Contest', target],
    ['Entered', html`<span data-at="/at">${exactMoment(at)} UTC</span>`],
    ['Transaction', tx === null ? null : transactionOf(tx, view.site)],
    ['Replaces', restates === undefined ? null : replaced(Number(restates), details.address)],
    ['Corrected', correctedBy(corrections)],
  ]
  const isVoid = corrections.answer.correctedBy !== null
  return html`<article class="receipt${isVoid ? ' void' : null}">
    ${bannerOf(event, corrections)}
    <header>
      <span class="mark">${view.site.name}</span>
      <p data-at="/seq /at"><b>No. ${countHtml(seq)}</b><br />${dayOf(at)}</p>
    </header>
    <h1>${sheetTitle(type)}</h1>
    ${amountOf(event, details, view.site)}
    <dl>
      ${rows.map(([name, value]) =>
        value === null
          ? null
          : html`<div>
              <dt>${name}</dt>
              <dd>${value}</dd>
            </div>`,
      )}
    </dl>
    ${placeInLog(event, answers.proof)}
  </article>`
}

/** Banner of a corrected event; null for any other. */
function bannerOf({ kots }: EventWire, { answer, address }: LinkedAnswer<EventCorrections>): Html | null {
  const { correctedBy: by, restatedBy } = answer
  if (by === null) return null
  const what = kots === null ? 'It' : 'Its amount'
  const instead = restatedBy === null ? null : html` Event ${eventLink(restatedBy)} replaces it.`
  return html`<p class="banner warn" role="note" data-at="${address}#/correctedBy ${address}#/restatedBy">
    <b>Cancelled by event ${eventLink(by)}.</b> ${what} no longer counts.${instead}
  </p>`
}

function correctedBy({ answer, address }: LinkedAnswer<EventCorrections>): Html {
  return answer.correctedBy === null
    ? html`<span data-at="${address}#/asOf/seq">Never, up to event ${eventLink(answer.asOf.seq)}</span>`
    : html`<span data-at="${address}#/correctedBy">By event ${eventLink(answer.correctedBy)}</span>`
}

function replaced(seq: number, address: string): Html {
  return html`<span data-at="${address}#/details/restates"
    >Event ${eventLink(seq)}, which was cancelled</span
  >`
}

/** The amount, or the price, with all decimals; null for an event without either. */
function amountOf(
  { kots }: EventWire,
  { answer, address }: LinkedAnswer<EventDetails>,
  site: Site,
): Html | null {
  const price = answer.details?.['price']
  if (kots === null && price === undefined) return null
  const [figure, unit, pointer] =
    kots === null ? [String(price), 'US dollars', `${address}#/details/price`] : [kots, site.token, '/kots']
  return html`<p class="sum" data-at="${pointer}">${exactAmount(figure)} <small>${unit}</small></p>`
}

/** A transaction in whole, its other events, and the explorers that show it. */
function transactionOf(tx: string, { explorers }: Site): Html {
  const links = explorers.map(
    (explorer, index) =>
      html`${index === 0 ? 'See it at ' : ', '}<a rel="noreferrer" href="${addressAt(explorer, tx)}"
          >${explorer.host}</a
        >`,
  )
  return html`<code class="id" data-at="/tx">${tx}</code>
    <small class="beside"
      >${copyButton('Copy', { text: tx })} <span>${links}</span>
      <a href="/events?tx=${encodeURIComponent(tx)}">Every event of this transaction</a></small
    >`
}

/** Place of the event in the signed log. */
function placeInLog({ seq }: EventWire, { answer, address }: LinkedAnswer<EventProof>): Html {
  const { hashes, origin, size, root } = answer
  const count = expressed(`count ${address}#/hashes`, String(hashes))
  const way =
    hashes === 0
      ? html`its own hash is the root`
      : html`${count} ${hashes === 1 ? 'hash leads' : 'hashes lead'} from this line to the root`
  return html`<p class="in-log">
    <b>In the signed log.</b>
    <span data-at="/seq ${address}#/size">Event ${countHtml(seq)} of ${countHtml(size)}</span>; ${way}, which
    is signed by <span data-at="${address}#/origin"><code>${origin}</code></span
    >. Root
    <code data-at="${address}#/root">${root}</code>
  </p>`
}
