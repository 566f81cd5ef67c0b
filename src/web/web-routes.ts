/**
 * The room of the pages: the answers of the API, rendered for people as HTML, CSV, charts and link previews.
 *
 * It may know `serve`, `project` and `protocol`. A page has no other source than the routes of the API, so it cannot say
 * what the API does not.
 *
 * Begin here: `openWeb` lists the routes. Then read `frame/page.ts`, which says what a page is, `frame/page-routes.ts`,
 * which turns a request into its reply, and one page, such as `pages/archive/archive-page.ts`.
 *
 * - `frame`: the document around a page, its formats, its data drawer, error pages
 * - `pages`: a file for each page, from its heading down; a larger page has a file for each of its parts
 * - `markup`: HTML, amounts, moments, words of kinds and states, derived figures
 * - `charts`: plots as SVG, on pages and as pictures
 * - `preview`: pictures of link previews
 * - `reference`: the reference of the API, as a page and as Markdown
 * - `feeds`: the Atom feed, redirects, robots.txt, the sitemap
 * - `islands`, `style`, `fonts`, `assets`: scripts, style sheets and fonts of the pages, and how they are bundled and served
 */

import type { Ms } from '../protocol/moment.ts'
import { type Problem, PROBLEMS } from '../protocol/problem.ts'
import { type AnswerRoute, problemReply, type Reply, type Route } from '../serve/http/route.ts'
import { openRouter } from '../serve/http/router.ts'
import { openApi } from './frame/answers.ts'
import { assetRoute } from './assets/assets.ts'
import { errorPage } from './frame/error-page.ts'
import { formRedirect, trackingRedirect } from './frame/link-redirects.ts'
import { feedRoute } from './feeds/feed.ts'
import { redirectRoutes } from './feeds/redirects.ts'
import { pageRoutes, type Web } from './frame/page-routes.ts'
import { PAGES } from './pages/pages.ts'
import { payoutsCalendarRoute } from './pages/payouts/payouts-calendar.ts'
import { securityRoute } from './feeds/security-text.ts'
import { robotsRoute, sitemapRoute } from './feeds/crawlers.ts'
import { transactionRoute } from './pages/events/transaction-route.ts'
import { verifierRoute } from './pages/verify/verifier.ts'
import { apiMarkdownRoute } from './reference/api-markdown.ts'
import { iconRoute } from './frame/page-frame.ts'

/** Routes of the pages, and the error pages of all paths outside the API. */
export type WebRoutes = Readonly<{
  routes: readonly AnswerRoute[]
  refuse(problem: Problem, path: string, rawQuery: string, now: Ms): Promise<Reply>
}>

type WebSettings = Pick<Web, 'identity' | 'site' | 'assets' | 'inOneSnapshot'>

/** Opens the pages over the routes of the API, their only source. */
export function openWeb(api: readonly Route[], settings: WebSettings): WebRoutes {
  const { identity, site, assets } = settings
  const twins = openRouter(api)
  const web: Web = { ...settings, api: openApi(api) }
  const refuse: WebRoutes['refuse'] = async (problem, path, rawQuery, now) => {
    if (/\.(?:csv|svg|json|atom|ics|md|xml|txt|ico|png)$/.test(path) || path.startsWith('/assets/'))
      return problemReply(problem)
    const asked = PROBLEMS[problem.code].status === 400
    if (asked) {
      const parameters = pages(path)?.route.parameters ?? []
      const redirect = trackingRedirect(path, rawQuery) ?? formRedirect(path, rawQuery, parameters)
      if (redirect !== undefined) return redirect
    }
    const isPage = pages(path) !== undefined
    const query = rawQuery === '' ? '' : `?${rawQuery}`
    // Links the API only if it has the same problem. Its allowance is separate from that of the pages.
    const same = (asked || problem.code === 'not-ready') && twins(`/api/v1${path}`) !== undefined
    const twin = same ? `/api/v1${path}${query}` : null
    return errorPage(problem, { site, identity, isPage, assets: await assets(), path, api: twin, now })
  }
  const routes: readonly AnswerRoute[] = [
    ...PAGES.flatMap((page) => pageRoutes(web, page)),
    ...redirectRoutes(refuse),
    apiMarkdownRoute(web),
    transactionRoute(web),
    inOneSnapshot(web, feedRoute(web.api, site, identity)),
    payoutsCalendarRoute(web.api, site, identity.origin),
    assetRoute(assets),
    verifierRoute(assets, site),
    iconRoute(),
    robotsRoute(site),
    securityRoute(site),
    sitemapRoute(web, PAGES),
  ]
  const pages = openRouter(routes)
  return { routes, refuse }
}

/** Route whose answers of the API all come from one snapshot of the log. */
function inOneSnapshot(web: Web, route: AnswerRoute): AnswerRoute {
  return { ...route, handle: (ask) => web.inOneSnapshot(async () => route.handle(ask)) }
}
