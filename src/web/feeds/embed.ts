import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import { type Problem, PROBLEMS } from '../../protocol/problem.ts'
import type { Flows } from '../../protocol/range-resources.ts'
import type { AnswerRoute, Reply } from '../../serve/http/route.ts'
import type { Api } from '../frame/answers.ts'
import type { Assets } from '../assets/assets.ts'
import { plotOnPage } from '../charts/chart-plot.ts'
import { flowsPlot } from '../pages/ranges/flows-chart.ts'
import { THEME } from '../markup/chart-theme.ts'
import { HTML_TYPE, PAGE_HEADERS, refreshOf, refusalReply } from '../frame/error-page.ts'
import { type Html, html } from '../markup/html.ts'
import { ICON_HREF } from '../frame/icon.ts'
import { rangeQuery } from '../markup/range-query.ts'
import type { Site } from '../markup/site.ts'

/** Policy of all pages, but without scripts, and framed by any site. */
const EMBED_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors *"
const HEADERS = { ...PAGE_HEADERS, 'Content-Security-Policy': EMBED_POLICY }

type EmbedSettings = Readonly<{ site: Site; assets: Assets }>

/** `/embed/flows`: the flows chart with one link back, for a frame in another site. */
export function embedRoute(
  api: Api,
  site: Site,
  simulated: boolean,
  assets: () => Promise<Assets>,
): AnswerRoute {
  const route = api.route('flows')
  return {
    path: '/embed/flows',
    parameters: [...route.parameters, THEME],
    allowance: 'pages',
    showsLog: true,
    async handle(ask) {
      const settings = { site, assets: await assets() }
      const asked = await api.ask('flows', ask, { query: ask.query.format({ theme: undefined }).slice(1) })
      if (!asked.ok) return embedRefusal(asked.problem, settings)
      const flows: Flows = JSON.parse(asked.value.json)
      const { from, to, bucket, asOf } = flows
      const range = rangeQuery(flows)
      const theme = ask.query.word('theme') ?? 'auto'
      const title = `What was spent, paid and burned, by ${bucket}, ${from.slice(0, 10)} to ${to.slice(0, 10)}`
      const body = documentOf(settings, {
        title,
        theme,
        head: html`<link rel="alternate" type="application/json" href="${ENDPOINT_PATHS.flows}?${range}" />`,
        main: html`<img
            src="/flows.svg?${range}${theme === 'auto' ? '' : `&theme=${theme}`}"
            alt="${title}: the link leads to a table of the same figures"
          />
          <figure class="chart narrow">
            <p>Spent on play and paid in prizes, in ${site.token} by ${bucket}</p>
            ${plotOnPage(flowsPlot(flows, site))}
          </figure>
          <p class="source">
            <a href="/flows?${range}" target="_blank" rel="noopener">${site.name}</a>, up to event
            #${asOf.seq}.${simulated ? ' This platform is simulated. No real money is involved.' : ''}
            Informational only.
          </p>`,
      })
      return {
        is: 'body',
        // A new version may render a settled range differently, as with any page.
        keep: 'revalidate',
        etag: 'of-content',
        type: HTML_TYPE,
        body,
        headers: HEADERS,
      }
    },
  }
}

/** Error page for a frame: the problem's detail and one link back. */
export function embedRefusal(problem: Problem, settings: EmbedSettings): Reply {
  const { detail, retryAfterSeconds } = problem
  const body = documentOf(settings, {
    title: PROBLEMS[problem.code].title,
    head: refreshOf(problem),
    main: html`<p>
        ${detail}${retryAfterSeconds === undefined ? '' : ` Try again in ${retryAfterSeconds} s.`}
      </p>
      <p class="source"><a href="/flows" target="_blank" rel="noopener">${settings.site.name}</a></p>`,
  })
  return refusalReply(problem, body, HEADERS)
}

/** Content of a framed document. Without a theme it has no picture, so its heading is visible. */
type EmbedContent = Readonly<{ title: string; theme?: string; head: Html | null; main: Html }>

function documentOf({ site, assets }: EmbedSettings, { title, theme, head, main }: EmbedContent): string {
  const chosen = theme === undefined || theme === 'auto' ? null : html` data-theme="${theme}"`
  return html`<!doctype html>
    <html lang="en" ${chosen}>
      <head>
        <meta charset="utf-8" />
        <title>${title} · ${site.name}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="stylesheet" href="${assets.path('style.css')}" />
        <link rel="icon" type="image/svg+xml" href="${ICON_HREF}" />
        ${head}
      </head>
      <body class="embed">
        <main>
          ${theme === undefined ? html`<h1>${title}</h1>` : html`<h1 class="skip">${title}</h1>`} ${main}
        </main>
      </body>
    </html> `.markup
}
