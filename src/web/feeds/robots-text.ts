import type { AnswerRoute } from '../../serve/http/route.ts'
import type { Site } from '../markup/site.ts'

/** Where robots find the addresses of all pages. */
export const SITEMAP_PATH = '/sitemap.xml'

/**
 * What robots are asked to leave alone: what never ends, what others' questions have answered, and every place in the
 * log and every minute of its history as pages of their own. Whole months of it are files.
 */
const LEFT_ALONE: readonly string[] = [
  '/api/v1/stream',
  '/compare?',
  '/events?',
  '/find?',
  '/stream?',
  '/*bucket=minute',
]
/** What is passed on as the address of a payment is read by who shows a link, too. */
const READ_ALL_THE_SAME: readonly string[] = ['/events?tx=']

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
      body: robotsText(site.url),
    }),
  }
}

function robotsText(url: string): string {
  return [
    '# Programs are welcome: /llms.txt says how to ask, /archive has every event as files.',
    'User-agent: *',
    ...READ_ALL_THE_SAME.map((path) => `Allow: ${path}`),
    ...LEFT_ALONE.map((path) => `Disallow: ${path}`),
    // A sitemap is named by its whole address or not at all.
    '',
    `Sitemap: ${url}${SITEMAP_PATH}`,
    '',
  ].join('\n')
}
