import type { Html } from './html.ts'
import { html } from './html.ts'

/** What the forms of checks begin with. */
export type CheckForms = Readonly<{
  /** The event that is checked first; null for none. */
  seq: number | null
  /** Whether the reader says where the log is: a file that was saved does not know. */
  asksBase: boolean
  /** Shown in place of the forms where no script runs. */
  otherwise: Html
}>

/** The checks that a browser runs: the same on the page and in the file that is saved. */
export function checkForms({ seq, asksBase, otherwise }: CheckForms): Html {
  return html`<noscript>${otherwise}</noscript>
    ${asksBase ? BASE : null} ${KEY}
    <h3>This event is in the log</h3>
    <p>From the event’s line to its place in the tree, to the tree’s root, to the signature.</p>
    ${form(
      'event',
      html`<label
        >Event number <input name="seq" type="number" min="1" step="1" required value="${seq ?? ''}"
      /></label>`,
      'Check the event',
    )}
    <h3>Nothing has changed since you came last</h3>
    <p>This browser keeps the size and root that it saw, and proves that the log only grew from there.</p>
    ${form('visit', null, 'Check since my last visit')}
    <h3>A whole month</h3>
    <p>Every line of a closed month is hashed here and held against the root that was signed at its end.</p>
    ${form(
      'month',
      html`<label
        >Month
        <input name="month" type="text" required pattern="\\d{4}-\\d{2}" placeholder="yyyy-mm" size="8"
      /></label>`,
      'Check the month',
    )}
    <h3>A loyalty run</h3>
    <p>Choose the run’s input or output file, or drop it on the field. It is hashed here and not sent.</p>
    ${form('file', html`<label>File <input type="file" required /></label>`, 'Check the file')}`
}

const BASE = html`<p class="ask">
  <label
    >Address of the log
    <input name="base" type="url" required placeholder="https://data.example.org" size="40"
  /></label>
</p>`

const KEY = html`<p class="ask" data-key>
  <label
    >The log’s key, from where its server has no say; without it the key counts that the log itself names
    <input name="vkey" type="text" placeholder="name+id+key" size="60" autocomplete="off" spellcheck="false"
  /></label>
</p>`

function form(check: string, fields: Html | null, button: string): Html {
  return html`<form data-check="${check}" hidden>
    <p class="ask">${fields} <button>${button}</button></p>
    <ol class="steps" aria-live="polite" aria-label="Steps of this check"></ol>
  </form>`
}

/** What none of these checks can say. */
export const NOT_PROVED: Html = html`<h2>What this does not prove</h2>
  <ul>
    <li>
      That an event is true: a proof says that it was published, when, and that it was never changed since.
    </li>
    <li>That nothing was left out before it was published. A payment can be looked up on its chain.</li>
    <li>
      That two readers are shown the same log. Compare checkpoints with others: two of one size with different
      roots convict the log.
    </li>
    <li>That the newest event is shown: an old checkpoint is signed as well as a new one.</li>
  </ul>`
