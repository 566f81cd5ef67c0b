import type { LogFilter } from '../../log/store/reader.ts'
import type { Ms } from '../../protocol/moment.ts'
import { type Parsed, parsed, type Problem, refused } from '../../protocol/problem.ts'
import { parseSeq, type Seq, seqOf } from '../../protocol/seq.ts'
import { preferredType } from '../http/accept.ts'
import type { RouteRequest } from '../http/route.ts'
import type { StreamFraming } from './stream-frame.ts'
import { logFilter } from '../http/log-filter.ts'

/** A parsed request of a stream. */
export type Subscription = Readonly<{
  filter: LogFilter
  framing: StreamFraming
  /** Whether a details message comes before each event that has details. */
  details: boolean
  /**
   * Exclusive cursor, and the moment at which to start. The later one wins. Without both, the stream is live from the
   * head.
   */
  after: Seq | undefined
  from: Ms | undefined
  /** Name of the parameter or header with the cursor, for problems. */
  cursorName: 'after' | 'lastEventId' | 'Last-Event-ID'
}>

/**
 * Parses a subscription from a request whose query is checked. `Last-Event-ID` overrides the parameter `lastEventId`,
 * and either overrides `after` and `from`, because a reconnecting client sends its first address again.
 */
export function parseSubscription(ask: Pick<RouteRequest, 'query' | 'header'>): Parsed<Subscription> {
  const { query } = ask
  const filter = logFilter(query)
  const framing = framingOf(ask.header('accept'))
  const details = query.flag('details')
  const lastEventId = ask.header('last-event-id')
  if (lastEventId !== undefined) {
    const after = parseSeq(lastEventId)
    if (after === undefined) return refused(INVALID_LAST_EVENT_ID)
    return parsed({ filter, framing, details, after, from: undefined, cursorName: 'Last-Event-ID' })
  }
  const cursorName = query.has('lastEventId') ? 'lastEventId' : 'after'
  const given = query.integer(cursorName)
  return parsed({
    filter,
    framing,
    details,
    after: given === undefined ? undefined : seqOf(given),
    from: cursorName === 'after' ? query.time('from') : undefined,
    cursorName,
  })
}

const LAST_EVENT_ID_MESSAGE =
  '`Last-Event-ID` must be the seq of an event: an integer from 0 to 9007199254740991 in plain digits.'

const INVALID_LAST_EVENT_ID: Problem = {
  code: 'invalid-parameter',
  detail: LAST_EVENT_ID_MESSAGE,
  errors: [{ parameter: 'Last-Event-ID', message: LAST_EVENT_ID_MESSAGE }],
}

/** Framing for an `Accept` header: JSON lines when it prefers them, otherwise Server-Sent Events. */
export function framingOf(accept: string | undefined): StreamFraming {
  return preferredType(accept, ['text/event-stream', 'application/x-ndjson']) === 'text/event-stream'
    ? 'sse'
    : 'ndjson'
}
