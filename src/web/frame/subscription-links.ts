import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'
import type { View } from './page.ts'
import { copyButton } from './view-bar.ts'
import type { Site } from '../markup/site.ts'

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
  const [path = ''] = address.split('?')
  const whole = `${site.url}${address}`
  return html`<section data-subscribe data-chrome>
    <a class="button" href="${whole.replace(/^https?:/, 'webcal:')}">Subscribe in a calendar</a>
    <a class="button" href="${address}">Calendar file (${path.slice(1)})</a>
    <p class="quiet">
      Or subscribe by its address: <code>${whole}</code> ${copyButton('Copy', { text: whole })}
    </p>
  </section>`
}
