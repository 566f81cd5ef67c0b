import type { Html } from './html.ts'
import { html } from './html.ts'
import type { Site } from './site.ts'
import { addressAt } from './site.ts'

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
