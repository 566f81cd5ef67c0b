import type { EventWire } from '../../../protocol/event.ts'
import type { Witnesses } from '../../../protocol/endpoints/file-endpoints.ts'
import type { EventCorrections } from '../../../protocol/endpoints/event-endpoints.ts'
import { eventRows } from '../../../serve/api/answer-tables.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { EndpointPage, LinkedAnswer, View } from '../../frame/page.ts'
import { countHtml } from '../../markup/amount-html.ts'
import { type Html, html } from '../../markup/html.ts'
import { vouchersOf } from '../status/witness-line.ts'
import { askForContest } from './event-for.ts'
import { eventLineOf } from './event-line.ts'
import { askProof, type EventProof } from './event-proof.ts'
import { eventSheet, sheetTitle } from './event-sheet.ts'
import { eventName } from './event-names.ts'
import { plainText } from '../../markup/page-lead.ts'
import { grouped } from '../../markup/chart-scale.ts'
import { type LinkPreview, previewDate } from '../../preview/link-preview.ts'
import { drawableToken } from '../../preview/preview-font.ts'

/** `/events/{seq}`: a receipt of a payment, or a record of another event, and whether a later event corrected it. */
export const eventPage: EndpointPage<'event'> = {
  endpoint: 'event',
  asksMore: true,
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

const NBSP = '\u00A0'

/** Link preview of an event: what it records, its exact amount, and the event that cancelled it. */
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

/** Link to the proof that witnesses have cosigned; null for an event for which no quorum of them vouches. */
function witnessedProof({ seq }: EventWire, witnesses: LinkedAnswer<Witnesses>): Html | null {
  const { witnessed } = witnesses.answer
  if (witnessed === null || seq > witnessed.seq) return null
  return html`<p class="quiet">
    ${vouchersOf(witnesses)} for it:
    <a href="/api/v1/log/proof/${seq}?checkpoint=witnessed" download>save the proof that they have signed</a>.
  </p>`
}

/** Command that asks the blockchain about a transaction; null without one, and for a log that does not name its chain. */
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
