import { type Html, html } from '../../markup/html.ts'
import type { Explorer } from '../../markup/site.ts'

type CheckOptions = Readonly<{
  /** Initial event to check; null for none. */
  seq: number | null
  /** Initial address of the log in the saved verifier; null on a page of the log itself. */
  base: string | null
  explorers: readonly Explorer[]
  /** Path of an Ed25519 module for browsers without Ed25519; null in the saved verifier, which loads nothing. */
  ed25519: string | null
  /** Path of the module that checks witnesses; null in the saved verifier, which has it. */
  witnesses: string | null
  /** Content for browsers without scripts. */
  otherwise: Html
}>

/** First line of the check of an event when every step passed. */
export const EVENT_PROVED = 'Event {} is in the signed log.'

/** First line of a check whose every step passed, with the value of its first field for `{}`. */
const PROVED: Readonly<Record<string, string>> = {
  event: EVENT_PROVED,
  payment: EVENT_PROVED,
  month: 'Nothing of {} is left out.',
  visit: 'The log only grew.',
}

/** Forms of the checks that run in a browser, the same on the page and in the saved verifier. */
export function checkForms({ seq, base, explorers, ed25519, witnesses, otherwise }: CheckOptions): Html {
  return html`<noscript>${otherwise}</noscript>
    <div data-checks hidden data-ed25519="${ed25519 ?? ''}" data-witnesses="${witnesses ?? ''}">
      ${base === null ? null : baseField(base)}
      <h3>Has anything changed since you last looked?</h3>
      <p>Your browser keeps the signed state that it saw, and proves that the log only grew from there.</p>
      ${form('visit', null, 'Check since my last visit')}
      <h3>Is this event in the log?</h3>
      <p>Your browser computes the path from the event’s line to the signed root of the tree.</p>
      ${form('event', eventField('seq', seq), 'Check the event')} ${eventPath} ${WITNESS_CHECK}
      ${base === null ? null : CHAIN_FIELDS}
      <h3>Is this payment in the log?</h3>
      <p>
        This proves the event of a payment, with the transaction that it names.
        ${base === null ? ON_PAGE : ON_DISK} ${explorersOf(explorers)}
      </p>
      ${form('payment', eventField('payment', null), 'Check the payment', explorers)}
      <h3>Is the proof that you saved still true?</h3>
      <p>
        A proof names its event and carries a signed state of the log. The file stays in your browser. With
        keys of witnesses above, the check says which have signed it.
      </p>
      ${form(
        'proof',
        html`<label>Proof (.tlog-proof) <input type="file" required /></label>`,
        'Check the proof',
      )}
      <h3>Is anything of a month left out?</h3>
      <p>
        Your browser hashes every line of a closed month and compares the result with the root signed at its
        end. The events before and after show that none is left out.
      </p>
      ${form(
        'month',
        html`<label
          >Month
          <input name="month" type="text" required pattern="\\d{4}-\\d{2}" placeholder="yyyy-mm" size="8"
        /></label>`,
        'Check the month',
      )}
      <h3>Is this the file of the loyalty reward?</h3>
      <p>Choose the input or the output of a run. The file stays in your browser.</p>
      ${form('file', html`<label>File <input type="file" required /></label>`, 'Check the file')}
      <h3>Do you have a key of your own?</h3>
      <p>All checks use it instead of the key that the log names.</p>
      <p class="ask" data-ask>
        <label
          >Key of the log from somewhere else (optional)
          <input
            name="vkey"
            type="text"
            placeholder="name+id+key"
            size="60"
            autocomplete="off"
            spellcheck="false"
        /></label>
      </p>
    </div>`
}

/** Form of the check of witnesses, with the fields for the reader's own. */
const WITNESS_CHECK = html`<h3>Does everyone see the same log?</h3>
  <p>
    A witness is an independent party that signs a state of the log only if it continues the one it signed
    before. The log’s own list of witnesses proves little: give keys that you trust, from somewhere else.
  </p>
  ${form(
    'witnesses',
    html`<label
        >Keys of your witnesses, one a line (optional)
        <textarea
          name="witnesses"
          rows="3"
          cols="60"
          placeholder="name+id+key"
          autocomplete="off"
          spellcheck="false"
        ></textarea>
      </label>
      <label
        >How many must vouch (optional) <input name="quorum" type="number" min="1" max="16" step="1"
      /></label>`,
    'Check witnesses',
  )}`

