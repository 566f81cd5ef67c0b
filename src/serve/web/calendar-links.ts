import type { Html } from './html.ts'
import { html } from './html.ts'
import type { View } from './page.ts'
import { baseOf } from './site.ts'
import { copyButton } from './view-bar.ts'

/** The ways to a calendar: to subscribe to it, to fetch it, and its address for a program that knows neither. */
export function calendarLinks(address: string, { host }: Pick<View, 'host'>): Html {
  const [path = ''] = address.split('?')
  const whole = `${baseOf(host)}${address}`
  return html`<section data-subscribe data-chrome>
    ${host === null ? null : html`<a class="button" href="webcal://${host}${address}">Subscribe in a calendar</a>`}
    <a class="button" href="${address}">Calendar file (${path.slice(1)})</a>
    ${
      host === null
        ? null
        : html`<p class="quiet">
            Or subscribe by its address: <code>${whole}</code> ${copyButton('Copy', { text: whole })}
          </p>`
    }
  </section>`
}
