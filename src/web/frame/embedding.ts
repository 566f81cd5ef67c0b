import type { Html } from '../markup/html.ts'
import { escapeText, html } from '../markup/html.ts'
import type { Embedded, View } from './page.ts'

/** What to write into another page: whole addresses, since that page is of another host. */
export function embedding({ site }: View, offered: readonly Embedded[]): Html | null {
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

/** A tag on one line, as it is copied. */
function tag(name: string, attributes: Readonly<Record<string, string>>): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeText(value)}"`)
  return `<${name}${written.join('')}>`
}
