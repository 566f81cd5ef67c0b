import type { LogFilter } from '../../log/store/reader.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Parsed, Problem } from '../../protocol/problem.ts'
import { parsed, refused } from '../../protocol/problem.ts'
import type { Seq } from '../../protocol/seq.ts'
import { parseSeq, seqOf } from '../../protocol/seq.ts'
import { logFilter } from '../http/log-filter.ts'
import type { RouteRequest } from '../http/route.ts'
import type { StreamFraming } from './stream-frame.ts'

/** A parsed request of a stream. */
export type Subscription = Readonly<{
  filter: LogFilter
  framing: StreamFraming
  /** Whether a details message comes before each event that has details. */
  details: boolean
  /** The exclusive cursor, and the moment at which to start; the later one wins. Both absent: live from the head. */
  after: Seq | undefined
  from: Ms | undefined
  /** Name of the parameter or header that gave the cursor, for problems. */
  cursorName: 'after' | 'lastEventId' | 'Last-Event-ID'
}>

/**
 * Parses a subscription from a request whose query is checked. `Last-Event-ID` overrides the parameter `lastEventId`, and
 * either overrides `after` and `from`: a client that reconnects sends its first address again.
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

/** Framing for an `Accept` header: JSON lines when it prefers them by name, otherwise Server-Sent Events. */
export function framingOf(accept: string | undefined): StreamFraming {
  if (accept === undefined) return 'sse'
  const wanted = qualityOf(accept, 'application/x-ndjson')
  return wanted > 0 && wanted > qualityOf(accept, 'text/event-stream') ? 'ndjson' : 'sse'
}

/** Number of entries of an `Accept` header that are read. */
const ACCEPT_ENTRIES_MAX = 32
const QUALITY = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/** Quality that an `Accept` header gives a media type by name; 0 when it does not name it. */
function qualityOf(accept: string, type: string): number {
  for (const entry of accept.toLowerCase().split(',', ACCEPT_ENTRIES_MAX)) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim())
    if (name !== type) continue
    const quality = parameters.find((parameter) => parameter.startsWith('q='))
    return quality === undefined ? 1 : Number(QUALITY.exec(quality)?.[1] ?? 0)
  }
  return 0
}
