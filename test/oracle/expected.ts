import type { Expected, ExpectedContest, Figures } from './input.ts'
import { billionths, decimal, type PublicDetails, type PublicEntry } from './book.ts'
import type { Width } from './calendar.ts'
import { contestIds, contestLedger } from './contests.ts'
import { patterns } from './patterns.ts'
import { flows } from './series.ts'

/** Fields of an import line on which figures depend. */
type DraftLine = Readonly<{
  at: string
  type: string
  kind: string
  contestId?: number
  kots?: string
  tx?: string
  details?: Readonly<Record<string, string | number | boolean>>
}>

const ZERO = '0.000000000'
/** Minutes ahead of UTC: zero, a multiple of half an hour, negative. */
const ZONES = [0, 330, -480]
const MOMENTS = ['opensAt', 'closesAt', 'unlocksAt', 'reviewUntil', 'paysAt']

/** Book of a log that has imported these lines only. */
export function bookOf(drafts: readonly DraftLine[]): readonly PublicEntry[] {
  return drafts.map(({ at, type, kind, contestId = null, kots = null, tx = null, details }, index) => ({
    event: { seq: index + 1, type, kind, at, atMs: Date.parse(at), contestId, kots, tx },
    details: details === undefined ? null : detailsOf(details),
  }))
}

/** Details with every planned moment in both forms, as in a published event. */
function detailsOf(details: NonNullable<DraftLine['details']>): PublicDetails {
  const moments = MOMENTS.filter((name) => name in details)
  return {
    ...details,
    ...Object.fromEntries(moments.map((name) => [`${name}Ms`, Date.parse(String(details[name]))])),
  }
}

/** Figures of a data set, computed by the oracle. */
export function expectedOf(book: readonly PublicEntry[]): Expected {
  const events = book.map((entry) => entry.event)
  const [first, last] = [events[0], events.at(-1)]
  if (first === undefined || last === undefined) throw new Error('a data set has events')
  const range = [first.atMs, last.atMs + 1] as const
  return {
    events: events.length,
    nonzero: events.filter(({ kots }) => kots !== null && billionths(kots) !== 0n).length,
    first: first.at,
    last: last.at,
    countByTypeKind: counts(events.map(({ type, kind }) => `${type}/${kind}`)),
    sumByTypeKind: sums(book),
    eventsByMonth: counts(events.map(({ at }) => at.slice(0, 7))),
    contests: Object.fromEntries(contestIds(book).map((id) => [id, contestOf(book, id)])),
    flowsByDay: flowsBy(book, range, 'day'),
    flowsByWeek: flowsBy(book, range, 'week'),
    flowsByHour: flowsBy(book, range, 'hour'),
    patterns: Object.fromEntries(ZONES.map((tz) => [tz, cellsOf(book, range, tz)])),
  }
}

function counts(names: readonly string[]): Record<string, number> {
  const found: Record<string, number> = {}
  for (const name of names) found[name] = (found[name] ?? 0) + 1
  return found
}

function sums(book: readonly PublicEntry[]): Record<string, string> {
  const found: Record<string, bigint> = {}
  for (const { event } of book) {
    const name = `${event.type}/${event.kind}`
    if (event.kots !== null) found[name] = (found[name] ?? 0n) + billionths(event.kots)
  }
  return Object.fromEntries(Object.entries(found).map(([name, total]) => [name, decimal(total)]))
}

function contestOf(book: readonly PublicEntry[], id: number): ExpectedContest {
  const { contest, prizes } = contestLedger(book, id)
  return {
    status: contest.status,
    pool: contest.pool,
    plays: contest.plays,
    spentOnPlay: contest.spentOnPlay,
    owed: Object.fromEntries(prizes.map(({ kind, owed }) => [kind, owed])),
    redeemed: Object.fromEntries(prizes.map(({ kind, redeemed }) => [kind, redeemed])),
  }
}

function flowsBy(
  book: readonly PublicEntry[],
  [from, to]: readonly [number, number],
  bucket: Width,
): Record<string, Figures> {
  const rows = flows(book, from, to, bucket).buckets.map((row) => [row.at, figuresOf(row)] as const)
  return Object.fromEntries(rows.filter(([, figures]) => Object.keys(figures).length > 0))
}

function cellsOf(
  book: readonly PublicEntry[],
  [from, to]: readonly [number, number],
  tz: number,
): Record<string, Figures> {
  const { cells } = patterns(book, from, to, tz)
  return Object.fromEntries(
    cells.map((cell) => [`${cell.day}-${String(cell.hour).padStart(2, '0')}`, figuresOf(cell)]),
  )
}

/** Entries of a row that are not zero. */
function figuresOf({ spentOnPlay, paidInPrizes, burned }: Required<Figures>): Figures {
  return {
    ...(spentOnPlay === ZERO ? {} : { spentOnPlay }),
    ...(paidInPrizes === ZERO ? {} : { paidInPrizes }),
    ...(burned === ZERO ? {} : { burned }),
  }
}
