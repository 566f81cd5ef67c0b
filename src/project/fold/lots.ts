import { add, type Amount, negate, smaller, subtract, ZERO } from '../../protocol/amount.ts'
import { assert } from '../../protocol/brand.ts'
import type { Seq } from '../../protocol/seq.ts'
import { availableAt, type Hold, type Lot, reviewOf, type Take, underHold } from './contest.ts'
import {
  firstOverpaid,
  groupsOf,
  noteAll,
  type NoteRow,
  regroup,
  type UnpaidGroups,
} from './unpaid-groups.ts'

/**
 * The unpaid and overpaid lots of one contest and kind. Payouts and expiries take from them in the order in which they
 * become available, then by seq. Unpaid and overpaid lots never coexist: `settle` moves takes between them.
 */
export type LotBook = {
  readonly open: Map<Seq, Lot>
  /** Seqs of the unpaid lots, in the order of taking. */
  readonly queue: Seq[]
  groups: UnpaidGroups
  /** The newest hold, stored once instead of in each lot. */
  hold: Hold | undefined
}

/** Storage of a lot book: closed lots, takes and changes. */
export type LotRepository = Readonly<{
  lot(seq: Seq): Lot | undefined
  /** Amount that a payout or expiry took from a lot. */
  taken(seq: Seq, lot: Seq): Amount
  /** Takes by a payout or expiry, and takes from a lot; never zero. */
  takesBy(seq: Seq): readonly Take[]
  takesFrom(lot: Seq): readonly Take[]
  putLot(lot: Lot): void
  putTake(take: Take): void
  noteRow: NoteRow
}>

export function openLotBook(lots: readonly Lot[], hold: Hold | undefined): LotBook {
  const bySeqs = lots.toSorted(bySeq)
  const open = new Map(bySeqs.map((lot) => [lot.seq, lot]))
  const groups = groupsOf(bySeqs.map((lot) => underHold(lot, hold)))
  return { open, queue: queueOf(bySeqs, hold), groups, hold }
}

function queueOf(lots: Iterable<Lot>, hold: Hold | undefined): Seq[] {
  return [...lots]
    .filter((lot) => lot.unpaid > ZERO)
    .map((lot) => ({ seq: lot.seq, at: availableAt(lot, reviewOf(lot, hold)) }))
    .toSorted((a, b) => a.at - b.at || a.seq - b.seq)
    .map(({ seq }) => seq)
}

/** Adds the lot of a new prize, and moves overpaid amounts to it. */
export function addLot(book: LotBook, repository: LotRepository, lot: Lot): void {
  put(book, repository, lot)
  settle(book, repository)
}

/**
 * Takes a payout or expiry from the lots, in their order. `overdraft` makes an overpaid lot for an amount that exceeds
 * all lots. That happens only when the operator publishes a negative balance.
 */
export function takeFromLots(
  book: LotBook,
  repository: LotRepository,
  seq: Seq,
  amount: Amount,
  overdraft: (missing: Amount) => Lot,
): void {
  let rest = amount
  while (rest > ZERO) {
    const front = book.queue[0]
    if (front === undefined) {
      put(book, repository, overdraft(negate(rest)))
      return repository.putTake({ seq, lot: seq, amount: rest })
    }
    const lot = openLot(book, front)
    const part = smaller(rest, lot.unpaid)
    put(book, repository, { ...lot, unpaid: subtract(lot.unpaid, part) })
    // No take of this event from this lot exists yet.
    repository.putTake({ seq, lot: front, amount: part })
    rest = subtract(rest, part)
  }
}

/** Reverses the takes of a corrected payout or expiry. */
export function giveBack(book: LotBook, repository: LotRepository, seq: Seq): void {
  for (const take of repository.takesBy(seq)) {
    const lot = book.open.get(take.lot) ?? repository.lot(take.lot)
    assert(lot !== undefined, `event ${seq} took from lot ${take.lot}, which does not exist`)
    put(book, repository, { ...lot, unpaid: add(lot.unpaid, take.amount) })
    repository.putTake({ ...take, amount: ZERO })
  }
  settle(book, repository)
}

/** Sets the lot of a corrected prize to zero, and moves its takes to the next lots. */
export function cancelLot(book: LotBook, repository: LotRepository, seq: Seq): void {
  const lot = book.open.get(seq) ?? repository.lot(seq)
  assert(lot !== undefined, `prize ${seq} has no lot`)
  put(book, repository, { ...lot, amount: ZERO, unpaid: subtract(lot.unpaid, lot.amount) })
  settle(book, repository)
}

