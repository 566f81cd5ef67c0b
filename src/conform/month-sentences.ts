import { gunzipSync } from 'node:zlib'
import { type Month, nextMonth, parseMonth } from '../protocol/moment.ts'
import type { EventWire } from '../protocol/event.ts'
import type { EventsPage } from '../protocol/endpoints/event-endpoints.ts'
import type { ArchiveIndex, ArchiveMonth } from '../protocol/endpoints/file-endpoints.ts'
import type { ConformRun } from './part.ts'
import { assertSameLines, type EventWindow, lineOf } from './page-sentences.ts'
import { ANSWER_BYTES_MAX } from './sender.ts'
import { assertApplies, assertHolds, get, type WalkSentence } from './walk-part.ts'

/** Most bytes of the lines of a month file. */
const MONTH_BYTES_MAX: number = 256 * 1024 * 1024
/** Last events of a closed month that are compared with a page. */
const CLOSED_EVENTS = 100

const ARCHIVE = '/api/v1/archive'

async function monthsOf(run: ConformRun): Promise<ArchiveIndex['months']> {
  const { months }: ArchiveIndex = (await get(run, ARCHIVE)).json()
  return months
}

/** Sentences about the files of months. */
export const MONTH_SENTENCES: readonly WalkSentence<EventWindow>[] = [
  {
    sentence: 'The archive has every month up to that of the head, and all but the last are closed.',
    requests: 2,
    async check(run, { head, events }) {
      const first: EventWire = (await get(run, '/api/v1/events/1')).json()
      const months = await monthsOf(run)
      const request = `GET ${ARCHIVE}`
      const wanted = monthsFrom(monthIn(first), monthIn(events.at(-1) ?? first))
      const names = months.map(({ month }) => month)
      assertSameLines(names.slice(0, wanted.length), wanted, request)
      let last = 0
      for (const [index, { month, state, firstSeq, lastSeq, events: count }] of months.entries()) {
        const due = index === months.length - 1 ? 'open' : 'closed'
        assertHolds(state === due, request, `${month} is ${due}`, state)
        if (firstSeq === null || lastSeq === null) continue
        assertHolds(firstSeq === last + 1, request, `firstSeq of ${month} is ${last + 1}`, firstSeq)
        const sum = lastSeq - firstSeq + 1
        assertHolds(count === sum, request, `${month} has ${sum} events`, count)
        last = lastSeq
      }
      assertHolds(last >= head, request, `the last seq is at least ${head}`, last)
    },
  },
  {
    sentence: 'The file of the newest month has the same events.',
    requests: 2,
    async check(run, { head, events }) {
      const newest = (await monthsOf(run)).findLast(({ firstSeq }) => firstSeq !== null && firstSeq <= head)
      assertApplies(newest !== undefined, 'a month with events')
      const lines = await readLines(run, newest)
      const first = newest.firstSeq ?? 0
      const own = events.filter(({ seq }) => seq >= first)
      const from = (own[0]?.seq ?? first) - first
      assertSameLines(lines.slice(from, head - first + 1), own.map(lineOf), `GET ${newest.url}`)
    },
  },
  {
    sentence: 'The file of a closed month has the events of its pages.',
    requests: 3,
    async check(run) {
      const closed = (await monthsOf(run)).findLast(
        ({ state, events, bytes }) => state === 'closed' && events > 0 && (bytes ?? 0) <= ANSWER_BYTES_MAX,
      )
      assertApplies(closed !== undefined, `a closed month whose file has ${ANSWER_BYTES_MAX} bytes at most`)
      const lines = await readLines(run, closed)
      const request = `GET ${closed.url}`
      assertHolds(lines.length === closed.events, request, `${closed.events} lines`, `${lines.length} lines`)
      const count = Math.min(CLOSED_EVENTS, lines.length)
      const target = `/api/v1/events?order=desc&before=${(closed.lastSeq ?? 0) + 1}&limit=${count}`
      const { events }: EventsPage = (await get(run, target)).json()
      assertSameLines(lines.slice(-count), events.toReversed().map(lineOf), request)
    },
  },
]

function monthIn({ seq, at }: EventWire): Month {
  const month = parseMonth(at.slice(0, 7))
  assertHolds(month !== undefined, `GET /api/v1/events/${seq}`, 'a moment from 1970 to 9999', at)
  return month
}

async function readLines(run: ConformRun, { url }: ArchiveMonth): Promise<readonly string[]> {
  const { body } = await get(run, url, {}, 'any')
  const request = `GET ${url}`
  let text = ''
  try {
    text = gunzipSync(body, { maxOutputLength: MONTH_BYTES_MAX }).toString()
  } catch (error) {
    assertHolds(false, request, 'a gzip file', error instanceof Error ? error.message : '')
  }
  assertHolds(text === '' || text.endsWith('\n'), request, 'lines that end', text.slice(-100))
  return text.split('\n').slice(0, -1)
}

/** Months from one to another, both included. */
function monthsFrom(first: Month, last: Month): readonly Month[] {
  const months: Month[] = []
  for (let at = first; at < last; at = nextMonth(at)) months.push(at)
  return [...months, last]
}
