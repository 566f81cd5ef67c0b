import type { Random } from '../../../sim/random.ts'
import type { HeardStream } from './log-reference.ts'
import type { ConnectionEnd } from './torn-connection.ts'

/** Places of the log at which a resume begins, in seqs. */
export type Places = Readonly<{
  head: number
  /** Events that a page holds at most, that a scan passes at most, and that are cached behind the head. */
  page: number
  scan: number
  ring: number
  monthEnds: readonly number[]
  atMs(seq: number): number
}>

/** A reader between two connections: what it asks for, where it began, and the last id that it has. */
export type Reader = Readonly<{
  filter: string
  details: boolean
  ndjson: boolean
  began: number
  lastId: number
}>

export const PLACES = [
  'start',
  'before-head',
  'head',
  'after-head',
  'page-edge',
  'scan-edge',
  'ring-edge',
  'month-edge',
  'anywhere',
] as const
type Place = (typeof PLACES)[number]

/** Ways in which a client names its cursor. */
export const CURSORS = [
  'after',
  'header',
  'both',
  'both-reversed',
  'both-ahead',
  'from',
  'none',
  'live-page',
] as const
type CursorWay = (typeof CURSORS)[number]

/** One connection: its request, its end, and what the checker must know. */
export type ResumePlan = Omit<HeardStream, 'messages' | 'headMin'> &
  Readonly<{
    request: string
    place: Place | 'chain'
    way: CursorWay
    end: ConnectionEnd
    bytesMax: number
    /** Whether the seq may be above the head, so that a refusal is right. */
    mayBeAhead: boolean
    /** Events published while it connects. */
    publishes: number
    /** Whether it waits for those events, or is cut where its bytes end. */
    waits: boolean
  }>

const TYPES = [
  'play',
  'trade,price',
  'price',
  'contest,play',
  'treasury,correction',
  'correction',
  'burn',
] as const
const KINDS = ['buy', 'entry,vote', 'usd', 'deposit,treasury', 'scheduled,sell', 'nothing'] as const
/** Contests of the beginning have many events. Later ones begin after some thousand events, and the last never. */
const CONTESTS = ['1', '2', '3,1,99', '4,2', '5,6,7,8', '50', '70,9999', '80', '85', '90,100'] as const

/** A new reader with any combination of filters, details and form. */
export function newReader(random: Random): Reader {
  const parts = [
    ...(random.chance(0.4) ? [`type=${random.pick(TYPES)}`] : []),
    ...(random.chance(0.3) ? [`kind=${random.pick(KINDS)}`] : []),
    ...(random.chance(0.3) ? [`contestId=${random.pick(CONTESTS)}`] : []),
    ...(random.chance(0.25) ? ['nonzero=1'] : []),
  ]
  const [details, ndjson] = [random.chance(0.5), random.chance(0.4)]
  return { filter: parts.join('&'), details, ndjson, began: 0, lastId: -1 }
}

function seqAt(place: Place, random: Random, places: Places): number {
  const { head, page, scan, ring, monthEnds } = places
  const near = random.between(-1, 1)
  switch (place) {
    case 'start':
      return random.below(2)
    case 'before-head':
      return head - random.between(1, 2)
    case 'head':
      return head
    case 'after-head':
      return head + random.between(1, 3)
    case 'page-edge':
      return head - page * random.between(1, 3) + near
    case 'scan-edge':
      return head - scan * random.between(1, 2) + near
    case 'ring-edge':
      return head - ring + near
    case 'month-edge':
      return (monthEnds[random.below(monthEnds.length)] ?? 0) + near
    case 'anywhere':
      return random.below(head + 1)
  }
}

/** Draws the next connection of a reader: where it left off, or from a place of the log. */
export function planResume(random: Random, reader: Reader, places: Places): ResumePlan {
  const chained = reader.lastId >= 0
  const place = chained ? 'chain' : random.pick(PLACES)
  const cursor = place === 'chain' ? reader.lastId : Math.max(0, seqAt(place, random, places))
  const way: CursorWay = chained ? random.pick(CHAINED) : random.pick(CURSORS)
  const fitting = way === 'live-page' ? { ...reader, filter: '', details: false, ndjson: false } : reader
  const { filter, details, ndjson } = fitting
  const { query, lastEventId, start } = startOf(way, cursor, random, reader, places)
  const parameters = [...query, ...(filter === '' ? [] : [filter]), ...(details ? ['details=1'] : [])]
  const target =
    way === 'live-page' ? '/live' : `/api/v1/stream${parameters.length > 0 ? '?' : ''}${parameters.join('&')}`
  const headers = [
    'Host: daybook.test',
    ...(lastEventId === null ? [] : [`Last-Event-ID: ${lastEventId}`]),
    ...(ndjson ? ['Accept: application/x-ndjson'] : []),
  ]
  if (random.chance(0.5)) headers.reverse()
  const version = random.chance(0.2) ? '1.0' : '1.1'
  const waits = random.chance(0.4)
  return {
    asked: `${target} ${headers.join(', ')} (${place})`,
    filter,
    details,
    ndjson,
    start,
    request: [`GET ${target} HTTP/${version}`, ...headers, '', ''].join('\r\n'),
    place,
    way,
    end: random.pick(['fin', 'rst', 'half-close']),
    // From within the headers up to several pages; half of the cuts are within the first kilobytes.
    bytesMax: waits ? 4_000_000 : Math.ceil(Math.exp(random.next() * Math.log(200_000))),
    mayBeAhead: place === 'after-head',
    publishes: random.chance(0.5) ? random.between(1, 20) : 0,
    waits,
  }
}

const CHAINED = ['after', 'header', 'both', 'both-reversed', 'both-ahead'] as const

type Started = Readonly<{ query: readonly string[]; lastEventId: number | null; start: HeardStream['start'] }>

function startOf(
  way: CursorWay,
  cursor: number,
  random: Random,
  { began }: Reader,
  { head, atMs }: Places,
): Started {
  const start = { after: cursor }
  switch (way) {
    case 'after':
      return { query: [`after=${cursor}`], lastEventId: null, start }
    case 'header':
    case 'live-page':
      return { query: [], lastEventId: cursor, start }
    case 'both':
      return { query: [`after=${Math.min(began, cursor)}`], lastEventId: cursor, start }
    case 'both-reversed':
      return {
        query: [`after=${random.between(cursor, Math.max(cursor, head))}`],
        lastEventId: cursor,
        start,
      }
    case 'both-ahead':
      return { query: [`after=${head + 1_000_000}`, 'from=0'], lastEventId: cursor, start }
    case 'from': {
      const fromMs = atMs(random.between(1, Math.max(1, head))) - random.below(2)
      const after = random.chance(0.5) ? cursor : 0
      return { query: [`from=${fromMs}`, `after=${after}`], lastEventId: null, start: { after, fromMs } }
    }
    case 'none':
      return { query: [], lastEventId: null, start: 'live' }
  }
}
