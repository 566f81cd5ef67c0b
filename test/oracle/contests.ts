import type {
  ContestLedger,
  Contests,
  ContestWire,
  Planned,
  PrizeLine,
  Schedule,
} from '../../src/protocol/endpoints/contest-endpoints.ts'
import type { ContestOutcome, ContestStatus } from '../../src/protocol/enumerations.ts'
import {
  asOf,
  decimal,
  type Effect,
  effects,
  plays,
  type PublicEntry,
  type PublicEvent,
  sum,
} from './book.ts'
import { runs } from './loyalty.ts'

type Grouped = Readonly<{ size: number; byContest: ReadonlyMap<number | null, readonly PublicEntry[]> }>

/** Entries of each book by contest: a book has hundreds of contests, and a scan for each would take minutes. */
const grouped = new WeakMap<readonly PublicEntry[], Grouped>()

function ofContest(book: readonly PublicEntry[], id: number): readonly PublicEntry[] {
  let found = grouped.get(book)
  // A book may have grown since.
  if (found?.size !== book.length) {
    found = { size: book.length, byContest: Map.groupBy(book, (entry) => entry.event.contestId) }
    grouped.set(book, found)
  }
  return found.byContest.get(id) ?? []
}

const isMove = (event: PublicEvent, ...kinds: readonly string[]): boolean =>
  event.type === 'contest' && kinds.includes(event.kind)

/** State of a contest after its last event that changes it. */
export function contestStatus(book: readonly PublicEntry[], id: number): ContestStatus {
  let status: ContestStatus = 'upcoming'
  for (const { event } of ofContest(book, id)) {
    if (isMove(event, 'opened')) status = 'running'
    if (isMove(event, 'closed', 'cancelled')) status = 'paying'
    if (isMove(event, 'paid')) status = 'paid'
  }
  return status
}

const isPoolIn = (event: PublicEvent): boolean => event.type === 'pool' && event.kind !== 'returned'
const isPoolOut = (event: PublicEvent): boolean =>
  event.type === 'prize' ||
  (event.type === 'pool' && event.kind === 'returned') ||
  (event.type === 'payout' && event.kind === 'refund')
const isOwed = (event: PublicEvent): boolean => event.type === 'prize'
const isRedeemed = (event: PublicEvent): boolean => event.type === 'payout' && event.kind !== 'refund'
const isExpired = (event: PublicEvent): boolean => event.type === 'expiry'

/** Outcome of a contest that was paid, and not cancelled: what its prizes of each kind came to. */
function paidOutcome(all: readonly Effect[]): ContestOutcome {
  let lapsed = false
  for (const kind of new Set(all.map(({ subject }) => subject.event.kind))) {
    const line = prizeLine(all, kind)
    if (Number(line.notRedeemed) > 0) return 'owing'
    lapsed ||= Number(line.expired) > 0
  }
  return lapsed ? 'lapsed' : 'paid'
}

/** `/contests/{id}` without its `asOf`. */
export function contest(book: readonly PublicEntry[], id: number): ContestWire {
  const own = ofContest(book, id)
  const all = effects(own)
  const titled = own.findLast(
    ({ event, details }) => isMove(event, 'scheduled', 'renamed') && details?.title !== undefined,
  )
  const planned = own.findLast(({ event }) => isMove(event, 'scheduled', 'rescheduled'))?.details
  const opened = own.find(({ event }) => isMove(event, 'opened'))?.event
  const closed = own.find(({ event }) => isMove(event, 'closed', 'cancelled'))?.event
  const paid = own.find(({ event }) => isMove(event, 'paid'))?.event
  const cancelled = own.find(({ event }) => isMove(event, 'cancelled'))?.event
  if (planned?.opensAt === undefined || planned.opensAtMs === undefined) throw new Error(`no contest ${id}`)
  const owed = sum(all, isOwed)
  const redeemed = sum(all, isRedeemed)
  const expired = sum(all, isExpired)
  return {
    id,
    title: titled?.details?.title ?? null,
    status: contestStatus(own, id),
    opensAt: planned.opensAt,
    opensAtMs: planned.opensAtMs,
    closesAt: planned.closesAt ?? null,
    closesAtMs: planned.closesAtMs ?? null,
    openedAt: opened?.at ?? null,
    openedAtMs: opened?.atMs ?? null,
    closedAt: closed?.at ?? null,
    closedAtMs: closed?.atMs ?? null,
    paidAt: paid?.at ?? null,
    paidAtMs: paid?.atMs ?? null,
    pool: decimal(sum(all, isPoolIn)),
    entries: plays(all, (event) => event.kind === 'entry'),
    plays: plays(all, () => true),
    spentOnPlay: decimal(sum(all, (event) => event.type === 'play')),
    prizesOwed: decimal(owed),
    prizesRedeemed: decimal(redeemed),
    prizesExpired: decimal(expired),
    prizesNotRedeemed: decimal(owed - redeemed - expired),
    outcome: cancelled !== undefined ? 'cancelled' : paid === undefined ? null : paidOutcome(all),
    cancelledAt: cancelled?.at ?? null,
    cancelledAtMs: cancelled?.atMs ?? null,
  }
}

