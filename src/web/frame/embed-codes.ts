import { escapeText, type Html, html } from '../markup/html.ts'
import type { Embedded, View } from './page.ts'

/** Codes to embed the page's pictures and frames in another site; null if it has none. */
export function embedCodes({ site }: View, offered: readonly Embedded[]): Html | null {
  if (offered.length === 0) return null
  const base = site.url
  return html`<details>
    <summary>Embed</summary>
    ${offered.map(
      (one) =>
        html`<p>
          ${one.name}:<br />
          <code data-embed>${codeOf(one, base)}</code>
        </p>`,
    )}
  </details>`
}

function codeOf(offered: Embedded, base: string): string {
  const src = `${base}${offered.path}`
  if (offered.is === 'frame') {
    const { title, height } = offered
    return `${tag('iframe', { src, title, width: '100%', height: String(height) })}</iframe>`
  }
  const picture = tag('img', { src, alt: offered.title })
  const { leadsTo } = offered
  return leadsTo === undefined ? picture : `${tag('a', { href: `${base}${leadsTo}` })}${picture}</a>`
}

/** A tag on one line, for copying. */
function tag(name: string, attributes: Readonly<Record<string, string>>): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeText(value)}"`)
  return `<${name}${written.join('')}>`
}
