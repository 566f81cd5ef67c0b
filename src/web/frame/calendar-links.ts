import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'
import type { View } from './page.ts'
import { copyButton } from './view-bar.ts'

/** The ways to a calendar: to subscribe to it, to fetch it, and its address for a program that knows neither. */
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