/** Ids of the contests, newest first: by descending seq of `contest/scheduled`. */
export function contestIds(book: readonly PublicEntry[]): readonly number[] {
  const ids: number[] = []
  for (const { event } of book) {
    if (isMove(event, 'scheduled') && event.contestId !== null) ids.unshift(event.contestId)
  }
  return ids
}

const units = (amount: string): bigint => BigInt(amount.replace('.', ''))

/** The rows in the order `sort`, out of the order of their ids: newest first. */
function sorted(rows: readonly ContestWire[], sort: string): readonly ContestWire[] {
  // Of equal amounts the newest is first, and of equal moments the oldest.
  if (sort === 'closesAt') {
    const ends = rows.filter((row) => row.closesAtMs !== null).toReversed()
    const endless = rows.filter((row) => row.closesAtMs === null).toReversed()
    return [...ends.toSorted((a, b) => Number(a.closesAtMs) - Number(b.closesAtMs)), ...endless]
  }
  if (sort !== 'pool' && sort !== 'prizesNotRedeemed') return rows
  return rows.toSorted(
    (a, b) => Number(units(a[sort]) < units(b[sort])) - Number(units(a[sort]) > units(b[sort])),
  )
}

/** `/contests` with all rows on one page, of these statuses (`closed` means paying and paid) and outcomes. */
export function contests(
  book: readonly PublicEntry[],
  statuses?: readonly string[],
  sort = 'newest',
  outcomes?: readonly string[],
): Contests {
  const rows = sorted(
    contestIds(book).map((id) => contest(book, id)),
    sort,
  )
  const asked = (row: ContestWire): boolean =>
    (outcomes === undefined || outcomes.includes(row.outcome ?? '')) &&
    (statuses === undefined ||
      statuses.includes(row.status) ||
      (statuses.includes('closed') && (row.status === 'paying' || row.status === 'paid')))
  return { asOf: asOf(book), contests: rows.filter(asked), next: null }
}

const sortedKinds = (all: readonly Effect[], chosen: (event: PublicEvent) => boolean): readonly string[] => [
  ...new Set(
    all
      .map((effect) => effect.subject.event)
      .filter(chosen)
      .map((event) => event.kind)
      .toSorted(),
  ),
]

function amountsByKind(
  all: readonly Effect[],
  chosen: (event: PublicEvent) => boolean,
): Record<string, string> {
  const amounts: Record<string, string> = {}
  for (const kind of sortedKinds(all, chosen)) {
    amounts[kind] = decimal(sum(all, (event) => chosen(event) && event.kind === kind))
  }
  return amounts
}

function prizeLine(all: readonly Effect[], kind: string): PrizeLine {
  const of = (chosen: (event: PublicEvent) => boolean): bigint =>
    sum(all, (event) => event.kind === kind && chosen(event))
  return {
    kind,
    owed: decimal(of(isOwed)),
    redeemed: decimal(of(isRedeemed)),
    expired: decimal(of(isExpired)),
    notRedeemed: decimal(of(isOwed) - of(isRedeemed) - of(isExpired)),
  }
}

/** `/contests/{id}/ledger` with all payouts on one page. */
export function contestLedger(book: readonly PublicEntry[], id: number): ContestLedger {
  const all = effects(ofContest(book, id))
  const isPrizeLine = (event: PublicEvent): boolean => isOwed(event) || isRedeemed(event) || isExpired(event)
  return {
    asOf: asOf(book),
    contest: contest(book, id),
    pool: {
      in: amountsByKind(all, isPoolIn),
      out: amountsByKind(all, isPoolOut),
      balance: decimal(sum(all, isPoolIn) - sum(all, isPoolOut)),
    },
    prizes: sortedKinds(all, isPrizeLine).map((kind) => prizeLine(all, kind)),
    payouts: all
      .filter((effect) => effect.subject.event.type === 'payout')
      .map((effect) => effect.entry.event),
    next: null,
  }
}

const soonestFirst = (a: Planned, b: Planned): number => a.atMs - b.atMs || a.contestId - b.contestId

/** `/schedule`. */
export function schedule(book: readonly PublicEntry[]): Schedule {
  const rows = contestIds(book).map((id) => contest(book, id))
  const months = runs(book)
  const next = months
    .filter((run) => run.paysAt !== null && run.payouts === 0)
    .toSorted((a, b) => (a.month < b.month ? -1 : 1))[0]
  return {
    asOf: asOf(book),
    opens: rows
      .filter((row) => row.status === 'upcoming')
      .map((row) => ({ contestId: row.id, title: row.title, at: row.opensAt, atMs: row.opensAtMs }))
      .toSorted(soonestFirst),
    closes: rows
      .filter((row) => row.status === 'upcoming' || row.status === 'running')
      .flatMap((row) =>
        row.closesAt === null || row.closesAtMs === null
          ? []
          : [{ contestId: row.id, title: row.title, at: row.closesAt, atMs: row.closesAtMs }],
      )
      .toSorted(soonestFirst),
    nextLoyaltyPayment:
      next === undefined || next.paysAt === null || next.paysAtMs === null
        ? null
        : { month: next.month, at: next.paysAt, atMs: next.paysAtMs },
  }
}
