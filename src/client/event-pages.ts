import type { EventWire } from '../protocol/event.ts'
import type { EventsPage } from '../protocol/resources.ts'
import type { Ask } from './ask.ts'
import { DaybookError, unexpected } from './daybook-error.ts'
import type { QueryOf } from './endpoint-query.ts'
import { endpointPath } from './endpoint-query.ts'

/** What is asked of the log. Without an order it is read from the first event on. */
export type EventsAsked = Omit<QueryOf<'events'>, 'format'> & Readonly<{ signal?: AbortSignal | undefined }>

/** Told the headers of each answer about one log. */
export type SameLog = (headers: Headers) => void

/** Events of a page on the way to the head: as many as a page holds at most. */
export const PAGE_EVENTS = 10_000

/**
 * The events of the log, those of a page together, to the end of what was asked for. Throws `gap` when seqs that
 * nothing filters do not follow one another, `unexpected-answer` when pages repeat or lead nowhere, and
 * `another-log` when the log is exchanged on the way.
 */
export async function* pagesOf(
  ask: Pick<Ask, 'get'>,
  asked: EventsAsked,
  sameLog: SameLog = openSameLog(),
): AsyncGenerator<readonly EventWire[], void, undefined> {
  const { signal, ...query } = asked
  const { order, from, to, type = [], kind, contestId, nonzero, tx } = query
  const step = order === 'desc' ? -1 : 1
  const isWhole = type.length === 0 && (kind ?? contestId ?? tx) === undefined && nonzero !== true
  let last = step < 0 || from !== undefined ? undefined : (query.after ?? 0)
  /** Up to where pages have looked. */
  let reached: number | undefined
  let path: string | null = endpointPath('events', '', { limit: PAGE_EVENTS, ...query })
  while (path !== null) {
    const answer = await ask.get(path, { signal })
    sameLog(answer.headers)
    const { events, page }: EventsPage = answer.json()
    for (const { seq } of events) {
      if (last !== undefined && !((seq - last) * step > 0)) throw nowhere()
      if (isWhole) noGap(last, seq, step)
      last = seq
    }
    // The page may say that there was more than it holds.
    const { scannedTo, hasMore, next } = page
    if (isWhole && step > 0 && to === undefined) noGap(last, scannedTo + 1, step)
    if (events.length > 0) yield events
    const isOn = reached === undefined || (scannedTo - reached) * step > 0
    if (hasMore && (next === null || !isOn)) throw nowhere()
    reached = scannedTo
    path = hasMore ? next : null
  }
}

const nowhere = (): DaybookError => unexpected('a page leads nowhere')

/** Throws when a seq is not the next one; before the first nothing is expected. */
export function noGap(last: number | undefined, seq: number, step = 1): void {
  if (last !== undefined && seq !== last + step)
    throw new DaybookError('gap', `seq ${seq} follows seq ${last}`)
}

/** Throws when answers name different logs: a cursor of the one means nothing in the other. */
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
