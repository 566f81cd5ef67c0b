import { type Price, ZERO } from '../../protocol/amount.ts'
import { type Entry, formatEvent } from '../../protocol/event.ts'
import type { Month } from '../../protocol/moment.ts'
import type { ContestId, Seq } from '../../protocol/seq.ts'
import type { Correction, HeadBooks } from '../../project/fold/books.ts'
import {
  type ContestState,
  type Hold,
  kindKey,
  type Lot,
  type Take,
  underHold,
} from '../../project/fold/contest.ts'
import { findAmong } from '../../project/answers/contest-order.ts'
import { contestWire } from '../../project/answers/contests.ts'
import { isListedPayout } from '../../project/fold/event-traits.ts'
import type { Changes, Shelf } from '../../project/fold/fold.ts'
import type { LoyaltyState } from '../../project/fold/loyalty.ts'
import { totalsOfRows, unpaidRows } from '../../project/fold/unpaid.ts'
import { openEventColumns } from './event-columns.ts'

/**
 * State of the fold in memory. `shelf` has what the fold reads: contests, prizes, payouts, prices, loyalty months, and
 * the fields of events that a correction needs. `listings` are as of the last `put`.
 */
type ReplayShelf = Readonly<{
  shelf: Shelf
  listings: HeadBooks
  /** Applies the changes of the fold. */
  put(changes: Changes): void
}>

type PayoutLines = Readonly<{ seqs: Seq[]; lines: string[] }>

export function openReplayShelf(): ReplayShelf {
  const events = openEventColumns()
  const lots = openLots()
  const prices = new Map<Seq, Price>()
  const contests = new Map<ContestId, ContestState>()
  const payouts = new Map<ContestId, PayoutLines>()
  const loyalty = new Map<Month, LoyaltyState>()
  const corrections = new Map<Seq, Correction>()

  function keepPayout({ event }: Entry): void {
    if (event.contestId === null || !isListedPayout(event)) return
    const kept = payouts.get(event.contestId) ?? { seqs: [], lines: [] }
    payouts.set(event.contestId, kept)
    kept.seqs.push(event.seq)
    kept.lines.push(formatEvent(event))
  }

  return {
    shelf: {
      entry: events.entry,
      // Only admission uses these two, not the fold.
      correctionOf: () => undefined,
      restatementOf: () => undefined,
      contest: (id) => contests.get(id),
      openLots: lots.open,
      hold: lots.hold,
      lot: lots.lot,
      take: lots.take,
      takesBy: lots.takesBy,
      takesFrom: lots.takesFrom,
      loyalty: (month) => loyalty.get(month),
      priceBefore(seq) {
        const found = [...prices].findLast(([priced]) => priced < seq)
        return found === undefined ? undefined : { seq: found[0], price: found[1] }
      },
    },
    listings: listingsOf({ contests, payouts, loyalty, corrections, lots }),
    put(changes) {
      for (const entry of changes.entries.values()) {
        events.add(entry)
        keepPayout(entry)
      }
      for (const [seq, price] of changes.prices) prices.set(seq, price)
      // A cancelled price stays cancelled, because corrections cannot be corrected.
      for (const [seq, by] of changes.corrections) {
        prices.delete(seq)
        corrections.set(seq, { by, restatement: null })
      }
      for (const [seq, restatement] of changes.restatements) {
        const correction = corrections.get(seq)
        if (correction !== undefined) corrections.set(seq, { ...correction, restatement })
      }
      for (const [id, contest] of changes.contests) contests.set(id, contest)
      for (const [month, state] of changes.loyalty) loyalty.set(month, state)
      for (const lot of changes.lots.values()) lots.putLot(lot)
      for (const hold of changes.holds.values()) lots.putHold(hold)
      for (const byLot of changes.takes.values()) for (const take of byLot.values()) lots.putTake(take)
    },
  }
}

type Lots = Readonly<{
  lot(seq: Seq): Lot | undefined
  open(contestId: ContestId, kind: string): readonly Lot[]
  hold(contestId: ContestId, kind: string): Hold | undefined
  /** Open lots by seq, with their review holds applied; null for all contests. */
  allOpen(contestId: ContestId | null): readonly Lot[]
  take(seq: Seq, lot: Seq): Take | undefined
  takesBy(seq: Seq): readonly Take[]
  takesFrom(lot: Seq): readonly Take[]
  putLot(lot: Lot): void
  putHold(hold: Hold): void
  putTake(take: Take): void
}>

