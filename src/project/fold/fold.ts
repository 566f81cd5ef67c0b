import { type Price, ZERO } from '../../protocol/amount.ts'
import { assert, unreachable } from '../../protocol/brand.ts'
import type { Entry } from '../../protocol/event.ts'
import type { Month, Ms } from '../../protocol/moment.ts'
import { ruleKind } from '../../protocol/rules.ts'
import type { ContestId, Seq } from '../../protocol/seq.ts'
import { type ContestState, type Hold, kindKey, type Lot } from './contest.ts'
import { moveContest } from './contest-state.ts'
import {
  type ContestMove,
  countContest,
  countFigures,
  type Effect,
  effectOf,
  post,
  postingOf,
  postToContest,
} from './ledger.ts'
import { type LotChanges, openLotRepository, type StoredLots } from './lot-repository.ts'
import {
  addLot,
  cancelLot,
  giveBack,
  type LotBook,
  type LotRepository,
  moveHold,
  openLotBook,
  takeFromLots,
} from './lots.ts'
import { applyToLoyalty, type LoyaltyState } from './loyalty.ts'
import { NO_PRICE, type Tally } from './tally.ts'

/**
 * The room `project` computes figures from events. `fold` applies events to the books: accounts, contests, lots,
 * loyalty runs and running totals. `answers` computes each answer of the API from the books. This room imports
 * `protocol` alone and does no I/O, so that the service, `verify` and browsers run the same code. To read: this file,
 * `ledger.ts`, then one file of `answers`, such as `flows.ts`.
 */

/** A price and the event that published it. */
export type StandingPrice = Readonly<{ seq: Seq; price: Price }>

/** Stored state of the fold: a store, or maps in memory. The fold only reads it. */
export type Repository = StoredLots &
  Readonly<{
    entry(seq: Seq): Entry | undefined
    /** Seq of the correction that cancels an event. */
    correctionOf(seq: Seq): Seq | undefined
    /** Seq of the event that replaces a cancelled one. */
    restatementOf(seq: Seq): Seq | undefined
    contest(id: ContestId): ContestState | undefined
    openLots(contestId: ContestId, kind: string): readonly Lot[]
    hold(contestId: ContestId, kind: string): Hold | undefined
    loyalty(month: Month): LoyaltyState | undefined
    /** Kinds of prize in the log. */
    prizeKinds(): ReadonlySet<string>
    /** Newest uncancelled price event before `seq`. */
    priceBefore(seq: Seq): StandingPrice | undefined
  }>

/** Part of a repository that admission needs. It knows nothing where events are only folded, because they were admitted. */
export const WITHOUT_ADMISSION: Pick<Repository, 'correctionOf' | 'restatementOf' | 'prizeKinds'> = {
  correctionOf: () => undefined,
  restatementOf: () => undefined,
  prizeKinds: () => new Set(),
}

/** A payout of a prize; `stands` is false once it is corrected. */
type PrizePayout = Readonly<{ contestId: ContestId; kind: string; atMs: Ms; stands: boolean }>

/** Moment of the last event that may have changed the lots of one contest and kind. */
export type LotMoment = Readonly<{ contestId: ContestId; kind: string; atMs: Ms }>

/** Changes that are not yet in the repository. */
export type Changes = LotChanges &
  Readonly<{
    entries: Map<Seq, Entry>
    corrections: Map<Seq, Seq>
    /** Replacements by cancelled event. */
    restatements: Map<Seq, Seq>
    contests: Map<ContestId, ContestState>
    /** Holds by contest and kind. */
    holds: Map<string, Hold>
    /** Last event that may have changed lots of a contest and kind. */
    lotMoments: Map<string, LotMoment>
    /** Payouts of prizes that were published or corrected. */
    prizePayouts: Map<Seq, PrizePayout>
    loyalty: Map<Month, LoyaltyState>
    /** Kinds of prize that no earlier batch had. */
    prizeKinds: Set<string>
    prices: Map<Seq, Price>
    /** Price after each event that changed it; undefined without a price. */
    standing: Map<Seq, Price | undefined>
    /** Changes of a contest's status, by event. */
    moves: Map<Seq, ContestMove>
  }>

/** Fold from the log to every figure. It reads its own changes first, then the repository. */
export type Fold = Readonly<{
  tally: Tally
  repository: Repository
  changes: Changes
  /** Cache across batches, because payouts of one contest come together. */
  lotBooks: LotBooks
  /** Cached lots beyond which the least recently used books are dropped. */
  lotsCached: number
}>

const LOTS_CACHED = 200_000

export function openFold(tally: Tally, repository: Repository, lotsCached: number = LOTS_CACHED): Fold {
  return { tally, repository, changes: noChanges(), lotBooks: new Map(), lotsCached }
}

