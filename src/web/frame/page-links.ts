import { type Html, html } from '../markup/html.ts'
import type { View } from './page.ts'
import { copyButton } from './view-bar.ts'
import type { Site } from '../markup/site.ts'
import { FRICTIONLESS_PATH } from '../../protocol/paths.ts'

/** Element of a page's head that names the Atom feed. */
export function feedLink({ name }: Site): Html {
  return html`<link
    rel="alternate"
    type="application/atom+xml"
    title="${name}: contests, corrections and rewards"
    href="/feed.atom"
  />`
}

/** Links to subscribe to a calendar and to download it, and its URL to copy. */
export function calendarLinks(address: string, { site }: Pick<View, 'site'>): Html {
  const whole = `${site.url}${address}`
  return html`<div data-subscribe data-chrome>
    <p class="buttons">
      <a class="button" href="${whole.replace(/^https?:/, 'webcal:')}">Subscribe</a>
      <a class="button" href="${address}">File (.ics)</a>
    </p>
    <details>
      <summary>Address of the calendar</summary>
      <p><code>${whole}</code> ${copyButton('Copy', { text: whole })}</p>
    </details>
  </div>`
}

/** Element of a page's head that names the description of all files and columns. */
export const FRICTIONLESS_LINK: Html = html`<link
  rel="describedby"
  type="application/json"
  title="Data Package"
  href="${FRICTIONLESS_PATH}"
/>`
