import type { EventWire } from '../protocol/event.ts'
import type { EventsPage } from '../protocol/endpoints/event-endpoints.ts'
import type { Ask } from './ask.ts'
import { DaybookError, unexpected } from './daybook-error.ts'
import { endpointPath, type QueryOf } from './endpoint-query.ts'
import type { DetailsWire, WithDetails } from './event-details.ts'
import type { EventFilter } from './filter.ts'

/** Query for events. Reads forward from the first event by default. */
export type EventsAsked = EventFilter &
  Omit<QueryOf<'events'>, 'format' | 'details' | keyof EventFilter> &
  Readonly<{ signal?: AbortSignal | undefined }>

/** Takes the headers of each answer. Throws `another-log` when they name different logs. */
export type SameLog = (headers: Headers) => void

/** Events per requested page: the most that a page may hold. */
export const PAGE_EVENTS = 10_000

/**
 * Yields the events of each page up to the end of the query. Throws `gap` when an unfiltered query skips a seq. Throws
 * `unexpected-answer` when pages repeat or do not advance, and `another-log` when the service changes its log.
 */
export async function* pagesOf(
  ask: Pick<Ask, 'get'>,
  asked: EventsAsked & WithDetails,
  sameLog: SameLog = openSameLog(),
): AsyncGenerator<readonly EventWire[], void, undefined> {
  const { signal, details, ...query } = asked
  const { order, from, to, type, kind, contestId, nonzero, tx } = query
  const step = order === 'desc' ? -1 : 1
  const isWhole = nonzero !== true && [type, kind, contestId, tx].flat().every((value) => value === undefined)
  let last = step < 0 || from !== undefined ? undefined : (query.after ?? 0)
  /** Last seq that the pages have scanned. */
  let reached: number | undefined
  let path: string | null = endpointPath('events', '', {
    limit: PAGE_EVENTS,
    ...query,
    details: details !== undefined,
  })
  while (path !== null) {
    const answer = await ask.get(path, { signal })
    sameLog(answer.headers)
    const { events, page, details: found } = pageOf(answer.json())
    for (const event of events) {
      const { seq } = event
      const own = found?.[seq]
      if (own !== undefined) details?.set(event, own)
      if (last !== undefined && !((seq - last) * step > 0)) throw stuck()
      if (isWhole) noGap(last, seq, step)
      last = seq
    }
    // `scannedTo` reveals an event that is missing at the end of the page.
    const { scannedTo, hasMore, next } = page
    if (isWhole && step > 0 && to === undefined) noGap(last, scannedTo + 1, step)
    if (events.length > 0) yield events
    const advances = reached === undefined || (scannedTo - reached) * step > 0
    if (hasMore && (typeof next !== 'string' || !advances)) throw stuck()
    reached = scannedTo
    path = hasMore ? next : null
  }
}

/** A page with `details=1`: details by seq. */
type DetailedPage = EventsPage & Readonly<{ details?: Readonly<Record<number, DetailsWire>> }>

/** The page in an answer. Throws `unexpected-answer` for anything else: a proxy may have answered. */
function pageOf(json: ReturnType<typeof JSON.parse>): DetailedPage {
  const { events, page } = json ?? {}
  const isPage = Array.isArray(events) && events.every((event) => isSeq(event?.seq)) && isSeq(page?.scannedTo)
  if (!isPage) throw unexpected('the answer is no page of events')
  return json
}

const isSeq = Number.isSafeInteger

const stuck = (): DaybookError => unexpected('a page does not lead to the next one')

/** Throws `gap` unless `seq` is the next one after `last`; any seq may come first. */
export function noGap(last: number | undefined, seq: number, step = 1): void {
  if (last !== undefined && seq !== last + step)
    throw new DaybookError('gap', `seq ${seq} follows seq ${last}`)
}

/** Opens the check that all answers are about one log: a cursor has no meaning in another log. */
export function openSameLog(): SameLog {
  let known: string | null = null
  return (headers) => {
    const log = headers.get('daybook-log')
    if (known !== null && log !== null && log !== known) {
      throw new DaybookError('another-log', 'the service has another log now')
    }
    known ??= log
  }
}
