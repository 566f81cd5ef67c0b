import { WrongError } from '../reading/finding.ts'
import { assert } from '../../protocol/brand.ts'
import { type Entry, formatEvent } from '../../protocol/event.ts'
import { boundOf, type Month, type Ms } from '../../protocol/moment.ts'
import { BEFORE_FIRST, type ContestId, contestIdOf, type Seq, seqOf } from '../../protocol/seq.ts'
import type { AsOfTotals, Books, Correction, HeadBooks } from '../../project/fold/books.ts'
import {
  apply,
  type Changes,
  openFold,
  type Repository,
  WITHOUT_ADMISSION,
  withoutChanges,
} from '../../project/fold/fold.ts'
import { copyTally, emptyTally, totalsOfTally } from '../../project/fold/tally.ts'
import { type Amount, billionths, type Price, ZERO } from '../../protocol/amount.ts'
import {
  type ContestState,
  type Hold,
  kindKey,
  type Lot,
  type Take,
  underHold,
} from '../../project/fold/contest.ts'
import { closedAmong, findAmong, isAsked } from '../../project/answers/contest-order.ts'
import { contestWire } from '../../project/answers/contests.ts'
import { type EventType, isListedPayout } from '../../protocol/rules.ts'
import type { LoyaltyState } from '../../project/fold/loyalty.ts'
import { isUnpaidAsked, totalsOfRows, type UnpaidFilter, unpaidRows } from '../../project/fold/unpaid.ts'

/** Entries after which the changes of the fold are moved to the state. */
const BATCH_ENTRIES = 256

/**
 * Books of a log that is read once, entry by entry. Totals exist only before given moments: they are copied when the
 * log reaches each. The moments are fixed before the first entry.
 */
type ReplayBooks = Readonly<{
  /** Adds the next entry. Throws when it cannot be posted; then nothing more can be added. */
  add(entry: Entry): void
  /** Books as of the last entry, valid until the next one is added. They have totals only before the given moments. */
  books(): Books
}>

/** Opens empty books, with the moments before which totals will be needed. */
export function openReplayBooks(moments: Iterable<Ms>): ReplayBooks {
  const ahead = [...new Set(moments)].toSorted((a, b) => b - a)
  const passed = new Map<Ms, AsOfTotals>()
  const kept = openReplayState()
  let fold = openFold(emptyTally(), kept.repository)
  let firstAtMs: Ms | null = null
  let head: Readonly<{ seq: Seq; atMs: Ms | null }> = { seq: BEFORE_FIRST, atMs: null }

  const totalsNow = (): AsOfTotals => {
    const reached = head
    return { seq: reached.seq, head: () => reached, totals: totalsOfTally(copyTally(fold.tally)) }
  }
  const NONE = totalsNow()

  function pass(atMs: Ms): void {
    let before: AsOfTotals | undefined
    for (let next = ahead.at(-1); next !== undefined && next <= atMs; next = ahead.at(-1)) {
      before ??= totalsNow()
      passed.set(next, before)
      ahead.pop()
    }
  }

  function settle(): void {
    kept.put(fold.changes)
    fold = withoutChanges(fold)
  }

  function totalsBefore(ms: Ms): AsOfTotals {
    if (firstAtMs === null || ms <= firstAtMs) return NONE
    if (head.atMs !== null && ms > head.atMs) return totalsNow()
    const found = passed.get(ms)
    // The moments come from the answer, so a missing one is a false statement in it.
    if (found === undefined) throw new WrongError('now or launchedAtMs', 'is not that of the log')
    return found
  }

  return {
    add(entry) {
      pass(entry.event.atMs)
      apply(fold, entry)
      firstAtMs ??= entry.event.atMs
      head = { seq: entry.event.seq, atMs: entry.event.atMs }
      if (fold.changes.entries.size >= BATCH_ENTRIES) settle()
    },
    books() {
      settle()
      return {
        head,
        firstAtMs,
        totals: totalsNow,
        totalsBefore,
        totalsBeforeEach: (bounds) => bounds.map(totalsBefore),
        // Without sums of weeks every hour is computed, which gives the same sums in another way.
        weekStridedActivity: () => undefined,
        ...kept.listings,
      }
    },
  }
}

/**
 * State of the fold in memory. `repository` has the values that the fold reads: contests, prizes, payouts, prices,
 * loyalty months, and the fields of events that a correction needs. `listings` are as of the last `put`.
 */
type ReplayState = Readonly<{
  repository: Repository
  listings: HeadBooks
  /** Applies the changes of the fold. */
  put(changes: Changes): void
}>

type PayoutLines = Readonly<{ seqs: Seq[]; lines: string[] }>

