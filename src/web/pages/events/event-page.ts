import { eventPreview } from './event-preview.ts'
import type { EventWire } from '../../../protocol/event.ts'
import type { EventCorrections, EventDetails } from '../../../protocol/resources.ts'
import { amountHtml, eventLink } from '../../markup/amount-html.ts'
import { quotedText } from '../../markup/contest-name.ts'
import { eventSentence } from './event-sentence.ts'
import type { LinkedAnswer } from '../../frame/linked-answers.ts'
import { askEndpoint } from '../../frame/linked-answers.ts'
import type { Html, Part } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { addressAt } from '../../markup/site.ts'
import { eventRows } from '../../../serve/api/answer-tables.ts'
import { copyButton } from '../../frame/view-bar.ts'

/** `/events/{seq}`: one event, and whether a later one corrected it. */
export const eventPage: EndpointPage<'event'> = {
  endpoint: 'event',
  asksMore: true,
  title: ({ seq }) => `Event #${seq}`,
  csv: (event) => eventRows([event], null),
  preview: eventPreview,
  async render(event, view) {
    const segments = { seq: String(event.seq) }
    const details = await askEndpoint(view, 'eventDetails', { segments })
    const corrections = await askEndpoint(view, 'eventCorrections', { segments })
    return html`${bannerOf(event, corrections)}
      <p class="lead" data-at="${details.answer.details === null ? '#' : `# ${details.address}#/details`}">
        ${eventSentence(event, details.answer.details, view)}
      </p>
      ${notCorrected(corrections)} ${fieldsOf(event, view)} ${detailsOf(details)}
      ${neighbourLinks(event, corrections.answer, view)}`
  },
}

/** Banner of a corrected event; null for any other. */
function bannerOf({ kots }: EventWire, { answer, address }: LinkedAnswer<EventCorrections>): Html | null {
  const { correctedBy, restatedBy } = answer
  if (correctedBy === null) return null
  const what = kots === null ? 'it' : 'its amount'
  const replaced = restatedBy === null ? null : html` Replaced by event ${eventLink(restatedBy)}.`
  const pointers = `${address}#/correctedBy ${address}#/restatedBy`
  return html`<p class="banner warn" role="note" data-at="${pointers}">
    Corrected by event ${eventLink(correctedBy)}: ${what} counts no longer.${replaced}
    <a data-json href="${address}">JSON of its corrections</a>
  </p>`
}

function notCorrected({ answer, address }: LinkedAnswer<EventCorrections>): Html | null {
  if (answer.correctedBy !== null) return null
  return html`<p class="quiet" data-at="${address}#/asOf/seq">
    Not corrected up to event ${eventLink(answer.asOf.seq)}.
    <a data-json href="${address}">JSON of its corrections</a>
  </p>`
}

/** The eight fields of the event by name. */
function fieldsOf(event: EventWire, view: View): Html {
  const { seq, type, kind, at, atMs, contestId, kots, tx } = event
  const fields: readonly (readonly [name: string, value: Part])[] = [
    ['seq', seq],
    ['type', type],
    ['kind', kind],
    ['at', html`<time datetime="${at}" data-form="exact">${at}</time>`],
    ['atMs', atMs],
    ['contestId', contestId],
    ['kots', kots === null ? null : amountHtml(kots)],
    ['tx', tx === null ? null : html`<code class="id">${tx}</code> ${copyButton('Copy', { text: tx })}`],
  ]
  return html`<h2>Its eight fields</h2>
    <dl class="fields">
      ${fields.map(
        ([name, value]) =>
          html`<dt><code>${name}</code></dt>
            <dd data-at="/${name}">${value ?? html`<span class="none">null</span>`}</dd>`,
      )}
    </dl>
    ${tx === null ? null : html`<p><a href="/events?tx=${encodeURIComponent(tx)}">Every event of this transaction</a></p>`}
    ${tx === null ? null : explorersOf(tx, view)} ${tx === null ? null : chainCommand(tx, view)}`
}

/** Command that asks the blockchain about this transaction; null for a log that does not name its chain. */
function chainCommand(tx: string, { identity, site }: View): Html | null {
  const { chain, simulated } = identity
  if (chain === 'opaque') return null
  const invented = html`<p class="quiet">
    This log is simulated: its transactions are invented, and no real blockchain has them.
  </p>`
  return html`${simulated ? invented : null}
    <details data-chrome>
      <summary>Ask the blockchain yourself</summary>
      <p>
        This command reads the whole log and asks servers of your choice. It proves that the transaction
        exists, succeeded and is final, and that this log names it. With <code>--payer</code> and
        <code>--token</code> it also proves that the payer moved no less than the payouts say. It does not
        prove who received it.
      </p>
      <pre
        tabindex="0"
        role="region"
        aria-label="Command to ask the blockchain"
      ><code>daybook verify ${site.url} --chain ${chain}=https://rpc.example.org --tx ${tx}</code></pre>
    </details>`
}

function explorersOf(tx: string, { site }: View): Html | null {
  if (site.explorers.length === 0) return null
  const links = site.explorers.map(
    (explorer) => html`<li><a rel="noreferrer" href="${addressAt(explorer, tx)}">${explorer.host}</a></li>`,
  )
  return html`<p>See the transaction for yourself; these sites are not ours:</p>
    <ul>
      ${links}
    </ul>`
}

/** Details whose value is the seq of another event. */
const POINTERS: ReadonlySet<string> = new Set(['corrects', 'restates'])

function detailsOf({ answer: { details }, address }: LinkedAnswer<EventDetails>): Html {
  if (details === null) return html`<p class="quiet">This event has no details.</p>`
  return html`<h2>Details</h2>
    <dl class="fields">
      ${Object.entries(details).map(
        ([name, value]) =>
          html`<dt><code>${name}</code></dt>
            <dd data-at="${address}#/details/${name}">
              ${POINTERS.has(name) ? eventLink(Number(value)) : quotedText(String(value))}
            </dd>`,
      )}
    </dl>
    <p><a data-json href="${address}">JSON of the details</a></p>`
}

function neighbourLinks({ seq }: EventWire, { asOf }: EventCorrections, { paths }: View): Html {
  const next =
    seq < asOf.seq
      ? html`<a rel="next" href="/events/${seq + 1}">Event #${seq + 1}</a>`
      : html`<span>The next event appears here once it is published.</span>`
  return html`<nav aria-label="Neighbours" class="pager" data-chrome>
    ${seq > 1 ? html`<a rel="prev" href="/events/${seq - 1}">Event #${seq - 1}</a>` : null} ${next}
    ${paths.has('/verify') ? html`<a class="button" href="/verify?seq=${seq}">Verify this event</a>` : null}
  </nav>`
}
