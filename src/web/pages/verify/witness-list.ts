import { nounOf } from '../../../protocol/amount.ts'
import type { WITNESS_STATES } from '../../../protocol/enumerations.ts'
import type { Witnesses } from '../../../protocol/status-resources.ts'
import type { LinkedAnswer } from '../../frame/linked-answers.ts'
import type { View } from '../../frame/page.ts'
import { countHtml } from '../../markup/amount-html.ts'
import { type Html, html } from '../../markup/html.ts'
import { clockMoment } from '../../markup/moment-html.ts'
import { vouchersOf } from '../status/witness-line.ts'

const STATES: Readonly<Record<(typeof WITNESS_STATES)[number], string>> = {
  cosigning: 'signs',
  silent: 'does not answer',
  refusing: 'refuses to sign',
  unasked: 'not asked yet',
}

/** Witnesses by this server: their names and states, and since when a quorum vouches. By itself the list proves little. */
export function witnessesOf(view: View, witnesses: LinkedAnswer<Witnesses>): Html {
  const heading = html`<h3 id="witnesses">Who else vouches for it?</h3>`
  const { address, answer } = witnesses
  const { quorum, witnessed } = answer
  const about = html`<a href="/about#witness">What witnesses are</a>`
  if (quorum === null)
    return html`${heading}
      <p>
        This log has no witnesses: only its operator says that every reader is shown the same events.
        ${about}.
      </p>`
  const so =
    witnessed === null
      ? html`<p>No quorum of its witnesses vouches for the log yet. ${about}.</p>`
      : html`<p>
          ${vouchersOf(witnesses)} for
          <span data-at="${address}#/witnessed/seq">${countHtml(witnessed.seq)}</span>
          ${nounOf(witnessed.seq, 'event')}, as of
          <span data-at="${address}#/witnessed/at">${clockMoment(witnessed.at, view)}</span>. ${about}.
        </p>`
  return html`${heading} ${so}
    <ul data-list="${address}#/witnesses" data-fields="name state seq at">
      ${answer.witnesses.map(
        ({ name, state, seq, at }) =>
          html`<li>
            <code class="id">${name}</code> <span data-state="${state}">${STATES[state]}</span>${
              seq === null || at === null
                ? null
                : html`, last ${countHtml(seq)} ${nounOf(seq, 'event')}, ${clockMoment(at, view)}`
            }
          </li>`,
      )}
    </ul>
    <p>
      <span data-at="${address}#/quorum">${countHtml(quorum)}</span> must agree. This is the log’s own list.
      Choose witnesses whom you trust, and get their keys from them.
    </p>`
}