function openReplayState(): ReplayState {
  const events = openEventColumns()
  const lots = openLots()
  const prices = new Map<Seq, Price>()
  const contests = new Map<ContestId, ContestState>()
  const payouts = new Map<ContestId, PayoutLines>()
  const paid = new Map<string, Map<Seq, Ms>>()
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
    repository: {
      entry: events.entry,
      ...WITHOUT_ADMISSION,
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
    listings: listingsOf({ contests, payouts, paid, loyalty, corrections, lots }),
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
      for (const [seq, { contestId, kind, atMs, stands }] of changes.prizePayouts) {
        const key = kindKey(contestId, kind)
        const ofKind = paid.get(key) ?? new Map<Seq, Ms>()
        if (stands) ofKind.set(seq, atMs)
        else ofKind.delete(seq)
        paid.set(key, ofKind)
      }
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
  /** Open lots by seq, under their review holds. */
  allOpen(filter: UnpaidFilter): readonly Lot[]
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
    allOpen(filter) {
      return [...open.values()]
        .flatMap((byKind) => [...byKind.values()])
        .filter((lot) => isUnpaidAsked(lot, filter))
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

type StateTables = Readonly<{
  contests: ReadonlyMap<ContestId, ContestState>
  payouts: ReadonlyMap<ContestId, PayoutLines>
  /** Moments of the payouts of prizes that stand, in their order, by contest and kind. */
  paid: ReadonlyMap<string, ReadonlyMap<Seq, Ms>>
  loyalty: ReadonlyMap<Month, LoyaltyState>
  corrections: ReadonlyMap<Seq, Correction>
  lots: Lots
}>

function listingsOf({ contests, payouts, paid, loyalty, corrections, lots }: StateTables): HeadBooks {
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
    lastPayout: (contestId, kind) => [...(paid.get(kindKey(contestId, kind))?.values() ?? [])].at(-1) ?? null,
    findContests: (search) => findAmong(contests.values(), search),
    payoutLines(contestId, after, limit) {
      const { seqs, lines } = payouts.get(contestId) ?? { seqs: [], lines: [] }
      const found = seqs.findIndex((seq) => seq > after)
      return found < 0 ? [] : lines.slice(found, found + limit)
    },
    unpaid: ({ after, limit, ...filter }) =>
      unpaidRows(lots.allOpen(filter))
        .filter(({ first }) => first > after)
        .slice(0, limit),
    unpaidTotals: (filter, now) => totalsOfRows(unpaidRows(lots.allOpen(filter)), now),
    loyalty: () => [...loyalty.values()].toSorted((a, b) => (a.month < b.month ? -1 : 1)),
    correction: (seq) => corrections.get(seq),
  }
}

/** Events in one slab of columns. */
const SLAB_EVENTS = 65_536

type Slab = Readonly<{
  names: Uint16Array
  contests: Float64Array
  moments: Float64Array
  amounts: BigInt64Array
  counts: Float64Array
}>

/** Type and kind of an event, and whether it has an amount. */
type Name = Readonly<{ type: EventType; kind: string; hasAmount: boolean }>

/**
 * Fields of events that their correction needs, in 34 bytes for each event. Has only count and month of the details,
 * and no transactions.
 */
type EventColumns = Readonly<{
  /** Adds the next entry, with the next seq. */
  add(entry: Entry): void
  entry(seq: Seq): Entry | undefined
}>

/** Opens empty columns. */
export function openEventColumns(): EventColumns {
  const slabs: Slab[] = []
  const names: Name[] = []
  const codes = new Map<string, number>()
  // Few amounts need more than 64 bits, and few events have a month.
  const largeAmounts = new Map<Seq, Amount>()
  const months = new Map<Seq, Month>()
  let count = 0

  function codeOf(type: EventType, kind: string, hasAmount: boolean): number {
    const key = `${type}/${kind}/${hasAmount}`
    const known = codes.get(key)
    if (known !== undefined) return known
    assert(names.length < 65_536, 'there are fewer than 65,536 types and kinds')
    names.push({ type, kind, hasAmount })
    codes.set(key, names.length - 1)
    return names.length - 1
  }

  return {
    add({ event, details }) {
      assert(event.seq === count + 1, `seq ${event.seq} follows ${count}`)
      const at = count % SLAB_EVENTS
      if (at === 0) slabs.push(emptySlab())
      const slab = slabs.at(-1)
      assert(slab !== undefined, 'there is a slab to write to')
      const amount = event.kots ?? 0n
      slab.names[at] = codeOf(event.type, event.kind, event.kots !== null)
      slab.contests[at] = event.contestId ?? 0
      slab.moments[at] = event.atMs
      slab.amounts[at] = amount
      slab.counts[at] = details?.count ?? 0
      if (event.kots !== null && BigInt.asIntN(64, amount) !== amount) largeAmounts.set(event.seq, event.kots)
      if (details?.month !== undefined) months.set(event.seq, details.month)
      count += 1
    },
    entry(seq) {
      if (seq < 1 || seq > count) return undefined
      const at = (seq - 1) % SLAB_EVENTS
      const slab = slabs[(seq - 1 - at) / SLAB_EVENTS]
      const name = names[slab?.names[at] ?? -1]
      assert(slab !== undefined && name !== undefined, `seq ${seq} is in its slab`)
      const { type, kind, hasAmount } = name
      const contest = slab.contests[at] ?? 0
      const plays = slab.counts[at] ?? 0
      const month = months.get(seq)
      const amount = largeAmounts.get(seq) ?? billionths(slab.amounts[at] ?? 0n)
      return {
        event: {
          seq: seqOf(seq),
          type,
          kind,
          atMs: boundOf(slab.moments[at] ?? 0),
          contestId: contest === 0 ? null : contestIdOf(contest),
          kots: hasAmount ? amount : null,
          tx: null,
        },
        details: { ...(plays === 0 ? {} : { count: plays }), ...(month === undefined ? {} : { month }) },
      }
    },
  }
}

function emptySlab(): Slab {
  return {
    names: new Uint16Array(SLAB_EVENTS),
    contests: new Float64Array(SLAB_EVENTS),
    moments: new Float64Array(SLAB_EVENTS),
    amounts: new BigInt64Array(SLAB_EVENTS),
    counts: new Float64Array(SLAB_EVENTS),
  }
}
