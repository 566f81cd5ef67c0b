import { setImmediate } from 'node:timers/promises'
import { floorTo, MINUTE_MS } from '../../protocol/moment.ts'
import { type Parsed, parsed } from '../../protocol/problem.ts'
import { FRICTIONLESS_PATH } from '../../protocol/paths.ts'
import type { Contests } from '../../protocol/endpoints/contest-endpoints.ts'
import { type AnswerRoute, problemReply, type RouteRequest } from '../../serve/http/route.ts'
import { escapeText } from '../markup/html.ts'
import { canonicalBase, type Site } from '../markup/site.ts'
import { pagePath, type Web } from '../frame/page-routes.ts'
import type { AnyPage, LinkedAnswer, View } from '../frame/page.ts'
import { FILTERS } from '../../protocol/endpoints/endpoint-parameters.ts'
import { endpointOf } from '../../protocol/endpoints/endpoints.ts'

/** Maximum addresses of a sitemap, by sitemaps.org. */
const ADDRESSES_MAX = 50_000
/** Contests in one request to the API. Other callers get their turn between two requests. */
const CONTESTS_LIMIT = 1_000

/** Path of a page, and when its content last changed, if known. */
type SitemapEntry = Readonly<{ path: string; changedAt: string | null }>

/** `/sitemap.xml` (sitemaps.org): every page without a query, and the ledger of every contest, newest first. */
export function sitemapRoute({ api, site }: Web, pages: readonly AnyPage[]): AnswerRoute {
  // Made once a minute, because a list of many contests takes a while and robots do not need the latest event.
  let made: Readonly<{ minute: number; sitemap: Promise<Parsed<Uint8Array>> }> | undefined
  const sitemapAt = (ask: RouteRequest): Promise<Parsed<Uint8Array>> => {
    const minute = floorTo(ask.now, MINUTE_MS)
    if (made?.minute === minute) return made.sitemap
    const making = { minute, sitemap: makeSitemap(ask) }
    made = making
    // A cached failure would fail every request of this minute.
    const forget = (): void => {
      if (made === making) made = undefined
    }
    making.sitemap.then(({ ok }) => (ok ? undefined : forget()), forget)
    return making.sitemap
  }
  const makeSitemap = async (ask: RouteRequest): Promise<Parsed<Uint8Array>> => {
    const entries = await sitemapEntries(pages, (endpoint, asked = {}) => api.ask(endpoint, ask, asked))
    return entries.ok ? parsed(Buffer.from(sitemapOf(entries.value, canonicalBase(site)))) : entries
  }
  return {
    path: SITEMAP_PATH,
    parameters: [],
    allowance: 'pages',
    showsLog: true,
    async handle(ask) {
      const sitemap = await sitemapAt(ask)
      if (!sitemap.ok) return problemReply(sitemap.problem)
      const type = 'application/xml; charset=utf-8'
      return { is: 'body', keep: 'revalidate', etag: 'of-content', type, body: sitemap.value }
    },
  }
}

/** Entries of the sitemap, at most `most`. */
export async function sitemapEntries(
  pages: readonly AnyPage[],
  ask: View['ask'],
  most: number = ADDRESSES_MAX,
): Promise<Parsed<readonly SitemapEntry[]>> {
  const entries: SitemapEntry[] = []
  let query: string | undefined = `limit=${CONTESTS_LIMIT}`
  while (query !== undefined && entries.length < most) {
    const asked: Parsed<LinkedAnswer<Contests>> = await ask('contests', { query })
    if (!asked.ok) return asked
    const { asOf, contests, next }: Contests = asked.value.answer
    if (entries.length === 0) entries.push(...pageEntries(pages, asOf.at))
    for (const { id, outcome, paidAt } of contests) {
      // The list of contests does not tell when an unpaid contest last changed.
      entries.push({ path: `/contests/${id}/ledger`, changedAt: outcome === 'owing' ? null : paidAt })
    }
    query = next?.split('?')[1]
    await setImmediate()
  }
  return parsed(entries.slice(0, most))
}

/**
 * Entries of the pages without a variable part, and of the description of all files. Pages of an endpoint change with
 * the log.
 */
function pageEntries(pages: readonly AnyPage[], changedAt: string | null): readonly SitemapEntry[] {
  const ofPages = pages.flatMap((page) => {
    const path = pagePath(page)
    return path.includes('{') ? [] : [{ path, changedAt: page.endpoint === null ? null : changedAt }]
  })
  return [...ofPages, { path: FRICTIONLESS_PATH, changedAt: null }]
}

function sitemapOf(entries: readonly SitemapEntry[], base: string): string {
  const addresses = entries.map(({ path, changedAt }) => {
    const changed = changedAt === null ? '' : `<lastmod>${changedAt}</lastmod>`
    return `<url><loc>${escapeText(base + path)}</loc>${changed}</url>\n`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${addresses.join('')}</urlset>
`
}

/** Path of the sitemap, which robots.txt names. */
const SITEMAP_PATH = '/sitemap.xml'

/** Parameters of `/events`. People share the address of a payment, and link previews must be able to read it. */
const LOG_FILTERS = endpointOf('events').parameters.filter(({ name }) => name !== 'tx')

/**
 * Prefixes of addresses that robots should not crawl: endless streams, searches, and pages for every event or minute.
 * The whole log is available as month files. The rules are simple, because parsers differ: some know no wildcard, or
 * take the first rule instead of the longest. Some drop a `?` at the end, so `/events?` would hide `/events/7`.
 */
const DISALLOWED: readonly string[] = [
  '/api/v1/stream',
  ...LOG_FILTERS.map(({ name }) => `/events?${name}=`),
  '/find?q=',
  '/flows?bucket=minute',
  '/funds?bucket=minute',
  '/live',
  ...FILTERS.map(({ name }) => `/stream?${name}=`),
]

/** `/robots.txt` (RFC 9309). */
export function robotsRoute(site: Site): AnswerRoute {
  return {
    path: '/robots.txt',
    parameters: [],
    allowance: 'none',
    handle: () => ({
      is: 'body',
      keep: 'revalidate',
      etag: 'of-content',
      type: 'text/plain; charset=utf-8',
      body: robotsText(canonicalBase(site)),
    }),
  }
}

function robotsText(url: string): string {
  return [
    '# Programs are welcome: /llms.txt says how to ask, /archive has every event as files,',
    '# /datapackage.json describes every file and column.',
    'User-agent: *',
    ...DISALLOWED.map((path) => `Disallow: ${path}`),
    // Robots accept only an absolute address.
    '',
    `Sitemap: ${url}${SITEMAP_PATH}`,
    '',
  ].join('\n')
}
