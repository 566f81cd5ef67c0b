import { type Html, html } from '../../markup/html.ts'
import type { Explorer } from '../../markup/site.ts'

type FormSettings = Readonly<{
  /** Event in the event field; null for none. If the address names it, its check begins by itself, with the result first. */
  seq: number | null
  isAsked: boolean
  explorers: readonly Explorer[]
  /** Path of the worker's script; null in the saved verifier, which contains it. */
  worker: string | null
  /** Log address for the saved verifier, which asks for it; null on a page of the log itself. */
  base: string | null
  /** Whether the worker can ask a blockchain. */
  asksChain: boolean
  /** Content for browsers without scripts. */
  otherwise: Html
}>

/** Form that checks a log, and the list of its steps. It is the same on the page and in the saved verifier. */
export function verifyForm(settings: FormSettings): Html {
  const { seq, isAsked, explorers, worker, base, asksChain, otherwise } = settings
  const templates = JSON.stringify(explorers.map(({ template }) => template))
  return html`<noscript>${otherwise}</noscript>
    <form
      data-verify="${worker ?? ''}"
      data-explorers="${templates}"
      ${isAsked ? html`data-begins` : null}
      hidden
    >
      ${isAsked ? RESULT : null}
      ${base === null ? null : textField('base', 'Address of the log', 'https://data.example.org', base)}
      <fieldset>
        <legend><h2>What to check</h2></legend>
        <ul>
          ${choice('growth', !isAsked, 'Since my last visit', null, GROWTH)}
          ${choice(
            'event',
            isAsked,
            'An event',
            html`<input
              name="seq"
              type="number"
              min="1"
              step="1"
              value="${seq ?? ''}"
              aria-label="Number of the event"
            />`,
            EVENT,
          )}
          ${choice(
            'month',
            false,
            'A month',
            html`<input
              name="month"
              type="text"
              pattern="\\d{4}-\\d{2}"
              placeholder="yyyy-mm"
              size="8"
              aria-label="Month"
            />`,
            MONTH,
          )}
          ${choice('file', false, 'A file', html`<input type="file" aria-label="File" />`, FILE)}
          ${choice('log', false, 'Everything', null, LOG)}
        </ul>
      </fieldset>
      <details>
        <summary>Keys${asksChain ? ' and servers' : ''} of your own</summary>
        <p>They are worth the more, the less the log’s server could have chosen them.</p>
        ${textField('vkey', 'Key of the log, in place of the one that the log names', 'name+id+key')}
        <label
          >Keys of witnesses, one a line
          <textarea
            name="witnesses"
            rows="3"
            placeholder="name+id+key"
            autocomplete="off"
            spellcheck="false"
          ></textarea>
        </label>
        <label
          >How many witnesses must vouch: more than half if empty
          <input name="quorum" type="number" min="1" max="16" step="1"
        /></label>
        ${asksChain ? CHAIN_FIELDS : null}
      </details>
      <p class="buttons">
        <button class="main">Check</button>
        <button type="button" hidden>Stop</button>
      </p>
      ${isAsked ? null : RESULT}
    </form>`
}

const RESULT = html`<output></output>
  <ol class="steps" aria-live="polite" aria-label="Steps"></ol>`
const GROWTH = html`Your browser keeps the signed state that it saw, and proves that the log only grew from
there. Every other check does this too.`
const EVENT = html`Its line and its details lead to the signed root.`
const MONTH = html`Every line of a closed month leads to the root signed at its end, and none is left out.`
const FILE = html`A proof that you saved, or the input or output of a loyalty run. It stays in your browser.`
const LOG = html`Your browser reads every event, and computes every figure again. This takes some minutes,
because it stays below the limit of requests.`

function choice(subject: string, isChosen: boolean, label: string, field: Html | null, says: Html): Html {
  return html`<li>
    <label
      ><input type="radio" name="subject" value="${subject}" ${isChosen ? html`checked` : null} />
      ${label}</label
    >
    ${field}
    <p>${says}</p>
  </li>`
}

/** Fields of the saved verifier for the check of an event, and of everything. */
const CHAIN_FIELDS = html`<p>
    Name JSON-RPC servers of the blockchain that you trust, not the log operator’s. Three are best: two must
    agree. They are asked about the transaction of an event, and for everything about 100 random ones and the
    10 with the largest payments. What you type here goes to these servers alone. A browser asks only servers
    that allow requests from any page (CORS), at https addresses or on this machine.
  </p>
  <p>
    They show that a transaction exists, succeeded and is final. With the payer and the token they also show
    that the payer moved no less than the payouts say, but not who received it.
  </p>
  ${textField('rpc', 'URLs of RPC servers, separated by spaces', 'https://rpc.example.org')}
  ${textField('payer', 'Account that pays, to compare amounts', '')}
  ${textField('token', 'Mint or contract of the token', '')}`

function textField(name: string, label: string, placeholder: string, value: string = ''): Html {
  return html`<label
    >${label}
    <input
      name="${name}"
      type="text"
      value="${value}"
      placeholder="${placeholder}"
      autocomplete="off"
      spellcheck="false"
  /></label>`
}

/** Limits of the checks. */
export const NOT_PROVED: Html = html`<h2>What this does not prove</h2>
  <ul>
    <li>
      That an event is true: a proof says only that it was published, when, and that it has not changed since.
    </li>
    <li>
      That nothing was left out before it was published. Only the blockchain can say whether a payment was
      made.
    </li>
    <li>
      That two readers are shown the same log, unless a quorum of witnesses that you trust vouches for it. Or
      compare checkpoints with others: two of one size with different roots prove two histories.
    </li>
    <li>That you see the newest event: the signature of an old checkpoint stays valid.</li>
  </ul>`
