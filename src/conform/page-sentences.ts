import type { EventWire } from '../protocol/event.ts'
import type { EventDetails, EventsPage } from '../protocol/endpoints/event-endpoints.ts'
import { valueAt } from './check.ts'
import type { ConformRun } from './part.ts'
import { assertApplies, assertHolds, get, type WalkSentence } from './walk-part.ts'

/** Newest events that the walks read. */
export const WINDOW_EVENTS = 2_000
export const WALK_PAGE_EVENTS = 1_000
/** Events of a page of the second reading, so that its pages end elsewhere. */
const OTHER_PAGE_EVENTS = 701
/** Events of a page with details. */
const DETAILED_EVENTS = 100
/** Events whose own addresses are asked for. */
const SAMPLES = 3

/** The newest events of the log as the run began. */
export type EventWindow = Readonly<{
  /** Seq before the first event. */
  after: number
  /** Seq of the last event. */
  head: number
  events: readonly EventWire[]
}>

/** Reads the window in pages of this many events. */
export async function readWindow(run: ConformRun): Promise<EventWindow> {
  const head = run.log.events
  assertApplies(head > 0, 'an event')
  const after = Math.max(0, head - WINDOW_EVENTS)
  return { after, head, events: await readForward(run, after, head, { limit: WALK_PAGE_EVENTS }) }
}

/** Pages of the walk: their events up to a seq. Throws the fault of a page that does not fit the one before it. */
async function readForward(
  run: ConformRun,
  after: number,
  head: number,
  { limit, filter = '' }: Readonly<{ limit: number; filter?: string }>,
): Promise<readonly EventWire[]> {
  const found: EventWire[] = []
  let target = `/api/v1/events?after=${after}&limit=${limit}${filter}`
  for (let scanned = after; ;) {
    const { events, page }: EventsPage = (await get(run, target)).json()
    const request = `GET ${target}`
    if (filter === '') assertContiguous(events, scanned, request)
    const { hasMore, next, scannedTo } = page
    assertHolds(page.count === events.length, request, `page.count == ${events.length}`, page.count)
    const last = events.at(-1)?.seq ?? scanned
    assertHolds(scannedTo >= last, request, `page.scannedTo >= ${last}`, scannedTo)
    assertHolds(filter !== '' || scannedTo === last, request, `page.scannedTo == ${last}`, scannedTo)
    found.push(...events.filter(({ seq }) => seq <= head))
    if (scannedTo >= head) return found
    assertHolds(hasMore, request, `page.hasMore before event ${head}`, hasMore)
    assertHolds(scannedTo > scanned, request, `page.scannedTo > ${scanned}`, scannedTo)
    assertHolds(isPath(next), request, 'page.next is a path of the API', next)
    target = next
    scanned = scannedTo
  }
}

const isPath = (next: string | null): next is string => next?.startsWith('/api/v1/') === true

function assertContiguous(events: readonly EventWire[], after: number, request: string): void {
  for (const [index, { seq }] of events.entries())
    assertHolds(seq === after + 1 + index, request, `seq ${after + 1 + index}`, `seq ${seq}`)
}

/** Asserts that two readings give the same events. */
export function assertSameEvents(
  events: readonly EventWire[],
  wanted: readonly EventWire[],
  request: string,
): void {
  assertSameLines(events.map(lineOf), wanted.map(lineOf), request)
}

/** Asserts that lines are equal, and names the first difference. */
export function assertSameLines(lines: readonly string[], wanted: readonly string[], request: string): void {
  const at = differenceAt(lines, wanted)
  if (at === undefined) return
  assertHolds(false, request, wanted[at] ?? 'no further event', lines[at] ?? 'no further event')
}

/** Index of the first line that two lists do not share; undefined when they are equal. */
export function differenceAt(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const longer = lines.length > wanted.length ? lines : wanted
  const at = longer.findIndex((_, index) => lines[index] !== wanted[index])
  return at === -1 ? undefined : at
}

export const lineOf = (event: EventWire): string => JSON.stringify(event)

async function readBackward(run: ConformRun, { after, head }: EventWindow): Promise<readonly EventWire[]> {
  const found: EventWire[] = []
  let target = `/api/v1/events?order=desc&before=${head + 1}&limit=${OTHER_PAGE_EVENTS}`
  for (let scanned = head + 1; ;) {
    const { events, page }: EventsPage = (await get(run, target)).json()
    const request = `GET ${target}`
    found.push(...events.filter(({ seq }) => seq > after))
    if (page.scannedTo <= after + 1) return found.toReversed()
    assertHolds(page.hasMore, request, `page.hasMore after event ${after + 1}`, page.hasMore)
    assertHolds(page.scannedTo < scanned, request, `page.scannedTo < ${scanned}`, page.scannedTo)
    assertHolds(isPath(page.next), request, 'page.next is a path of the API', page.next)
    target = page.next
    scanned = page.scannedTo
  }
}

