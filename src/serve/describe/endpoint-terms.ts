import type { Caching, Endpoint } from '../../protocol/endpoints/endpoints.ts'
import { STREAMS_PER_CALLER } from '../allowance/caller-slots.ts'

const CACHING_TERMS: Readonly<Record<Exclude<Caching, 'by-range'>, string>> = {
  immutable: 'immutable',
  revalidate: 'revalidate with `ETag`',
  build: 'revalidate with `ETag`',
  never: 'not cached',
}

/** Time for which an endpoint's answer may be cached, as Markdown. */
export function cachingOf({ caching, settled = '' }: Endpoint): string {
  return caching === 'by-range'
    ? `${CACHING_TERMS.immutable} ${settled}; else ${CACHING_TERMS.revalidate}`
    : CACHING_TERMS[caching]
}

/** Cost of a request, and the allowance that it counts against, as Markdown. */
export function costOf({ id, allowance }: Endpoint): string {
  if (allowance === 'tiles') return 'one request of a separate allowance'
  if (id === 'stream') {
    return `one request when it is opened, none for its events; ${STREAMS_PER_CALLER} may be open at once`
  }
  return 'one request'
}
