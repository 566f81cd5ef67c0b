import { type Html, html } from './html.ts'
import { addressAt, type Site } from './site.ts'

/** A transaction's whole id, shortened on screen by CSS, with links to explorers. */
export function transaction(tx: string, { explorers }: Site): Html {
  const links = explorers.map(
    (explorer) => html` <a rel="noreferrer" href="${addressAt(explorer, tx)}">${explorer.host}</a>`,
  )
  return html`<code class="id cut">${tx}</code>${links}`
}

/** Note about the explorer links of a list; null if the site names no explorer. */
export function explorersNote({ explorers }: Site): Html | null {
  if (explorers.length === 0) return null
  return html`<p class="quiet">
    Each transaction can be seen at sites that are not ours; this page does not check them.
  </p>`
}

/** Characters at each end of a transaction that is shown short, and the longest one that is shown whole. */
const TX_ENDS = 4
const TX_WHOLE_MAX = 12

/**
 * A transaction by its ends, as a link to the first explorer, or to the event that names it; and a button that copies
 * all of it, which a script shows.
 */
export function shortTransaction(tx: string, { explorers: [explorer] }: Site): Html {
  const short = tx.length > TX_WHOLE_MAX ? `${tx.slice(0, TX_ENDS)}…${tx.slice(-TX_ENDS)}` : tx
  const link =
    explorer === undefined
      ? html`<a class="id" href="/tx/${encodeURIComponent(tx)}">${short}</a>`
      : html`<a class="id" rel="noreferrer" href="${addressAt(explorer, tx)}">${short}</a>`
  return html`<span class="tx"
    >${link}
    <button type="button" hidden data-copy="${tx}" aria-label="Copy transaction ${short}">Copy</button></span
  >`
}