function noChanges(): Changes {
  return {
    entries: new Map(),
    corrections: new Map(),
    restatements: new Map(),
    contests: new Map(),
    lots: new Map(),
    holds: new Map(),
    unpaid: new Map(),
    lotMoments: new Map(),
    takes: new Map(),
    takers: new Map(),
    prizePayouts: new Map(),
    loyalty: new Map(),
    prizeKinds: new Set(),
    prices: new Map(),
    standing: new Map(),
    moves: new Map(),
  }
}

/** The fold without changes, for use when the repository has them. */
export function withoutChanges(fold: Fold): Fold {
  forgetLotBooks(fold.lotBooks, fold.lotsCached)
  return { ...fold, changes: noChanges() }
}

/** The fold with its former tally, after its changes were dropped. Reads the books again that they changed in place. */
export function undone(fold: Fold, tally: Tally): Fold {
  const { lots, holds } = fold.changes
  for (const { contestId, kind } of lots.values()) fold.lotBooks.delete(kindKey(contestId, kind))
  for (const key of holds.keys()) fold.lotBooks.delete(key)
  return { ...fold, tally, changes: noChanges() }
}

export function entryOf(fold: Fold, seq: Seq): Entry | undefined {
  return fold.changes.entries.get(seq) ?? fold.repository.entry(seq)
}

export function correctionOf(fold: Fold, seq: Seq): Seq | undefined {
  return fold.changes.corrections.get(seq) ?? fold.repository.correctionOf(seq)
}

export function restatementOf(fold: Fold, seq: Seq): Seq | undefined {
  return fold.changes.restatements.get(seq) ?? fold.repository.restatementOf(seq)
}

export function contestOf(fold: Fold, id: ContestId): ContestState | undefined {
  return fold.changes.contests.get(id) ?? fold.repository.contest(id)
}

export function loyaltyOf(fold: Fold, month: Month): LoyaltyState | undefined {
  return fold.changes.loyalty.get(month) ?? fold.repository.loyalty(month)
}

/** Kinds of prize so far, with those of the batch. */
export function prizeKindsOf({ changes, repository }: Fold): ReadonlySet<string> {
  const known = repository.prizeKinds()
  return changes.prizeKinds.size === 0 ? known : known.union(changes.prizeKinds)
}

/** Applies one entry, without checks: `publish` has admitted it. */
export function apply(fold: Fold, entry: Entry): void {
  const { event, details } = entry
  const corrects = event.type === 'correction' ? details?.corrects : undefined
  const effect = effectOf(entry, corrects === undefined ? undefined : entryOf(fold, corrects))
  fold.changes.entries.set(event.seq, entry)
  if (corrects !== undefined) fold.changes.corrections.set(corrects, event.seq)
  if (details?.restates !== undefined) fold.changes.restatements.set(details.restates, event.seq)
  countFigures(fold.tally, effect)
  const posting = postingOf(effect)
  if (posting !== undefined) post(fold.tally, posting)
  applyToContest(fold, effect)
  applyByType(fold, effect)
  const month = effect.cause.details?.month
  if (month !== undefined) {
    fold.changes.loyalty.set(month, applyToLoyalty(loyaltyOf(fold, month), month, effect))
  }
}

/** Changes the state of the effect's type: prices, and the lots of a contest's prizes. */
function applyByType(fold: Fold, effect: Effect): void {
  const { type, kind } = effect.cause.event
  switch (type) {
    case 'price':
      return applyToPrice(fold, effect)
    case 'prize':
      return applyToLots(fold, effect, applyPrize)
    case 'payout':
      switch (ruleKind(type, kind)) {
        case '*':
          notePayout(fold, effect)
          return applyToLots(fold, effect, applyTaking)
        case 'refund':
        case 'loyalty':
          return
      }
      return
    case 'expiry':
      return applyToLots(fold, effect, applyTaking)
    case 'hold':
      return applyToLots(fold, effect, applyHold)
    case 'contest':
    case 'play':
    case 'pool':
    case 'burn':
    case 'loyalty':
    case 'treasury':
    case 'trade':
    case 'correction':
      return
    default:
      return unreachable(type)
  }
}

function applyToPrice(fold: Fold, effect: Effect): void {
  const { event, details } = effect.cause
  if (effect.sign === 1) {
    assert(details?.price !== undefined, `price event ${event.seq} has no price`)
    fold.changes.prices.set(event.seq, details.price)
  }
  const { seq } = effect.entry.event
  const price = effect.sign === 1 ? details?.price : standingPrice(fold, seq)?.price
  fold.changes.standing.set(seq, price)
  fold.tally.figures.tokenPrice = price ?? NO_PRICE
}

