import { FILTERS } from '../../protocol/endpoints/endpoint-parameters.ts'
import { endpointOf } from '../../protocol/endpoints/endpoints.ts'
import type { AnswerRoute } from '../../serve/http/route.ts'
import { canonicalBase, type Site } from '../markup/site.ts'

/** Path of the sitemap, which robots.txt names. */
export const SITEMAP_PATH = '/sitemap.xml'

/** Parameters of `/events`. People share the address of a payment, and link previews must be able to read it. */
const LOG_FILTERS = endpointOf('events').parameters.filter(({ name }) => name !== 'tx')

/**
 * Beginnings of the addresses that robots should not crawl: endless streams, other readers' searches, and pages for every
 * event or minute. The whole log is available as month files. All parsers read these rules alike: some know no wildcard,
 * take the first rule in place of the longest, or drop a `?` at the end, so that `/events?` would hide `/events/7`.
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
