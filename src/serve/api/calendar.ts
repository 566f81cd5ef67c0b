import type { ContestWire, Planned } from '../../protocol/endpoints/contest-endpoints.ts'
import type { LogReader, Snapshot } from '../../log/store/reader.ts'
import { schedule } from '../../project/answers/schedule.ts'
import { isolateDirection } from '../../protocol/foreign-text.ts'
import { HOUR_MS, type Ms, msOf, SECOND_MS } from '../../protocol/moment.ts'
import { BEFORE_FIRST, type ContestId, contestIdOf, nextSeq } from '../../protocol/seq.ts'
import type { AnswerRoute } from '../http/route.ts'
import {
  CALENDAR_ENTRIES_MAX,
  DETAILED_PAGE_BYTES_MAX,
  EXAMINED_MAX,
  PAGE_LIMIT_MAX,
} from '../../protocol/parameters.ts'
import type { EventType } from '../../protocol/rules.ts'
import ical, { ICalEventStatus } from 'ical-generator'

/** Name and public URL of a service with pages, which the API does not know. */
type CalendarSite = Readonly<{ name: string; url: string }>

/** Cancelled contests that a calendar names, the newest. They are beside the planned entries. */
const CANCELLED_CONTESTS_MAX = 20

/**
 * Opens a formatter of the schedule as an iCalendar feed. An entry keeps its UID when its date moves or its contest is
 * cancelled. With a site, the feed has its name, and each entry the address of its page.
 */
export function openScheduleCalendar(origin: string, site?: CalendarSite): (snapshot: Snapshot) => string {
  const formatEntries = openCalendar()
  return (snapshot) => {
    const { kept: soonest, note } = soonestOf(entriesOf(snapshot, site))
    const kept = [...soonest, ...cancelledOf(snapshot, site)]
    const contests = kept.flatMap(({ contestId }) => (contestId === null ? [] : [contestIdOf(contestId)]))
    const revisions = contestRevisions(snapshot, [...new Set(contests)])
    return formatEntries({
      name: site === undefined ? 'Contests and payments' : `${site.name}: schedule`,
      description: `Planned contest opens and closes and the next loyalty payment. Informational only.${note}`,
      product: 'Schedule',
      origin,
      moments: kept.map(({ contestId, revision, ...entry }) => ({
        ...entry,
        // A contest that was never planned began with its first event.
        ...(revision(revisions.get(contestId ?? 0)) ?? { sequence: 0, changedMs: msOf(entry.atMs) }),
      })),
    })
  }
}

/** An entry before its revisions are read. */
type PlannedEntry = Omit<CalendarMoment, keyof Revision> &
  Readonly<{
    contestId: number | null
    revision: (of: ContestRevisions | undefined) => Revision | undefined
  }>

/** Address of an entry's page; absent in the calendar of the API. */
function pageOf(site: CalendarSite | undefined, path: string): Pick<CalendarMoment, 'url'> {
  return site === undefined ? {} : { url: `${site.url}${path}` }
}

/** Entry of a planned opening or closing. */
function plannedEntry(
  one: Pick<Planned, 'contestId' | 'title' | 'atMs'>,
  word: 'opens' | 'closes',
  site: CalendarSite | undefined,
): PlannedEntry {
  return {
    id: `contest-${one.contestId}-${word}`,
    atMs: one.atMs,
    summary: `${titleOf(one)} ${word}`,
    contestId: one.contestId,
    revision: (of) => of?.[word],
    ...pageOf(site, `/contests/${one.contestId}/ledger`),
  }
}

/** Entries of the newest cancelled contests: the planned moments that will not come. */
function cancelledOf({ books }: Snapshot, site: CalendarSite | undefined): readonly PlannedEntry[] {
  const asked = {
    statuses: null,
    outcomes: ['cancelled'],
    after: null,
    limit: CANCELLED_CONTESTS_MAX,
  } as const
  const cancelled = (contest: ContestWire, word: 'opens' | 'closes', atMs: number): PlannedEntry => {
    const planned = plannedEntry({ ...contest, contestId: contest.id, atMs }, word, site)
    const changedMs = msOf(contest.cancelledAtMs ?? atMs)
    return {
      ...planned,
      status: ICalEventStatus.CANCELLED,
      revision: (of) => ({ sequence: (of?.[word].sequence ?? 0) + 1, changedMs }),
    }
  }
  return books
    .contests(asked)
    .flatMap((contest) => [
      ...(contest.openedAt === null ? [cancelled(contest, 'opens', contest.opensAtMs)] : []),
      ...(contest.closesAtMs === null ? [] : [cancelled(contest, 'closes', contest.closesAtMs)]),
    ])
}

