import { type Price, ZERO } from '../../src/protocol/amount.ts'
import { type Entry, formatEvent } from '../../src/protocol/event.ts'
import {
  boundOf,
  MINUTE_MS,
  type Month,
  type Ms,
  MS_MAX,
  QUARTER_MS,
  WEEK_MS,
} from '../../src/protocol/moment.ts'
import { BEFORE_FIRST, type ContestId, type Seq } from '../../src/protocol/seq.ts'
import type { Activity, AsOfTotals, Books, HeadBooks } from '../../src/project/fold/books.ts'
import {
  type ContestState,
  type Hold,
  kindKey,
  type Lot,
  type Take,
  underHold,
} from '../../src/project/fold/contest.ts'
import { closedAmong, findAmong, isAsked } from '../../src/project/answers/contest-order.ts'
import { contestWire } from '../../src/project/answers/contests.ts'
import {
  apply,
  type Changes,
  type Fold,
  openFold,
  type Repository,
  type StandingPrice,
  withoutChanges,
} from '../../src/project/fold/fold.ts'
import type { LoyaltyState } from '../../src/project/fold/loyalty.ts'
import { activityOf, beginsChunk, replay } from '../../src/project/fold/prefix.ts'
import { copyTally, emptyTally, type Tally, totalsOfTally } from '../../src/project/fold/tally.ts'
import {
  isUnpaidAsked,
  totalsOfRows,
  type UnpaidFilter,
  type UnpaidRow,
  unpaidRows,
} from '../../src/project/fold/unpaid.ts'
import {
  addActivity,
  QUARTERS_OF_WEEK,
  weekOf,
  type WeekRepository,
  weekStrided,
} from '../../src/project/fold/week-sums.ts'
import type { ContestMove } from '../../src/project/fold/ledger.ts'
import { ANSWERS, type PreparedAnswer } from '../../src/project/answers/computed-answers.ts'
import { type Answers, endpointOf, type RecomputedEndpoint } from '../../src/protocol/endpoints/endpoints.ts'
import type { Parsed } from '../../src/protocol/problem.ts'
import { parseQuery } from '../../src/serve/query/query.ts'

type Row = Readonly<{ index: number; atMs: Ms; tally: Tally }>

/** A log in memory with its books, with which tests compare the store. It keeps every entry. */
export type MemoryLog = Readonly<{
  /** Adds the next entry. Its seq must be the next one. */
  add(entry: Entry): void
  /** The fold, for checks before an entry is added. */
  fold(): Fold
  entries(): readonly Entry[]
  /** The books at the current head. They do not change when entries are added. */
  books(): Books
}>

export function openMemoryLog(): MemoryLog {
  const kept = openMemoryRepository()
  const rows: Row[] = []
  const weeks = new Map<Ms, readonly Activity[]>()
  let fold = openFold(emptyTally(), kept.repository)
  let inChunk = 0

  function add(entry: Entry): void {
    const last = kept.entries.at(-1)
    const { atMs } = entry.event
    if (last !== undefined && weekOf(atMs) !== weekOf(last.event.atMs)) closeWeek(weekOf(last.event.atMs))
    if (beginsChunk(last?.event.atMs ?? null, inChunk, atMs)) {
      rows.push({ index: kept.entries.length, atMs, tally: copyTally(fold.tally) })
      inChunk = 0
    }
    inChunk += 1
    apply(fold, entry)
    kept.put(fold.changes)
    kept.entries.push(entry)
    fold = withoutChanges(fold)
  }

  function closeWeek(week: Ms): void {
    const activityBefore = (ms: Ms): Activity => activityOf(tallyBefore(kept, rows, fold.tally, ms).tally)
    weeks.set(week, weekRows({ ...weekRepository(weeks), activityBefore }, week))
  }

  return {
    add,
    fold: () => fold,
    entries: () => kept.entries,
    books: () => booksOf(kept, rows, weeks, copyTally(fold.tally)),
  }
}

function weekRepository(
  weeks: ReadonlyMap<Ms, readonly Activity[]>,
): Omit<WeekRepositoryOf, 'activityBefore'> {
  return {
    row: (q) => weeks.get(weekOf(q))?.[(q - weekOf(q)) / (15 * MINUTE_MS)],
    weekWithRows: (week) => [...weeks.keys()].findLast((kept) => kept <= week),
  }
}

type WeekRepositoryOf = Parameters<typeof weekStrided>[0]

function tallyBefore(kept: MemoryRepository, rows: readonly Row[], newest: Tally, ms: Ms): CountedTally {
  const next = rows[firstAtOrAfter(rows, ms)]
  const whole = ms % MINUTE_MS === 0
  if (whole && next !== undefined) return { tally: next.tally, index: next.index }
  if (whole) return { tally: newest, index: kept.entries.length }
  const row = rows[firstAtOrAfter(rows, ms) - 1]
  if (row === undefined) return { tally: emptyTally(), index: 0 }
  const tally = copyTally(row.tally)
  let index = row.index
  for (;;) {
    const entry = kept.entries[index]
    if (entry === undefined || entry.event.atMs >= ms) return { tally, index }
    replay(tally, entry, kept.openStoredReplay)
    index += 1
  }
}

