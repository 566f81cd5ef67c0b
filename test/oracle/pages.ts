import type { PublicEntry, PublicEvent } from './book.ts'

/** Parameters of `/events`. A missing one does not filter. */
export type PageQuestion = Readonly<{
  after?: number
  fromMs?: number
  toMs?: number
  types?: readonly string[]
  kind?: string
  contestId?: number
  nonzero?: boolean
  tx?: string
  order?: 'asc' | 'desc'
  before?: number
  limit?: number
}>

export type Page = Readonly<{
  events: readonly PublicEvent[]
  limit: number
  count: number
  /** Undefined when the range is empty. */
  scannedTo: number | undefined
  hasMore: boolean
}>

/** Most events that one page with `nonzero` examines. */
const EXAMINED_MAX = 20_000

function matches(event: PublicEvent, asked: PageQuestion): boolean {
  if (asked.types !== undefined && !asked.types.includes(event.type)) return false
  if (asked.kind !== undefined && event.kind !== asked.kind) return false
  if (asked.contestId !== undefined && event.contestId !== asked.contestId) return false
  if (asked.tx !== undefined && event.tx !== asked.tx) return false
  return true
}

const isNonzero = ({ kots }: PublicEvent): boolean => kots !== null && !/^0\.0+$/.test(kots)

/** A page of `/events`. With `nonzero` it ends short when it has examined many events that the other filters find. */
export function eventsPage(book: readonly PublicEntry[], asked: PageQuestion): Page {
  const limit = asked.limit ?? 1000
  const range = book
    .map((entry) => entry.event)
    .filter((event) => event.seq > (asked.after ?? 0))
    .filter((event) => asked.fromMs === undefined || event.atMs >= asked.fromMs)
    .filter((event) => asked.toMs === undefined || event.atMs < asked.toMs)
    .filter((event) => asked.before === undefined || event.seq < asked.before)
  if (asked.order === 'desc') range.reverse()
  const found = range.filter((event) => matches(event, asked))
  const examined = asked.nonzero === true ? found.slice(0, EXAMINED_MAX) : found
  const wanted = asked.nonzero === true ? examined.filter(isNonzero) : examined
  const events = wanted.slice(0, limit)
  // A page ends at its last event when it is full, else where it stopped to examine, else with the range.
  const stop = examined.length < found.length ? examined.at(-1) : range.at(-1)
  const last = events.length === limit ? events.at(-1) : stop
  return { events, limit, count: events.length, scannedTo: last?.seq, hasMore: last !== range.at(-1) }
}