function entriesOf(snapshot: Snapshot, site: CalendarSite | undefined): readonly PlannedEntry[] {
  const { opens, closes, nextLoyaltyPayment } = schedule(snapshot.books)
  const payments = nextLoyaltyPayment === null ? [] : [nextLoyaltyPayment]
  return [
    ...opens.map((one) => plannedEntry(one, 'opens', site)),
    ...closes.map((one) => plannedEntry(one, 'closes', site)),
    ...payments.map(({ month, atMs }) => ({
      id: `loyalty-${month}`,
      atMs,
      summary: `Loyalty payment for ${month}`,
      contestId: null,
      revision: () => loyaltyRevision(snapshot, month),
      ...pageOf(site, '/loyalty/runs'),
    })),
  ]
}

function titleOf({ contestId, title }: Pick<Planned, 'contestId' | 'title'>): string {
  return title === null ? `Contest ${contestId}` : `Contest ${contestId} (${isolateDirection(title)})`
}

/** `/schedule.ics`: the calendar of the API, with the name of the service and a page for each entry. */
export function siteCalendarRoute(reader: LogReader, site: CalendarSite): AnswerRoute {
  const calendar = openScheduleCalendar(reader.identity.origin, site)
  return {
    path: '/schedule.ics',
    parameters: [],
    allowance: 'api',
    showsLog: true,
    handle: () => ({
      is: 'body',
      keep: 'revalidate',
      etag: 'of-content',
      type: CALENDAR_TYPE,
      body: reader.snapshot(calendar),
    }),
  }
}

/** Number of moves of a planned moment, and the moment of the event that last changed its entry. */
type Revision = Readonly<{ sequence: number; changedMs: Ms }>

/** Revisions of a contest's planned moments. */
type ContestRevisions = Readonly<{ opens: Revision; closes: Revision }>

type PlanEvent = Readonly<{ seq: number; kind: string; atMs: Ms; contestId: ContestId }>
type PlanDetails = Readonly<{
  title?: string
  opensAtMs?: number
  closesAtMs?: number
  month?: string
  paysAtMs?: number
  corrects?: number
}>
type PlanChange = Readonly<{ event: PlanEvent; details: PlanDetails }>

/** Reads the plans of contests. A contest that was never planned is absent. */
function contestRevisions(
  snapshot: Snapshot,
  contestIds: readonly ContestId[],
): ReadonlyMap<number, ContestRevisions> {
  if (contestIds.length === 0) return new Map()
  const plans = readPlans(snapshot, ['contest'], ['scheduled', 'rescheduled', 'renamed'], contestIds)
  const groups = Map.groupBy(plans, ({ event }) => event.contestId)
  return new Map(
    [...groups].map(([id, of]) => [
      id,
      {
        opens: revisionOf(of, ({ opensAtMs }) => opensAtMs),
        closes: revisionOf(of, ({ closesAtMs }) => closesAtMs),
      },
    ]),
  )
}

type EntryState = Readonly<{ ms: number | undefined; title: string | undefined }>

/** Folds the plans of one contest. A new title changes an entry without moving it. */
function revisionOf(
  plans: readonly PlanChange[],
  momentOf: (details: PlanDetails) => number | undefined,
): Revision {
  let before: EntryState | null = null
  let sequence = 0
  let changedMs = msOf(0)
  for (const { event, details } of plans) {
    const ms = event.kind === 'renamed' ? before?.ms : momentOf(details)
    const now: EntryState = { ms, title: details.title ?? before?.title }
    // A contest without a plan began with its first event, which another plan moves.
    const isMoved = before === null ? event.kind === 'rescheduled' : now.ms !== before.ms
    if (isMoved) sequence += 1
    if (isMoved || before === null || now.title !== before.title) changedMs = event.atMs
    before = now
  }
  return { sequence, changedMs }
}

/** Reads the plans of a month's loyalty payment. After a plan is corrected, the last uncancelled one applies again. */
function loyaltyRevision(snapshot: Snapshot, month: string): Revision | undefined {
  const plans: { seq: number; ms: number | undefined }[] = []
  let revision: Revision | undefined
  for (const { event, details } of readPlans(
    snapshot,
    ['loyalty', 'correction'],
    ['scheduled', 'loyalty'],
    null,
  )) {
    const before = plans.at(-1)?.ms
    const at = plans.findIndex(({ seq }) => seq === details.corrects)
    if (details.month === month) plans.push({ seq: event.seq, ms: details.paysAtMs })
    else if (at >= 0) plans.splice(at, 1)
    if (plans.at(-1)?.ms === before) continue
    revision = { sequence: revision === undefined ? 0 : revision.sequence + 1, changedMs: event.atMs }
  }
  return revision
}