type CountedTally = Readonly<{ tally: Tally; index: number }>

function firstAtOrAfter(rows: readonly Row[], ms: Ms): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((rows[middle]?.atMs ?? ms) < ms) low = middle + 1
    else high = middle
  }
  return low
}

function booksOf(
  kept: MemoryRepository,
  allRows: readonly Row[],
  weeks: ReadonlyMap<Ms, readonly Activity[]>,
  newest: Tally,
): Books {
  const entries = [...kept.entries]
  const frozen = { ...kept, entries }
  const rows = [...allRows]
  const asOf = ({ tally, index }: CountedTally): AsOfTotals => {
    const event = entries[index - 1]?.event
    const head = { seq: event?.seq ?? BEFORE_FIRST, atMs: event?.atMs ?? null }
    return {
      seq: head.seq,
      head: () => head,
      totals: totalsOfTally(tally),
    }
  }
  const head = asOf({ tally: newest, index: entries.length }).head()
  const activityBefore = (ms: Ms): Activity => activityOf(tallyBefore(frozen, rows, newest, ms).tally)
  return {
    head,
    firstAtMs: entries[0]?.event.atMs ?? null,
    totals: () => asOf({ tally: newest, index: entries.length }),
    totalsBefore: (ms) => asOf(tallyBefore(frozen, rows, newest, ms)),
    totalsBeforeEach: (bounds) => bounds.map((ms) => asOf(tallyBefore(frozen, rows, newest, ms))),
    weekStridedActivity: (q) =>
      head.atMs === null || q >= weekOf(head.atMs)
        ? undefined
        : weekStrided({ ...weekRepository(weeks), activityBefore }, q),
    ...kept.listings(entries),
  }
}

type MemoryRepository = Readonly<{
  entries: Entry[]
  repository: Repository
  openStoredReplay: Parameters<typeof replay>[2]
  put(changes: Changes): void
  listings(entries: readonly Entry[]): HeadBooks
}>

function openMemoryRepository(): MemoryRepository {
  const entries: Entry[] = []
  const corrections = new Map<Seq, Seq>()
  const restatements = new Map<Seq, Seq>()
  const contests = new Map<ContestId, ContestState>()
  const lots = new Map<Seq, Lot>()
  const holds = new Map<string, Hold>()
  const takes = new Map<Seq, Map<Seq, Take>>()
  const loyalty = new Map<Month, LoyaltyState>()
  const prices = new Map<Seq, Price>()
  const prizeKinds = new Set<string>()
  const standing = new Map<Seq, Price | undefined>()
  const moves = new Map<Seq, ContestMove>()
  const entry = (seq: Seq): Entry | undefined => entries[seq - 1]
  return {
    entries,
    openStoredReplay: { entry, move: (seq) => moves.get(seq), standingPrice: (seq) => standing.get(seq) },
    repository: {
      entry,
      correctionOf: (seq) => corrections.get(seq),
      restatementOf: (seq) => restatements.get(seq),
      contest: (id) => contests.get(id),
      openLots: (contestId, kind) =>
        [...lots.values()].filter(
          (lot) => lot.contestId === contestId && lot.kind === kind && lot.unpaid !== ZERO,
        ),
      hold: (contestId, kind) => holds.get(kindKey(contestId, kind)),
      lot: (seq) => lots.get(seq),
      take: (seq, lot) => takes.get(seq)?.get(lot),
      takesBy: (seq) => [...(takes.get(seq)?.values() ?? [])],
      takesFrom: (lot) => [...takes.values()].flatMap((byLot) => byLot.get(lot) ?? []),
      loyalty: (month) => loyalty.get(month),
      prizeKinds: () => prizeKinds,
      priceBefore(seq): StandingPrice | undefined {
        const found = [...prices].findLast(([priced]) => priced < seq && !corrections.has(priced))
        return found === undefined ? undefined : { seq: found[0], price: found[1] }
      },
    },
    put(changes) {
      putAll(corrections, changes.corrections)
      putAll(restatements, changes.restatements)
      putAll(contests, changes.contests)
      putAll(lots, changes.lots)
      putAll(holds, changes.holds)
      putAll(loyalty, changes.loyalty)
      for (const kind of changes.prizeKinds) prizeKinds.add(kind)
      putAll(prices, changes.prices)
      putAll(standing, changes.standing)
      putAll(moves, changes.moves)
      for (const [seq, byLot] of changes.takes) {
        const merged = putAll(takes.get(seq) ?? new Map<Seq, Take>(), byLot)
        for (const [lot, take] of merged) if (take.amount === ZERO) merged.delete(lot)
        takes.set(seq, merged)
      }
    },
    listings: (frozen) => listings(frozen, { contests, lots, holds, loyalty, corrections, restatements }),
  }
}

