import type { EventWire } from '../../../protocol/event.ts'
import type { Witnesses } from '../../../protocol/endpoints/file-endpoints.ts'
import type { Contest } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { EventCorrections, EventDetails } from '../../../protocol/endpoints/event-endpoints.ts'
import { eventRows } from '../../../serve/api/answer-tables.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { EndpointPage, LinkedAnswer, View } from '../../frame/page.ts'
import { countHtml, eventLink, exactAmount } from '../../markup/amount-html.ts'
import { type Html, html, type Part } from '../../markup/html.ts'
import { vouchersOf } from '../status/witness-line.ts'
import { eventName, eventSentence } from './event-sentence.ts'
import { plainText } from '../../markup/page-lead.ts'
import { grouped } from '../../markup/chart-scale.ts'
import { type LinkPreview, previewDate } from '../../preview/link-preview.ts'
import { drawableToken } from '../../preview/preview-font.ts'
import { facts } from '../../markup/book.ts'
import { contestTitleLink, quotedText } from '../../markup/contest-name.ts'
import { type EventType, isEventType } from '../../../protocol/rules.ts'
import { copyButton } from '../../frame/view-bar.ts'
import { onePaid } from '../../markup/kind-words.ts'
import { dayOf, exactMoment, momentOf } from '../../markup/moment-html.ts'
import { addressAt, type Site } from '../../markup/site.ts'
import { expressed } from '../../markup/derived.ts'
import { assert } from '../../../protocol/brand.ts'
import { readCheckpoint } from '../../../tlog/checkpoint.ts'
import { parseReceipt } from '../../../tlog/receipt.ts'
import { formatBase64, formatUtf8 } from '../../../tlog/note.ts'

/** `/events/{seq}`: receipt of a payment or record of another event, and whether a later event corrected it. */
export const eventPage: EndpointPage<'event'> = {
  endpoint: 'event',
  title: ({ seq, type }) => `${type === 'payout' ? 'Receipt' : 'Event'} ${seq.toLocaleString('en')}`,
  csv: (event) => eventRows([event], null),
  preview: previewOf,
  // The sheet has the heading.
  heading: () => html``,
  async render(event, view) {
    const segments = { seq: String(event.seq) }
    const details = await askEndpoint(view, 'eventDetails', { segments })
    const corrections = await askEndpoint(view, 'eventCorrections', { segments })
    const contest = await askForContest(event, view)
    const proof = await askProof(view, event.seq)
    const witnesses = await askEndpoint(view, 'logWitnesses')
    const sheet = eventSheet(event, { details, corrections, contest, proof }, view)
    return html`<div class="two">
      <section>${sheet}</section>
      <aside>
        ${checkLinks(event, proof)} ${witnessedProof(event, witnesses)}
        <h3>What this does not prove</h3>
        <p class="quiet">
          ${event.tx === null ? null : 'That the money arrived: look up the transaction on the blockchain. '}That
          the event is true: the check proves only that it was published then, and has not changed since.
        </p>
        ${chainCommand(event.tx, view)} ${eventLineOf(event, details, view)}
        ${jsonLinks([
          ['its corrections', corrections],
          ['its details', details],
          ...(witnesses.answer.witnessed === null ? [] : [['its witnesses', witnesses] as const]),
          ...(contest === null ? [] : [['its contest', contest] as const]),
        ])}
        ${neighbourLinks(event, corrections.answer)}
      </aside>
    </div>`
  },
}

/** Answers that a sheet shows besides the event. */
type SheetAnswers = Readonly<{
  details: LinkedAnswer<EventDetails>
  corrections: LinkedAnswer<EventCorrections>
  contest: LinkedAnswer<Contest> | null
  proof: LinkedAnswer<EventProof>
}>

