import type { LogIdentity } from '../../log/reader.ts'
import type { Problem } from '../../protocol/problem.ts'
import type { Reply, Route } from '../route.ts'
import { problemReply } from '../route.ts'
import { openApi } from './answers.ts'
import { assetRoute, openAssets } from './assets.ts'
import { embedRoute } from './embed.ts'
import { errorPage } from './error-page.ts'
import { feedRoute } from './feed.ts'
import { canonicalQuery } from './form-query.ts'
import { otherWays } from './other-ways.ts'
import type { Web } from './page-routes.ts'
import { pageRoutes, pathOf } from './page-routes.ts'
import { PAGES } from './pages.ts'
import type { Site } from './site.ts'
import { verifierRoute } from './verifier.ts'

/** The pages for people: their routes, and what is answered outside the API where there is no answer. */
export type WebRoutes = Readonly<{
  routes: readonly Route[]
  refuse(problem: Problem, path: string, rawQuery: string): Promise<Reply>
}>

/** Opens the pages over the routes of the API, which they ask for everything that they show. */
export function openWeb(api: readonly Route[], identity: LogIdentity, site: Site): WebRoutes {
  const assets = openAssets()
  const paths = new Set(PAGES.map(pathOf))
  const web: Web = { site, identity, api: openApi(api), assets, paths }
  return {
    routes: [
      ...PAGES.flatMap((page) => pageRoutes(web, page)),
      ...otherWays(web.api),
      feedRoute(web.api, site),
      embedRoute(web.api, site, identity.simulated, assets),
      assetRoute(assets),
      verifierRoute(assets),
    ],
    async refuse(problem, path, rawQuery) {
      if (/\.(?:csv|svg|json)$/.test(path) || path.startsWith('/assets/')) return problemReply(problem)
      const canonical = canonicalQuery(rawQuery)
      if (problem.code !== 'not-found' && canonical !== rawQuery) {
        return { is: 'elsewhere', status: 303, location: `${path}${canonical === '' ? '' : `?${canonical}`}` }
      }
      const query = rawQuery === '' ? '' : `?${rawQuery}`
      const twin = problem.code === 'not-found' ? null : `/api/v1${path}${query}`
      return errorPage(problem, { site, identity, paths, assets: await assets(), path, api: twin })
    },
  }
}