/** Filters that the events of a window answer, and the events that each one keeps. */
function filtersOf({
  events,
}: EventWindow): readonly Readonly<{ filter: string; keeps: (event: EventWire) => boolean }>[] {
  const middle = events[Math.floor(events.length / 2)]
  const rare = [...Map.groupBy(events, ({ kind }) => kind)].toSorted(([, a], [, b]) => a.length - b.length)[0]
  const contest = events.findLast(({ contestId }) => contestId !== null)?.contestId
  return [
    ...(middle === undefined
      ? []
      : [{ filter: `&type=${middle.type}`, keeps: (one: EventWire) => one.type === middle.type }]),
    ...(rare === undefined
      ? []
      : [{ filter: `&kind=${rare[0]}`, keeps: (one: EventWire) => one.kind === rare[0] }]),
    ...(contest === undefined
      ? []
      : [{ filter: `&contestId=${contest}`, keeps: (one: EventWire) => one.contestId === contest }]),
    {
      filter: '&nonzero=1',
      keeps: ({ kots }) => kots !== null && /[1-9]/.test(kots),
    },
  ]
}

/** Sentences about pages of the log, its CSV and single events. */
export const PAGE_SENTENCES: readonly WalkSentence<EventWindow>[] = [
  {
    sentence: 'Pages of another size give the same events.',
    requests: 3,
    async check(run, window) {
      const { after, head, events } = window
      const other = await readForward(run, after, head, { limit: OTHER_PAGE_EVENTS })
      assertSameEvents(
        other,
        events,
        `GET /api/v1/events?after=${after}&limit=${OTHER_PAGE_EVENTS}, and its next pages`,
      )
    },
  },
  {
    sentence: 'Backwards the pages give the same events.',
    requests: 3,
    async check(run, window) {
      const before = window.head + 1
      assertSameEvents(
        await readBackward(run, window),
        window.events,
        `GET /api/v1/events?order=desc&before=${before}&limit=${OTHER_PAGE_EVENTS}, and its next pages`,
      )
    },
  },
  {
    sentence: 'A filter keeps every event that it asks for, and no other.',
    requests: 7,
    async check(run, window) {
      const { after, head, events } = window
      for (const { filter, keeps } of filtersOf(window)) {
        const kept = await readForward(run, after, head, { limit: WALK_PAGE_EVENTS, filter })
        const request = `GET /api/v1/events?after=${after}&limit=${WALK_PAGE_EVENTS}${filter}`
        assertSameEvents(kept, events.filter(keeps), request)
      }
    },
  },
  {
    sentence: 'The CSV of the events has the values of the JSON.',
    requests: 1,
    async check(run, { after, events }) {
      const target = `/api/v1/events?format=csv&after=${after}&limit=${WINDOW_EVENTS}`
      const rows = (await get(run, target)).body.toString().split('\r\n')
      const columns = Object.keys(events[0] ?? {})
      const wanted = [columns, ...events.map((event) => Object.values(event).map((value) => value ?? ''))]
      const shown = wanted.map((row) => row.join(','))
      assertSameLines(rows.slice(0, wanted.length), shown, `GET ${target}`)
    },
  },
  {
    sentence: 'The address of an event has the bytes of its line.',
    requests: SAMPLES,
    async check(run, { events }) {
      for (const event of samplesOf(events)) {
        const target = `/api/v1/events/${event.seq}`
        assertSameLines([(await get(run, target)).body.toString()], [lineOf(event)], `GET ${target}`)
      }
    },
  },
  {
    sentence: 'A page with details has those of the addresses of its events.',
    requests: 1 + SAMPLES,
    async check(run, { after, head }) {
      const from = Math.max(after, head - DETAILED_EVENTS)
      const target = `/api/v1/events?after=${from}&limit=${DETAILED_EVENTS}&details=1`
      const { events, details = {} }: EventsPage = (await get(run, target)).json()
      const detailed = events.filter(({ seq }) => details[seq] !== undefined)
      const plain = events.filter(({ seq }) => details[seq] === undefined)
      for (const { seq } of [...detailed.slice(1 - SAMPLES), ...plain.slice(-1)]) {
        const own: EventDetails = (await get(run, `/api/v1/events/${seq}/details`)).json()
        const wanted = JSON.stringify(own.details)
        const was = JSON.stringify(valueAt(details, String(seq)) ?? null)
        assertHolds(was === wanted, `GET ${target}`, `details of event ${seq}: ${wanted}`, was)
      }
    },
  },
]

/** First, middle and last of a list. */
function samplesOf<One>(list: readonly One[]): readonly One[] {
  const at = new Set([0, Math.floor(list.length / 2), list.length - 1])
  return list.filter((_, index) => at.has(index))
}