function explorersOf(explorers: readonly Explorer[]): Html {
  if (explorers.length === 0) return html`Or look up the transaction at any explorer of its chain.`
  const hosts = explorers.map(({ host }) => host).join(' and ')
  return html`Or look at ${hosts}, which are not ours. The check gives you the links.`
}

/** The policy of a served page allows requests to its own server alone. */
const ON_PAGE = html`This page does not ask the blockchain. The verifier that you save to your disk can, and
  so can <code>daybook verify --chain</code>.`
const ON_DISK = html`If you name blockchain servers above, they are asked about the transaction.`

/** Fields of the saved verifier for the checks of a payment and of a month. */
const CHAIN_FIELDS = html`<h3>By the blockchain itself</h3>
  <p>
    Name JSON-RPC servers of the blockchain that you trust, not the log operator’s. Three are best: two must
    agree. The check of a payment asks them about its transaction, and that of a month about 100 random
    transactions and the 10 with the largest payments. What you type here goes to these servers alone.
  </p>
  <p>
    It proves that a transaction exists, succeeded and is final. With the payer and the token it also proves
    that the payer moved no less than the payouts say. It does not prove who received it.
  </p>
  <div class="ask" data-ask>
    ${chainField('rpc', 'URLs of RPC servers, separated by spaces (optional)', 'https://rpc.example.org')}
    ${chainField('payer', 'Account that pays, to compare amounts (optional)', '')}
    ${chainField('token', 'Mint or contract of the token (optional)', '')}
  </div>`

function chainField(name: string, label: string, placeholder: string): Html {
  return html`<label
    >${label}
    <input
      name="${name}"
      type="text"
      placeholder="${placeholder}"
      size="60"
      autocomplete="off"
      spellcheck="false"
  /></label>`
}

function baseField(base: string): Html {
  return html`<p class="ask" data-ask>
    <label
      >Address of the log
      <input name="base" type="url" required placeholder="https://data.example.org" size="40" value="${base}"
    /></label>
  </p>`
}

function eventField(name: string, seq: number | null): Html {
  return html`<label
    >Event number <input name="${name}" type="number" min="1" step="1" required value="${seq ?? ''}"
  /></label>`
}

function form(check: string, fields: Html | null, button: string, explorers: readonly Explorer[] = []): Html {
  const right = PROVED[check]
  const templates = JSON.stringify(explorers.map(({ template }) => template))
  return html`<form
    data-check="${check}"
    ${right === undefined ? null : html`data-right="${right}"`}
    ${check === 'visit' ? html`data-first="First visit: the state is saved."` : null}
    ${explorers.length === 0 ? null : html`data-explorers="${templates}"`}
  >
    <p class="ask">${fields} <button>${button}</button></p>
    <output></output>
    <ol class="steps" aria-live="polite" aria-label="Steps"></ol>
  </form>`
}

/** Place for the path of an event's check, as a picture and in words. */
export const eventPath: Html = html`<div class="pair" data-path="event" data-chrome hidden>
  <div></div>
  <div>
    <p>
      The path from the event up to the root. Your browser computed the hashes with a solid border, each from
      the two below it. Those with a dashed border come from the log. Each shows its first letters.
    </p>
    <details>
      <summary>The same in words, with whole hashes</summary>
      <ol></ol>
    </details>
  </div>
</div>`

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
    <li data-shared>
      That two readers are shown the same log, unless a quorum of witnesses that you trust vouches for it. Or
      compare checkpoints with others: two of one size with different roots prove two histories.
    </li>
    <li data-shared="own" hidden></li>
    <li>That you see the newest event: the signature of an old checkpoint stays valid.</li>
  </ul>`