function openLots(): Lots {
  const lots = new Map<Seq, Lot>()
  const open = new Map<string, Map<Seq, Lot>>()
  const holds = new Map<string, Hold>()
  const takes = new Map<Seq, Map<Seq, Take>>()
  const takers = new Map<Seq, Set<Seq>>()
  const takeOf = (seq: Seq, lot: Seq): Take | undefined => takes.get(seq)?.get(lot)
  return {
    lot: (seq) => lots.get(seq),
    hold: (contestId, kind) => holds.get(kindKey(contestId, kind)),
    open: (contestId, kind) => [...(open.get(kindKey(contestId, kind))?.values() ?? [])],
    allOpen(contestId) {
      const all = [...open.values()].flatMap((byKind) => [...byKind.values()])
      const asked = contestId === null ? all : all.filter((lot) => lot.contestId === contestId)
      return asked
        .map((lot) => underHold(lot, holds.get(kindKey(lot.contestId, lot.kind))))
        .toSorted((a, b) => a.seq - b.seq)
    },
    take: takeOf,
    takesBy: (seq) => [...(takes.get(seq)?.values() ?? [])],
    takesFrom: (lot) => [...(takers.get(lot) ?? [])].flatMap((seq) => takeOf(seq, lot) ?? []),
    putLot(lot) {
      lots.set(lot.seq, lot)
      const key = kindKey(lot.contestId, lot.kind)
      const ofKind = open.get(key) ?? new Map<Seq, Lot>()
      if (lot.unpaid === ZERO) ofKind.delete(lot.seq)
      else ofKind.set(lot.seq, lot)
      if (ofKind.size === 0) open.delete(key)
      else open.set(key, ofKind)
    },
    putHold: (hold) => void holds.set(kindKey(hold.contestId, hold.kind), hold),
    putTake(take) {
      const { seq, lot, amount } = take
      const byLot = takes.get(seq) ?? new Map<Seq, Take>()
      const ofLot = takers.get(lot) ?? new Set<Seq>()
      if (amount === ZERO) {
        byLot.delete(lot)
        ofLot.delete(seq)
      } else {
        byLot.set(lot, take)
        ofLot.add(seq)
      }
      takes.set(seq, byLot)
      takers.set(lot, ofLot)
    },
  }
}

type ShelfTables = Readonly<{
  contests: ReadonlyMap<ContestId, ContestState>
  payouts: ReadonlyMap<ContestId, PayoutLines>
  loyalty: ReadonlyMap<Month, LoyaltyState>
  corrections: ReadonlyMap<Seq, Correction>
  lots: Lots
}>

function listingsOf({ contests, payouts, loyalty, corrections, lots }: ShelfTables): HeadBooks {
  return {
    contest: (id) => contests.get(id),
    contests({ statuses, after, limit }) {
      const before = after === null ? Infinity : (contests.get(after)?.scheduledSeq ?? 0)
      return [...contests.values()]
        .filter((contest) => contest.scheduledSeq < before)
        .filter((contest) => statuses === null || statuses.includes(contest.status))
        .toSorted((a, b) => b.scheduledSeq - a.scheduledSeq)
        .slice(0, limit)
        .map(contestWire)
    },
    findContests: (search) => findAmong(contests.values(), search),
    payoutLines(contestId, after, limit) {
      const { seqs, lines } = payouts.get(contestId) ?? { seqs: [], lines: [] }
      const found = seqs.findIndex((seq) => seq > after)
      return found < 0 ? [] : lines.slice(found, found + limit)
    },
    unpaid: ({ contestId, after, limit }) =>
      unpaidRows(lots.allOpen(contestId))
        .filter(({ first }) => first > after)
        .slice(0, limit),
    unpaidTotals: (contestId, now) => totalsOfRows(unpaidRows(lots.allOpen(contestId)), now),
    loyalty: () => [...loyalty.values()].toSorted((a, b) => (a.month < b.month ? -1 : 1)),
    correction: (seq) => corrections.get(seq),
  }
}
