import type { PublicEntry, PublicEvent } from './book.ts'

/** What a reader of `/events` may ask; a member left out asks nothing. */
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
  /** Undefined when the range is empty, so that nothing is examined. */
  scannedTo: number | undefined
  hasMore: boolean
}>

/** Entries that one page examines at most. */
export const EXAMINED_MAX = 20_000

function matches(event: PublicEvent, asked: PageQuestion): boolean {
  if (asked.types !== undefined && !asked.types.includes(event.type)) return false
  if (asked.kind !== undefined && event.kind !== asked.kind) return false
  if (asked.contestId !== undefined && event.contestId !== asked.contestId) return false
  if (asked.nonzero === true && (event.kots === null || /^0\.0+$/.test(event.kots))) return false
  return true
}

/** A page of `/events`: examines the range entry by entry until the page is full or the bound is reached. */
export function eventsPage(book: readonly PublicEntry[], asked: PageQuestion): Page {
  const limit = asked.limit ?? 1000
  const range = book
    .map((entry) => entry.event)
    .filter((event) => event.seq > (asked.after ?? 0))
    .filter((event) => asked.fromMs === undefined || event.atMs >= asked.fromMs)
    .filter((event) => asked.toMs === undefined || event.atMs < asked.toMs)
    .filter((event) => asked.before === undefined || event.seq < asked.before)
  if (asked.order === 'desc') range.reverse()
  // A page of one transaction examines the events that name it and passes over the rest of the range.
  const stretch = asked.tx === undefined ? range : range.filter((event) => event.tx === asked.tx)
  const events: PublicEvent[] = []
  let examined = 0
  for (const event of stretch) {
    if (events.length === limit || examined === EXAMINED_MAX) break
    examined += 1
    if (matches(event, asked)) events.push(event)
  }
  // A full page ends at its last event, any other at the last one examined: the same entry either way. One of a
  // transaction that was not stopped has looked through the whole range.
  const isStopped = asked.tx === undefined || events.length === limit || examined === EXAMINED_MAX
  const last = isStopped ? stretch[examined - 1] : range.at(-1)
  const isEnd = last === undefined || last === range.at(-1)
  return { events, limit, count: events.length, scannedTo: last?.seq, hasMore: !isEnd }
}
