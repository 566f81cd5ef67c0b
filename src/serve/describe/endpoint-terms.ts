import type { Caching, Endpoint } from '../../protocol/endpoints/endpoint.ts'
import { STREAMS_PER_CALLER } from '../allowance/caller-slots.ts'

const KEPT: Readonly<Record<Exclude<Caching, 'by-range'>, string>> = {
  immutable: 'for ever',
  revalidate: 'until asked again',
  build: 'until asked again',
  never: 'not at all',
}

/** How long an endpoint's answer may be kept, with code between backticks. */
export function keptOf({ caching, settled = '' }: Endpoint): string {
  return caching === 'by-range' ? `for ever ${settled}; else ${KEPT.revalidate}` : KEPT[caching]
}

/** Cost of a request, and the allowance that it counts against. */
export function costOf({ id, allowance }: Endpoint): string {
  if (allowance === 'tiles') return 'as one request of an allowance of its own'
  if (id === 'stream') {
    return `as one request when it is opened, its events as none; ${STREAMS_PER_CALLER} may be open at once`
  }
  return 'as one request'
}
