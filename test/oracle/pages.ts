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

/** Most entries that one page examines. */
export const EXAMINED_MAX = 20_000

function matches(event: PublicEvent, asked: PageQuestion): boolean {
  if (asked.types !== undefined && !asked.types.includes(event.type)) return false
  if (asked.kind !== undefined && event.kind !== asked.kind) return false
  if (asked.contestId !== undefined && event.contestId !== asked.contestId) return false
  if (asked.nonzero === true && (event.kots === null || /^0\.0+$/.test(event.kots))) return false
  return true
}

/** A page of `/events`. Examines the range entry by entry until the page is full or the limit is reached. */
export function eventsPage(book: readonly PublicEntry[], asked: PageQuestion): Page {
  const limit = asked.limit ?? 1000
  const range = book
    .map((entry) => entry.event)
    .filter((event) => event.seq > (asked.after ?? 0))
    .filter((event) => asked.fromMs === undefined || event.atMs >= asked.fromMs)
    .filter((event) => asked.toMs === undefined || event.atMs < asked.toMs)
    .filter((event) => asked.before === undefined || event.seq < asked.before)
  if (asked.order === 'desc') range.reverse()
  // A page of one transaction examines only the events that name it.
  const stretch = asked.tx === undefined ? range : range.filter((event) => event.tx === asked.tx)
  const events: PublicEvent[] = []
  let examined = 0
  for (const event of stretch) {
    if (events.length === limit || examined === EXAMINED_MAX) break
    examined += 1
    if (matches(event, asked)) events.push(event)
  }
  // The page ends at the last entry that it examined. An unfilled page of one transaction covers the whole range.
  const isStopped = asked.tx === undefined || events.length === limit || examined === EXAMINED_MAX
  const last = isStopped ? stretch[examined - 1] : range.at(-1)
  const isEnd = last === undefined || last === range.at(-1)
  return { events, limit, count: events.length, scannedTo: last?.seq, hasMore: !isEnd }
}
