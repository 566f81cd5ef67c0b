import type { Caching, Endpoint } from '../../protocol/endpoint.ts'
import { STREAMS_PER_CALLER } from '../allowance/caller-slots.ts'

const KEPT: Readonly<Record<Exclude<Caching, 'by-range'>, string>> = {
  immutable: 'for ever',
  revalidate: 'until asked again',
  never: 'not at all',
}

/** When the answer of an endpoint is settled, where that depends on what was asked. */
const SETTLED: Readonly<Record<string, string>> = {
  summary: 'with `at` before the newest event',
  flows: 'with `from` or `to`, once an event at or after the range’s end is published',
  patterns: 'with `from` or `to`, once an event at or after the range’s end is published',
  events: 'where `hasMore` is true, descending with `before` up to the head',
  archiveFile: 'of a closed month',
}

/** How long what an endpoint answers may be kept, in words with code between backticks. */
export function keptOf({ id, caching }: Endpoint): string {
  return caching === 'by-range' ? `for ever ${SETTLED[id] ?? ''}; else ${KEPT.revalidate}` : KEPT[caching]
}

/** What an endpoint costs of which allowance, in words. */
export function costOf({ id }: Endpoint): string {
  if (id === 'logTile' || id === 'logEntries') return 'as one request of an allowance of its own'
  if (id === 'stream') {
    return `as one request when it is opened, its events as none; ${STREAMS_PER_CALLER} may be open at once`
  }
  return 'as one request'
}
