import type { AnswerRoute } from '../../serve/http/route.ts'
import type { Site } from '../markup/site.ts'
import { canonicalBase } from '../markup/site.ts'

/** Path of the sitemap, which robots.txt names. */
export const SITEMAP_PATH = '/sitemap.xml'

/**
 * Paths that robots should not crawl: endless streams, other readers' searches, and pages for every event or minute.
 * The whole log is available as month files.
 */
const DISALLOWED: readonly string[] = [
  '/api/v1/stream',
  '/compare?',
  '/events?',
  '/find?',
  '/live',
  '/stream?',
  '/*bucket=minute',
]
/** Exceptions. People share the address of a payment, and link previews must be able to read it. */
const ALLOWED: readonly string[] = ['/events?tx=']

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
    ...ALLOWED.map((path) => `Allow: ${path}`),
    ...DISALLOWED.map((path) => `Disallow: ${path}`),
    // Robots accept only an absolute address.
    '',
    `Sitemap: ${url}${SITEMAP_PATH}`,
    '',
  ].join('\n')
}
