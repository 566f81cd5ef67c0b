import { setImmediate } from 'node:timers/promises'
import { floorTo, MINUTE_MS } from '../../protocol/moment.ts'
import type { Parsed } from '../../protocol/problem.ts'
import { parsed } from '../../protocol/problem.ts'
import type { Contests } from '../../protocol/resources.ts'
import { etagOf } from '../../serve/http/etag.ts'
import type { AnswerRoute, RouteRequest, Reply } from '../../serve/http/route.ts'
import { problemReply } from '../../serve/http/route.ts'
import { escapeText } from '../markup/html.ts'
import { openPageCache } from '../frame/page-cache.ts'
import type { Web } from '../frame/page-routes.ts'
import { pagePath } from '../frame/page-routes.ts'
import type { AnyPage, View } from '../frame/page.ts'
import { SITEMAP_PATH } from './robots-text.ts'

/** Addresses of one sitemap, by its protocol. */
export const ADDRESSES_MAX = 50_000
/** Contests that are asked for at once: between two such answers others have theirs. */
const CONTESTS_ASKED = 1_000

/** Room for the longest sitemap. */
const BYTES_KEPT = 8 * 1024 * 1024

/** The address of a page without its host, and when what it shows was last another, where that is known. */
export type Mapped = Readonly<{ path: string; changedAt: string | null }>

/** `/sitemap.xml` (sitemaps.org): every page without a question, and the ledger of every contest, the newest first. */
export function sitemapRoute(web: Web, pages: readonly AnyPage[]): AnswerRoute {
  // Many contests take a while to write down, and who reads such a list does not wait for the last event.
  let kept: Readonly<{ minute: number; mapped: Promise<Parsed<readonly Mapped[]>> }> | undefined
  // Its own: it may weigh as much as all pages that are kept.
  const written = openPageCache(BYTES_KEPT)
  const mappedFor = (ask: RouteRequest, minute: number): Promise<Parsed<readonly Mapped[]>> => {
    if (kept?.minute !== minute) {
      const mapped = mappedOf(pages, (endpoint, asked = {}) => web.api.ask(endpoint, ask, asked))
      const making = { minute, mapped }
      kept = making
      // Kept, one failure would be everybody's for a minute.
      const forget = (): void => {
        if (kept === making) kept = undefined
      }
      mapped.then(({ ok }) => (ok ? undefined : forget()), forget)
    }
    return kept.mapped
  }
  const replyOf = async (ask: RouteRequest, minute: number): Promise<Reply> => {
    const mapped = await mappedFor(ask, minute)
    if (!mapped.ok) return problemReply(mapped.problem)
    const body = Buffer.from(sitemapOf(mapped.value, web.site.url))
    return {
      is: 'body',
      keep: 'revalidate',
      etag: etagOf(body),
      type: 'application/xml; charset=utf-8',
      body,
    }
  }
  return {
    path: SITEMAP_PATH,
    parameters: [],
    allowance: 'pages',
    showsLog: true,
    handle(ask) {
      const minute = floorTo(ask.now, MINUTE_MS)
      return written.reply(SITEMAP_PATH, String(minute), () => replyOf(ask, minute))
    },
  }
}

/** What a sitemap names, `most` addresses at most. */
export async function mappedOf(
  pages: readonly AnyPage[],
  ask: View['ask'],
  most: number = ADDRESSES_MAX,
): Promise<Parsed<readonly Mapped[]>> {
  const mapped: Mapped[] = []
  let query: string | undefined = `limit=${CONTESTS_ASKED}`
  while (query !== undefined && mapped.length < most) {
    const asked = await ask('contests', { query })
    if (!asked.ok) return asked
    const { asOf, contests, next }: Contests = JSON.parse(asked.value.json)
    if (mapped.length === 0) mapped.push(...pagesOf(pages, asOf.at))
    for (const { id, status, paidAt } of contests) {
      // What is still to be paid changes with events that a list of contests does not name.
      mapped.push({ path: `/contests/${id}/ledger`, changedAt: status === 'paid' ? paidAt : null })
    }
    query = next?.split('?')[1]
    await setImmediate()
  }
  return parsed(mapped.slice(0, most))
}

/** The pages that have no variable part; those of an answer change with the log, the others with the software. */
function pagesOf(pages: readonly AnyPage[], changedAt: string | null): readonly Mapped[] {
  return pages.flatMap((page) => {
    const path = pagePath(page)
    return path.includes('{') ? [] : [{ path, changedAt: page.endpoint === null ? null : changedAt }]
  })
}

function sitemapOf(mapped: readonly Mapped[], base: string): string {
  const addresses = mapped.map(({ path, changedAt }) => {
    const changed = changedAt === null ? '' : `<lastmod>${changedAt}</lastmod>`
    return `<url><loc>${escapeText(base + path)}</loc>${changed}</url>\n`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${addresses.join('')}</urlset>
`
}