/** Sheet of an event: a receipt that prints on one page. */
function eventSheet(event: EventWire, answers: SheetAnswers, view: View): Html {
  const { details, corrections, contest } = answers
  const { seq, type, kind, at, tx } = event
  const isPaid = type === 'payout'
  const target = whatFor(event, contest, details)
  const restates = details.answer.details?.['restates']
  const said = html`<p class="lead">${eventSentence(event, details, view)}</p>`
  const rows: readonly (readonly [name: string, value: Part])[] = [
    ['What', isPaid ? null : said],
    ['Paid to', isPaid ? html`<span data-at="/kind">${onePaid(kind, true)}</span>` : null],
    [isPaid ? 'For' : 'Contest', target],
    ['Entered', html`<span data-at="/at">${exactMoment(at)} UTC</span>`],
    ['Transaction', tx === null ? null : transactionOf(tx, view.site)],
    ['Replaces', restates === undefined ? null : replaced(Number(restates), details.address)],
    ['Corrected', correctionOf(corrections)],
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

const HEADINGS: Readonly<Record<EventType, string>> = {
  contest: 'Record of a contest',
  play: 'Record of play',
  pool: 'Record of a pool',
  prize: 'Record of prizes won',
  hold: 'Record of a review',
  payout: 'Receipt of a payment',
  expiry: 'Record of prizes never claimed',
  burn: 'Record of a burn',
  loyalty: 'Record of a loyalty reward',
  treasury: 'Record of the treasury',
  price: 'Price of the token',
  trade: 'Record of a trade',
  correction: 'Record of a correction',
}

/** Name of the record of an event: `Receipt of a payment`. */
function sheetTitle(type: string): string {
  return isEventType(type) ? HEADINGS[type] : 'Record of an event'
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

/** Amount or price with all decimals; null for an event without either. */
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

/** Whole transaction id, its other events, and explorers that show it. */
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

function correctionOf({ answer, address }: LinkedAnswer<EventCorrections>): Html {
  return answer.correctedBy === null
    ? html`<span data-at="${address}#/asOf/seq">Never, up to event ${eventLink(answer.asOf.seq)}</span>`
    : html`<span data-at="${address}#/correctedBy">By event ${eventLink(answer.correctedBy)}</span>`
}

function replaced(seq: number, address: string): Html {
  return html`<span data-at="${address}#/details/restates"
    >Event ${eventLink(seq)}, which was cancelled</span
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

/** Links to the check of the event in the browser, and to its proof. */
function checkLinks({ seq, type }: EventWire, { address }: LinkedAnswer<EventProof>): Html {
  return html`<h2>Do not take our word</h2>
    <p class="quiet">
      Your browser can compute the path from this line to the signed root, and check the signature.
    </p>
    <p class="buttons">
      <a href="/verify?seq=${seq}" class="button main"
        >Check this ${type === 'payout' ? 'receipt' : 'event'}</a
      >
      <a data-proof href="${address}" class="button" download>Save the proof</a>
    </p>`
}

/** Link to the proof that witnesses have cosigned; null for an event for which no quorum vouches. */
function witnessedProof({ seq }: EventWire, witnesses: LinkedAnswer<Witnesses>): Html | null {
  const { witnessed } = witnesses.answer
  if (witnessed === null || seq > witnessed.seq) return null
  return html`<p class="quiet">
    ${vouchersOf(witnesses)} for it:
    <a href="/api/v1/log/proof/${seq}?checkpoint=witnessed" download>save the proof that they have signed</a>.
  </p>`
}

/**
 * Command that asks the blockchain about a transaction; null without one, and for a log that does not name its chain.
 */
function chainCommand(tx: string | null, { identity, site }: View): Html | null {
  const { chain, simulated } = identity
  if (tx === null || chain === 'opaque') return null
  const invented = html`<p class="quiet">
    This log is simulated: its transactions are invented, and no real blockchain has them.
  </p>`
  return html`${simulated ? invented : null}
    <details data-chrome>
      <summary>Ask the blockchain yourself</summary>
      <p class="quiet">
        This command of the program reads the whole log and asks servers of your choice. Run it in a clone. It
        proves that the transaction exists, succeeded and is final, and that this log names it. With
        <code>--payer</code> and <code>--token</code> it also proves that the payer moved no less than the
        payouts say. It does not prove who received it.
      </p>
      <pre
        tabindex="0"
        role="region"
        aria-label="Command to ask the blockchain"
      ><code>npm run -s daybook -- verify ${site.url} --chain ${chain}=https://rpc.example.org --tx ${tx}</code></pre>
    </details>`
}

/** Line of an event: its fields and details by the names of the API. A payment's sentence is here. */
function eventLineOf(event: EventWire, answer: LinkedAnswer<EventDetails>, view: View): Html {
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

/** Details whose value is the seq of another event. */
const POINTERS: ReadonlySet<string> = new Set(['corrects', 'restates'])

function row(name: string, value: Part, pointer: string): readonly [Html, Html] {
  const shown = value ?? html`<span class="none">null</span>`
  return [html`<code>${name}</code>`, html`<span data-at="${pointer}">${shown}</span>`]
}

function neighbourLinks({ seq }: EventWire, { asOf }: EventCorrections): Html {
  const named = (other: number): Html => html`<span class="hidden">Event</span> ${countHtml(other)}`
  return html`<nav aria-label="Neighbours" class="buttons" data-chrome>
    ${seq > 1 ? html`<a class="button" rel="prev" href="/events/${seq - 1}">← ${named(seq - 1)}</a>` : null}
    ${
      seq < asOf.seq
        ? html`<a class="button" rel="next" href="/events/${seq + 1}">${named(seq + 1)} →</a>`
        : html`<span class="quiet">It was the newest event when this page was made.</span>`
    }
  </nav>`
}

/** Content of an event's proof, unchecked: its hashes, and the signed size and root. */
type EventProof = Readonly<{
  hashes: number
  origin: string
  size: number
  /** The root in base64. */
  root: string
}>

/** Asks for the proof of an event against the newest checkpoint. */
async function askProof({ ask }: Pick<View, 'ask'>, seq: number): Promise<LinkedAnswer<EventProof>> {
  const reply = await ask('logProof', { segments: { seq: String(seq) } })
  assert(reply.ok, 'an event that is shown has a proof')
  const receipt = parseReceipt(formatUtf8(reply.value.answer))
  assert(receipt.ok, 'the service makes proofs in their form')
  const read = readCheckpoint(formatUtf8(receipt.value.checkpoint))
  assert(read.ok, 'a proof ends with a checkpoint')
  const { origin, size, root } = read.value.checkpoint
  const hashes = receipt.value.proof.length
  return {
    address: reply.value.address,
    answer: { hashes, origin, size, root: formatBase64(root) },
  }
}

const NBSP = '\u00A0'

/** Link preview of an event: its record, its exact amount, and the event that cancelled it. */
async function previewOf({ seq, type, kind, kots, at }: EventWire, view: View): Promise<LinkPreview> {
  const { answer } = await askEndpoint(view, 'eventCorrections', { segments: { seq: String(seq) } })
  const { correctedBy } = answer
  const [whole = '', decimals = ''] = (kots ?? '').split('.')
  const cancelled = correctedBy === null ? '' : `, cancelled by event${NBSP}${grouped(String(correctedBy))}`
  return {
    headline: `${sheetTitle(type)}, No.${NBSP}${grouped(String(seq))}${cancelled}`,
    figure:
      kots === null
        ? plainText(eventName(type, kind))
        : `${grouped(whole)}.${decimals} ${drawableToken(view.site)}`,
    date: previewDate(at),
  }
}

/** Contest of an event; null for an event without one. */
async function askForContest({ contestId }: EventWire, { ask }: View): Promise<LinkedAnswer<Contest> | null> {
  if (contestId === null) return null
  const reply = await ask('contest', { segments: { id: String(contestId) } })
  return reply.ok ? reply.value : null
}

/** Purpose of an event: its contest with its state, or the month of a loyalty reward; null for any other. */
function whatFor(
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
