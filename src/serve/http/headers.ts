import type { LogIdentity } from '../../log/store/reader.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

const EXPOSED = [
  'ETag',
  'Link',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'Allow',
  'Accept-Ranges',
  'Content-Range',
  'Content-Disposition',
  'Repr-Digest',
  'Daybook-Log',
  'Daybook-Mirror',
  'Daybook-Request',
  'Daybook-Seq',
  'Daybook-Simulated',
  'Daybook-Scanned-To',
  'Daybook-Has-More',
  'Daybook-Archive-State',
  'Daybook-Last-Seq',
]

export const ALLOWED_METHODS = 'GET, HEAD, OPTIONS'

/** CORS headers of every answer, even to unreadable requests. */
export const CORS_HEADERS: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED.join(', '),
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

/** Headers of the answer to a preflight, valid for a day. */
export const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  Allow: ALLOWED_METHODS,
  'Access-Control-Allow-Methods': ALLOWED_METHODS,
  'Access-Control-Allow-Headers': '*',
  'Access-Control-Max-Age': '86400',
  'Cache-Control': 'max-age=86400',
}

/** Headers as they are written: alternating names and values, each name once. */
export type HeaderList = readonly string[]

/** List with further headers. A further header replaces one of the same name, and further links come first. */
export function headerList(list: HeaderList, further: Readonly<Record<string, string>>): string[] {
  const all = [...list]
  for (const name in further) {
    const value = further[name] ?? ''
    const at = all.indexOf(name)
    if (at < 0) all.push(name, value)
    else all[at + 1] = name === 'Link' ? `${value}, ${all[at + 1] ?? ''}` : value
  }
  return all
}

/** Header that links the licence of the data; none without a licence. */
export function licenceLink(licence: string | null): Readonly<Record<string, string>> {
  return licence === null ? {} : { Link: `<${licence}>; rel="license"` }
}

/** Headers of an answer without CORS, for pages of this service only. */
export function sameOriginHeaders(list: HeaderList): HeaderList {
  const own = list.flatMap((name, index) => {
    const isKept = index % 2 === 0 && !(name in CORS_HEADERS)
    return isKept ? [name, list[index + 1] ?? ''] : []
  })
  return [...own, 'Cross-Origin-Resource-Policy', 'same-origin']
}

/** Header in every answer of a mirror, with the address of its origin. */
export function mirrorHeader(mirrorOf: string | null): Readonly<Record<string, string>> {
  return mirrorOf === null ? {} : { 'Daybook-Mirror': mirrorOf }
}

/** Headers of every answer of one log. `mirrorOf` is the address of a mirror's origin. */
export function commonHeaders(
  identity: LogIdentity,
  mirrorOf: string | null,
): Readonly<Record<string, string>> {
  return {
    ...CORS_HEADERS,
    ...mirrorHeader(mirrorOf),
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'Daybook-Log': identity.id,
    ...(identity.simulated ? { 'Daybook-Simulated': '1' } : {}),
  }
}

/** Cache policy of an answer: for ever, until revalidated by its ETag, or none. */
export type Keep = 'immutable' | 'revalidate' | 'no-store'

export const CACHE_CONTROL: Readonly<Record<Keep, string>> = {
  immutable: 'public, max-age=31536000, immutable',
  revalidate: 'public, max-age=0, must-revalidate',
  'no-store': 'no-store',
}
