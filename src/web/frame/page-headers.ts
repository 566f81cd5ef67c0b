import { CACHE_CONTROL } from '../../serve/http/headers.ts'
import type { Site } from '../markup/site.ts'
import { PAGE_HEADERS } from './error-page.ts'

/** Seconds for which a CDN may answer with an old page while it asks for a new one. */
const STALE_SECONDS = 10

/** Headers of a page: its security policy, caching and links. `api` is the address of its JSON; null if there is none. */
export function pageHeaders(site: Site, api: string | null): Readonly<Record<string, string>> {
  return { ...PAGE_HEADERS, ...cacheHeader(site), ...linkHeader(site, api) }
}

/** Header that lets a CDN keep a page, when the operator has chosen a time. */
function cacheHeader({ pageCacheSeconds }: Site): Readonly<Record<string, string>> {
  if (pageCacheSeconds === null) return {}
  const shared = `s-maxage=${pageCacheSeconds}, stale-while-revalidate=${STALE_SECONDS}`
  return { 'Cache-Control': `${CACHE_CONTROL.revalidate}, ${shared}` }
}

function linkHeader({ licence }: Site, api: string | null): Readonly<Record<string, string>> {
  const links = [
    ...(api === null ? [] : [`<${api}>; rel="alternate"; type="application/json"`]),
    ...(licence === null ? [] : [`<${licence}>; rel="license"`]),
  ]
  return links.length === 0 ? {} : { Link: links.join(', ') }
}