/** Applies a review hold to all unpaid lots. Changes the rows and the order of taking, but no lot. */
export function moveHold(book: LotBook, repository: LotRepository, hold: Hold): void {
  const before = book.groups
  const open = [...book.open.values()].toSorted(bySeq)
  book.hold = hold
  book.groups = groupsOf(open.map((lot) => underHold(lot, hold)))
  for (const [place, seq] of queueOf(open, hold).entries()) book.queue[place] = seq
  noteAll(hold, before, book.groups, repository.noteRow)
}

/** Moves takes from overpaid lots to unpaid ones. */
function settle(book: LotBook, repository: LotRepository): void {
  // One overpaid lot at a time: the first one often uses up the unpaid lots, and thousands may follow it.
  while (book.queue.length > 0 && book.queue.length < book.open.size) {
    const from = firstOverpaid(book.groups)
    assert(from !== undefined, 'an open lot outside the queue is overpaid')
    for (const take of [...repository.takesFrom(from)].toSorted(bySeq)) moveTake(book, repository, from, take)
    assert(book.queue.length === 0 || !book.open.has(from), `lot ${from} is overpaid without takes`)
  }
}

function moveTake(book: LotBook, repository: LotRepository, from: Seq, take: Take): void {
  let left = take.amount
  for (;;) {
    const lot = book.open.get(from)
    const front = book.queue[0]
    if (lot === undefined || lot.unpaid >= ZERO || front === undefined || left === ZERO) return
    const next = openLot(book, front)
    const part = smaller(smaller(left, negate(lot.unpaid)), next.unpaid)
    left = subtract(left, part)
    repository.putTake({ ...take, amount: left })
    put(book, repository, { ...lot, unpaid: add(lot.unpaid, part) })
    put(book, repository, { ...next, unpaid: subtract(next.unpaid, part) })
    // The payout may have taken from this lot before.
    repository.putTake({ seq: take.seq, lot: front, amount: add(repository.taken(take.seq, front), part) })
  }
}

function put(book: LotBook, repository: LotRepository, lot: Lot): void {
  const before = book.open.get(lot.seq)
  const wasQueued = before !== undefined && before.unpaid > ZERO
  const isQueued = lot.unpaid > ZERO
  const after = isQueued ? (wasQueued ? lot : opened(lot, book.hold)) : closed(lot, before, book.hold)
  if (after.unpaid === ZERO) book.open.delete(after.seq)
  else book.open.set(after.seq, after)
  if (isQueued && !wasQueued) book.queue.splice(placeOf(book, after), 0, after.seq)
  if (wasQueued && !isQueued) book.queue.splice(book.queue.indexOf(after.seq), 1)
  const heldBefore = before === undefined ? undefined : underHold(before, book.hold)
  regroup(book.groups, heldBefore, underHold(after, book.hold), repository.noteRow)
  repository.putLot(after)
}

/** Lot that becomes unpaid again. The current hold does not apply, because the lot was closed. */
function opened(lot: Lot, hold: Hold | undefined): Lot {
  return hold === undefined || hold.seq <= lot.heldFrom ? lot : { ...lot, heldFrom: hold.seq }
}

/** Fully paid lot. It keeps its hold, and later holds do not apply. */
function closed(lot: Lot, before: Lot | undefined, hold: Hold | undefined): Lot {
  return before === undefined ? lot : { ...lot, reviewUntil: reviewOf(before, hold) }
}

function placeOf(book: LotBook, lot: Lot): number {
  let low = 0
  let high = book.queue.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = book.queue[middle]
    if (other !== undefined && isBefore(openLot(book, other), lot, book.hold)) low = middle + 1
    else high = middle
  }
  return low
}

function openLot(book: LotBook, seq: Seq): Lot {
  const lot = book.open.get(seq)
  assert(lot !== undefined, `lot ${seq} is in the queue, but not open`)
  return lot
}

function isBefore(a: Lot, b: Lot, hold: Hold | undefined): boolean {
  const [atA, atB] = [availableAt(a, reviewOf(a, hold)), availableAt(b, reviewOf(b, hold))]
  return atA === atB ? a.seq < b.seq : atA < atB
}

function bySeq(a: Readonly<{ seq: Seq }>, b: Readonly<{ seq: Seq }>): number {
  return a.seq - b.seq
}