/** Last uncancelled price before `seq`, with the corrections of this batch. */
function standingPrice(fold: Fold, seq: Seq): StandingPrice | undefined {
  const inBatch = [...fold.changes.prices.keys()].toReversed()
  for (const candidate of inBatch) {
    const price = fold.changes.prices.get(candidate)
    if (price !== undefined && !fold.changes.corrections.has(candidate)) return { seq: candidate, price }
  }
  let stored = fold.repository.priceBefore(seq)
  while (stored !== undefined && fold.changes.corrections.has(stored.seq)) {
    stored = fold.repository.priceBefore(stored.seq)
  }
  return stored
}

function applyToContest(fold: Fold, effect: Effect): void {
  const id = effect.cause.event.contestId
  if (id === null) return
  const before = contestOf(fold, id)
  const moved = moveContest(before, effect)
  if (before?.status !== moved.status) {
    const move = { from: before?.status, to: moved.status }
    fold.changes.moves.set(effect.entry.event.seq, move)
    countContest(fold.tally, move)
  }
  fold.changes.contests.set(id, { ...postToContest(moved, effect), lastSeq: effect.entry.event.seq })
}

type Lots = Readonly<{ book: LotBook; repository: LotRepository; contestId: ContestId; fold: Fold }>

function applyToLots(fold: Fold, effect: Effect, change: (lots: Lots, effect: Effect) => void): void {
  const { contestId, kind } = effect.cause.event
  if (contestId === null) return
  const { atMs } = effect.entry.event
  fold.changes.lotMoments.set(kindKey(contestId, kind), { contestId, kind, atMs })
  const repository = openLotRepository(fold.repository, fold.changes)
  change({ book: lotBookOf(fold, contestId, kind), repository, contestId, fold }, effect)
}

function applyPrize(
  { book, repository, contestId, fold }: Lots,
  { cause: { event, details }, sign }: Effect,
): void {
  const { kots, kind, atMs, seq } = event
  if (kots === null) return
  if (sign === -1) return cancelLot(book, repository, seq)
  if (!fold.repository.prizeKinds().has(kind)) fold.changes.prizeKinds.add(kind)
  const terms = { unlocksAt: details?.unlocksAt ?? null, reviewUntil: details?.reviewUntil ?? null }
  const claim = details?.claim ?? false
  const amounts = { amount: kots, unpaid: kots }
  addLot(book, repository, { seq, contestId, kind, atMs, ...amounts, ...terms, heldFrom: seq, claim })
}

/** Notes that a payout of a prize is published, or that its correction is. */
function notePayout(fold: Fold, { cause: { event }, sign }: Effect): void {
  const { seq, contestId, kind, atMs } = event
  if (contestId === null) return
  fold.changes.prizePayouts.set(seq, { contestId, kind, atMs, stands: sign === 1 })
}

/** Takes a payout or an expiry from the lots. */
function applyTaking({ book, repository, contestId }: Lots, { cause: { event }, sign }: Effect): void {
  const { kots, kind, atMs, seq } = event
  if (kots === null) return
  if (sign === -1) return giveBack(book, repository, seq)
  const none = { amount: ZERO, unlocksAt: null, reviewUntil: null, heldFrom: seq, claim: false }
  takeFromLots(book, repository, seq, kots, (unpaid) => ({ seq, contestId, kind, atMs, unpaid, ...none }))
}

function applyHold({ book, repository, contestId, fold }: Lots, { cause: { event, details } }: Effect): void {
  const { kind, seq } = event
  if (details?.reviewUntil === undefined) return
  const hold = { contestId, kind, seq, reviewUntil: details.reviewUntil }
  moveHold(book, repository, hold)
  fold.changes.holds.set(kindKey(contestId, kind), hold)
}

function lotBookOf(fold: Fold, contestId: ContestId, kind: string): LotBook {
  const key = kindKey(contestId, kind)
  return lotBookIn(fold.lotBooks, key, () => {
    const hold = fold.changes.holds.get(key) ?? fold.repository.hold(contestId, kind)
    return openLotBook(fold.repository.openLots(contestId, kind), hold)
  })
}

/** Lot books in memory by contest and kind. The one used last is at the end. */
type LotBooks = Map<string, LotBook>

/** Lot book of a key, from the cache or `read`. */
function lotBookIn(books: LotBooks, key: string, read: () => LotBook): LotBook {
  const book = books.get(key) ?? read()
  books.delete(key)
  books.set(key, book)
  return book
}

/** Drops books without open lots, and the least recently used ones beyond `lotsCached` lots. */
function forgetLotBooks(books: LotBooks, lotsCached: number): void {
  let lots = 0
  for (const [key, { open }] of books) {
    // A book without open lots is useless, and every contest and kind would leave one.
    if (open.size === 0) books.delete(key)
    lots += open.size
  }
  for (const [key, { open }] of books) {
    // The lots of the book itself do not count. Otherwise a large contest would be read again for each payout.
    lots -= open.size
    if (lots < lotsCached) return
    books.delete(key)
  }
}
