import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import type { Flows } from '../../protocol/resources.ts'
import type { Route } from '../route.ts'
import { problemReply } from '../route.ts'
import type { Api } from './answers.ts'
import type { Assets } from './assets.ts'
import { HTML_TYPE, PAGE_HEADERS } from './error-page.ts'
import { html } from './html.ts'
import type { Site } from './site.ts'

/** As every page, but for who may frame it: everyone. */
const EMBED_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *"

/** `/embed/flows`: the chart of flows alone, for a frame in somebody else's page; one link leads back. */
export function embedRoute(api: Api, site: Site, simulated: boolean, assets: () => Promise<Assets>): Route {
  const route = api.route('flows')
  return {
    path: '/embed/flows',
    parameters: route.parameters,
    allowance: 'none',
    showsLog: true,
    async handle(ask) {
      const asked = await api.ask('flows', ask, { query: ask.query.format().slice(1) })
      if (!asked.ok) return problemReply(asked.problem)
      const { from, to, bucket, asOf }: Flows = JSON.parse(asked.value.json)
      const range = `from=${from}&to=${to}&bucket=${bucket}`
      const title = `What was spent, paid and burned, by ${bucket}, ${from.slice(0, 10)} to ${to.slice(0, 10)}`
      const files = await assets()
      const body = html`<!doctype html>
        <html lang="en">
          <head>
            <meta charset="utf-8" />
            <title>${title} · ${site.name}</title>
            <meta name="viewport" content="width=device-width, initial-scale=1" />
            <meta name="color-scheme" content="light dark" />
            <link rel="stylesheet" href="${files.path('style.css')}" />
            <link rel="alternate" type="application/json" href="${ENDPOINT_PATHS.flows}?${range}" />
          </head>
          <body class="embed">
            <main>
              <h1>${title}</h1>
              <img
                src="/flows.svg?${range}"
                alt="${title}: the same figures stand in a table behind the link"
              />
              <p class="source">
                <a href="/flows?${range}" target="_blank" rel="noopener">${site.name}</a>, up to event
                #${asOf.seq}.${simulated ? ' A simulated platform: no event here is of real money.' : ''}
                Informational only.
              </p>
            </main>
          </body>
        </html> `.markup
      const headers = { ...PAGE_HEADERS, 'Content-Security-Policy': EMBED_POLICY }
      return { is: 'body', keep: asked.value.keep, etag: 'of-content', type: HTML_TYPE, body, headers }
    },
  }
}