function putAll<Key, Value>(into: Map<Key, Value>, from: ReadonlyMap<Key, Value>): Map<Key, Value> {
  for (const [key, value] of from) into.set(key, value)
  return into
}

function listings(
  entries: readonly Entry[],
  kept: Readonly<{
    contests: ReadonlyMap<ContestId, ContestState>
    lots: ReadonlyMap<Seq, Lot>
    holds: ReadonlyMap<string, Hold>
    loyalty: ReadonlyMap<Month, LoyaltyState>
    corrections: ReadonlyMap<Seq, Seq>
    restatements: ReadonlyMap<Seq, Seq>
  }>,
): ReturnType<MemoryRepository['listings']> {
  const contests = new Map(kept.contests)
  // Each is set once, by a later event, so those up to the head do not change.
  const known = (seq: Seq | undefined): Seq | undefined =>
    seq !== undefined && seq <= entries.length ? seq : undefined
  const lots = [...kept.lots.values()]
    .filter((lot) => lot.unpaid !== ZERO)
    .map((lot) => underHold(lot, kept.holds.get(kindKey(lot.contestId, lot.kind))))
    .toSorted((a, b) => a.seq - b.seq)
  const unpaid = (filter: UnpaidFilter): readonly UnpaidRow[] =>
    unpaidRows(lots.filter((lot) => isUnpaidAsked(lot, filter)))
  const loyalty = [...kept.loyalty.values()].toSorted((a, b) => (a.month < b.month ? -1 : 1))
  return {
    contest: (id) => contests.get(id),
    contests({ after, limit, ...filter }) {
      const before = after === null ? Infinity : (contests.get(after)?.scheduledSeq ?? 0)
      return [...contests.values()]
        .filter((contest) => contest.scheduledSeq < before)
        .filter((contest) => isAsked(contest, filter))
        .toSorted((a, b) => b.scheduledSeq - a.scheduledSeq)
        .slice(0, limit)
        .map(contestWire)
    },
    closedContests: (range) => closedAmong(contests.values(), range),
    lastPayout: (contestId, kind) =>
      entries.findLast(
        ({ event }) =>
          event.type === 'payout' &&
          event.contestId === contestId &&
          event.kind === kind &&
          known(kept.corrections.get(event.seq)) === undefined,
      )?.event.atMs ?? null,
    findContests: (search) => findAmong(contests.values(), search),
    payoutLines: (contestId, after, limit) =>
      entries
        .map(({ event }) => event)
        .filter((event) => event.contestId === contestId && event.seq > after)
        .filter(
          (event) => event.type === 'payout' || (event.type === 'correction' && event.kind === 'payout'),
        )
        .slice(0, limit)
        .map(formatEvent),
    unpaid: ({ after, limit, ...filter }) =>
      unpaid(filter)
        .filter(({ first }) => first > after)
        .slice(0, limit),
    unpaidTotals: (filter, now) => totalsOfRows(unpaid(filter), now),
    loyalty: () => loyalty,
    correction(seq) {
      const by = known(kept.corrections.get(seq))
      return by === undefined ? undefined : { by, restatement: known(kept.restatements.get(seq)) ?? null }
    },
  }
}

/** Rows of a past week, in the order of its quarter hours. */
function weekRows(repository: WeekRepository, week: Ms): readonly Activity[] {
  return Array.from({ length: QUARTERS_OF_WEEK }, (_, index) => {
    const q = boundOf(week + index * QUARTER_MS)
    return addActivity(repository.activityBefore(q), weekStrided(repository, boundOf(q - WEEK_MS)))
  })
}

type Asked = Readonly<{ segments?: Readonly<Record<string, string>>; query?: string; now?: Ms }>

/** Prepares an answer as the API does. */
export function prepareAnswer<Id extends RecomputedEndpoint>(
  books: Books,
  endpoint: Id,
  { segments = {}, query = '', now = MS_MAX }: Asked = {},
): Parsed<PreparedAnswer<Answers[Id]>> {
  const parsed = parseQuery(query, endpointOf(endpoint).parameters)
  return parsed.ok ? ANSWERS[endpoint](books, { segments, query: parsed.value, now, latest: now }) : parsed
}

/** Computes an answer as the API does. */
export function computeAnswer<Id extends RecomputedEndpoint>(
  books: Books,
  endpoint: Id,
  asked?: Asked,
): Parsed<Answers[Id]> {
  const prepared = prepareAnswer(books, endpoint, asked)
  return prepared.ok ? prepared.value.compute(books) : prepared
}