/** Reads events through indexes, with their details, in the order of the log. */
function readPlans(
  snapshot: Snapshot,
  types: readonly EventType[],
  kinds: readonly string[],
  contestIds: readonly ContestId[] | null,
): readonly PlanChange[] {
  const found: PlanChange[] = []
  const filter = { types, kinds, contestIds, nonzero: false }
  const asked = { filter, tx: null, order: 'asc', limit: PAGE_LIMIT_MAX, examineMax: EXAMINED_MAX } as const
  const before = nextSeq(snapshot.head.seq)
  for (let after = BEFORE_FIRST, hasMore = true; hasMore;) {
    const page = snapshot.detailedWalk({ ...asked, after, before }, 'json', DETAILED_PAGE_BYTES_MAX)
    const events: readonly PlanEvent[] = JSON.parse(`[${Buffer.from(page.bytes).toString()}]`)
    const details: Readonly<Record<number, PlanDetails>> = JSON.parse(
      `{${Buffer.from(page.details).toString()}}`,
    )
    found.push(...events.map((event) => ({ event, details: details[event.seq] ?? {} })))
    ;({ scannedTo: after, hasMore } = page)
  }
  return found
}

export const CALENDAR_TYPE = 'text/calendar; charset=utf-8'

/** Calendar feed. Its bytes depend on nothing else, so they change only when an entry does. */
type Calendar = Readonly<{
  name: string
  description: string
  /** Product name in `PRODID`. */
  product: string
  /** Origin of the log; the end of every UID. */
  origin: string
  /** Entries in the order of the feed. */
  moments: readonly CalendarMoment[]
}>

/** An entry of a calendar. A moved or reworded entry keeps its `id`. */
export type CalendarMoment = Readonly<{
  id: string
  atMs: number
  /** Number of times that the entry has moved (`SEQUENCE`). */
  sequence: number
  /** Moment of the event that last changed the entry (`DTSTAMP`). */
  changedMs: Ms
  summary: string
  description?: string
  /** `CANCELLED` when it will not take place (`STATUS`). */
  status?: ICalEventStatus
  /** Page about the entry. */
  url?: string
}>

const LINE_END = '\r\n'

/** Soonest entries in their order, at most `CALENDAR_ENTRIES_MAX`, and a sentence when there are more. */
export function soonestOf<Entry extends Readonly<{ atMs: number }>>(
  entries: readonly Entry[],
): Readonly<{ kept: readonly Entry[]; note: string }> {
  if (entries.length <= CALENDAR_ENTRIES_MAX) return { kept: entries, note: '' }
  const inOrder = entries.toSorted((a, b) => a.atMs - b.atMs)
  const soonest = new Set(inOrder.slice(0, CALENDAR_ENTRIES_MAX))
  const note = ` Only the soonest ${CALENDAR_ENTRIES_MAX} are named.`
  return { kept: entries.filter((one) => soonest.has(one)), note }
}

/** Opens a formatter of iCalendar feeds (RFC 5545, RFC 7986). It caches the last feed, because formatting is slow. */
export function openCalendar(): (calendar: Calendar) => string {
  let cached: Readonly<{ key: string; text: string }> | undefined
  return (calendar) => {
    const key = JSON.stringify(calendar)
    if (cached?.key !== key) cached = { key, text: format(calendar) }
    return cached.text
  }
}

function format({ name, description, product, origin, moments }: Calendar): string {
  const prodId = { company: 'Daybook', product, language: 'EN' }
  const calendar = ical({ name, description, prodId, ttl: HOUR_MS / SECOND_MS })
  const empty = calendar.toString()
  const head = empty.slice(0, empty.lastIndexOf(END))
  const entries = moments.map(({ id, atMs, changedMs, ...said }) =>
    // Without `DTEND`, which must be later than `DTSTART` (RFC 5545, section 3.8.2.2).
    calendar
      .createEvent({ id: `${id}@${origin}`, stamp: new Date(changedMs), start: new Date(atMs), ...said })
      .toString(),
  )
  return `${head}${entries.join('').split(LINE_END).map(folded).join(LINE_END)}${END}${LINE_END}`
}

const END = 'END:VCALENDAR'

/**
 * Octets of a line without its end. The library also folds lines, but slowly: it makes an encoder for each character.
 */
const LINE_BYTES_MAX = 74

/** Folds a line between characters (RFC 5545, section 3.1). */
function folded(line: string): string {
  if (Buffer.byteLength(line) <= LINE_BYTES_MAX) return line
  let text = ''
  let bytes = 0
  for (const char of line) {
    const size = Buffer.byteLength(char)
    bytes += size
    if (bytes > LINE_BYTES_MAX) {
      text += `${LINE_END} `
      bytes = size
    }
    text += char
  }
  return text
}
