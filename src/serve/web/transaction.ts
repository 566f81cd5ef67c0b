import type { Html } from './html.ts'
import { html } from './html.ts'
import type { Site } from './site.ts'

/** A transaction's whole id in little room, with where to see it for oneself. */
export function transaction(tx: string, { explorers }: Site): Html {
  const links = explorers.map((template) => {
    const href = template.replace('{tx}', encodeURIComponent(tx))
    return html` <a rel="noreferrer" href="${href}">${new URL(href).host}</a>`
  })
  return html`<code class="id cut">${tx}</code>${links}`
}

/** What a list of transactions leads to, said once. */
export function explorersNote({ explorers }: Site): Html | null {
  if (explorers.length === 0) return null
  return html`<p class="quiet">
    Each transaction can be seen at sites that are not ours; this page does not check them.
  </p>`
}
