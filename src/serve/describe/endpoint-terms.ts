import type { Caching, Endpoint } from '../../protocol/endpoints/endpoint.ts'
import { STREAMS_PER_CALLER } from '../allowance/caller-slots.ts'

const CACHING_TERMS: Readonly<Record<Exclude<Caching, 'by-range'>, string>> = {
  immutable: 'for ever',
  revalidate: 'until asked again',
  build: 'until asked again',
  never: 'not at all',
}

/** Time for which an endpoint's answer may be cached, as Markdown. */
export function cachingOf({ caching, settled = '' }: Endpoint): string {
  return caching === 'by-range'
    ? `for ever ${settled}; else ${CACHING_TERMS.revalidate}`
    : CACHING_TERMS[caching]
}

/** Cost of a request, and the allowance that it counts against, as Markdown. */
export function costOf({ id, allowance }: Endpoint): string {
  if (allowance === 'tiles') return 'as one request of an allowance of its own'
  if (id === 'stream') {
    return `as one request when it is opened, its events as none; ${STREAMS_PER_CALLER} may be open at once`
  }
  return 'as one request'
}
