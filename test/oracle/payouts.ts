import type { Payouts, Unpaid } from '../../src/protocol/endpoints/contest-endpoints.ts'
import type { UnpaidStatus } from '../../src/protocol/enumerations.ts'
import { asOf, billionths, decimal, type PublicDetails, type PublicEntry, type PublicEvent } from './book.ts'
import { iso } from './calendar.ts'

/** One prize as payouts can take from it. A hold changes its terms. */
type Lot = {
  readonly prize: PublicEvent
  readonly claim: boolean
  readonly unlocksAtMs: number | null
  reviewUntilMs: number | null
  /** False when the prize is corrected, and payouts cannot take from it. */
  isValid: boolean
}

/** Amount that a payout or an expiry took from a lot. */
type Taking = { readonly by: PublicEvent; lot: Lot; kots: bigint }

/** The prizes of one contest and kind. */
type Repository = { readonly lots: Lot[]; takings: Taking[] }

function availableAtMs(lot: Lot): number {
  if (lot.unlocksAtMs !== null && lot.reviewUntilMs !== null) {
    return lot.unlocksAtMs > lot.reviewUntilMs ? lot.unlocksAtMs : lot.reviewUntilMs
  }
  return lot.unlocksAtMs ?? lot.reviewUntilMs ?? lot.prize.atMs
}

/** Rest of a lot. Negative when the lot is corrected and no other lot can cover its payments. */
function left(repository: Repository, lot: Lot): bigint {
  let kots = lot.isValid ? billionths(lot.prize.kots ?? '') : 0n
  for (const taking of repository.takings) if (taking.lot === lot) kots -= taking.kots
  return kots
}

/** Lots with a rest, in the order in which payouts take from them. */
function open(repository: Repository): readonly Lot[] {
  return repository.lots
    .filter((lot) => left(repository, lot) > 0n)
    .toSorted((a, b) => availableAtMs(a) - availableAtMs(b) || a.prize.seq - b.prize.seq)
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Takes from the open lots, and returns the amount that they could not cover. */
function take(repository: Repository, by: PublicEvent, kots: bigint): bigint {
  let wanted = kots
  for (const lot of open(repository)) {
    const taken = smaller(wanted, left(repository, lot))
    if (taken > 0n) repository.takings.push({ by, lot, kots: taken })
    wanted -= taken
  }
  return wanted
}

/** Moves payments of corrected prizes to lots with a rest, as far as these go. */
function settle(repository: Repository): void {
  for (const taking of repository.takings.filter((each) => !each.lot.isValid)) {
    const missing = take(repository, taking.by, taking.kots)
    taking.kots = missing
  }
  repository.takings = repository.takings.filter((taking) => taking.kots > 0n)
}

function lotOf(prize: PublicEvent, details: PublicDetails | null): Lot {
  return {
    prize,
    claim: details?.claim ?? false,
    unlocksAtMs: details?.unlocksAtMs ?? null,
    reviewUntilMs: details?.reviewUntilMs ?? null,
    isValid: true,
  }
}

/** Applies one entry to its repository. A correction returns a payout's amounts, or closes a lot. */
function put(repository: Repository, { event, details }: PublicEntry): void {
  const corrected = event.type === 'correction' ? (details?.corrects ?? 0) : null
  if (event.type === 'prize') repository.lots.push(lotOf(event, details))
  if (event.type === 'hold') {
    for (const lot of open(repository)) lot.reviewUntilMs = details?.reviewUntilMs ?? null
  }
  if (event.type === 'payout' || event.type === 'expiry') {
    const missing = take(repository, event, billionths(event.kots ?? ''))
    if (missing > 0n) throw new Error(`event ${event.seq} takes ${decimal(missing)} more than was won`)
  }
  if (corrected !== null) {
    repository.takings = repository.takings.filter((taking) => taking.by.seq !== corrected)
    for (const lot of repository.lots) if (lot.prize.seq === corrected) lot.isValid = false
  }
  settle(repository)
}

/** Contests and kinds that a query names; undefined for all. */
type Asked = Readonly<{ contestIds?: readonly number[]; kinds?: readonly string[] }>

/** Shelves after the whole book, by contest and kind; those that are asked for. */
function shelves(
  book: readonly PublicEntry[],
  { contestIds, kinds }: Asked,
): ReadonlyMap<string, Repository> {
  const all = new Map<string, Repository>()
  const bySeq = new Map(book.map((entry) => [entry.event.seq, entry.event]))
  for (const entry of book) {
    const subject = bySeq.get(entry.details?.corrects ?? 0) ?? entry.event
    const concerns =
      ['prize', 'hold', 'expiry'].includes(subject.type) ||
      (subject.type === 'payout' && subject.kind !== 'refund' && subject.kind !== 'loyalty')
    if (!concerns || contestIds?.includes(subject.contestId ?? 0) === false) continue
    if (kinds?.includes(subject.kind) === false) continue
    const name = `${subject.contestId} ${subject.kind}`
    const repository = all.get(name) ?? { lots: [], takings: [] }
    all.set(name, repository)
    put(repository, entry)
  }
  return all
}

function status(lot: Lot, nowMs: number): UnpaidStatus {
  if (!lot.isValid) return 'overpaid'
  if (lot.unlocksAtMs !== null && nowMs < lot.unlocksAtMs) return 'locked'
  if (lot.reviewUntilMs !== null && nowMs < lot.reviewUntilMs) return 'in_review'
  return lot.claim ? 'awaiting_claim' : 'payable'
}

type Row = { readonly first: Lot; readonly terms: string; kots: bigint }

function rows(book: readonly PublicEntry[], asked: Asked): readonly Row[] {
  const found: Row[] = []
  for (const repository of shelves(book, asked).values()) {
    for (const lot of repository.lots) {
      const kots = left(repository, lot)
      if (kots === 0n) continue
      const { contestId: contest, kind } = lot.prize
      const moments = [lot.unlocksAtMs, lot.reviewUntilMs, availableAtMs(lot)]
      const terms = JSON.stringify([contest, kind, ...moments, lot.claim, lot.isValid])
      const row = found.find((each) => each.terms === terms)
      if (row === undefined) found.push({ first: lot, terms, kots })
      else row.kots += kots
    }
  }
  return found.toSorted((a, b) => a.first.prize.seq - b.first.prize.seq)
}

/** `/payouts` with all rows on one page at the moment `nowMs`, for the whole book. */
export function payouts(book: readonly PublicEntry[], nowMs: number, asked: Asked = {}): Payouts {
  const totals = { locked: 0n, in_review: 0n, awaiting_claim: 0n, payable: 0n, overpaid: 0n }
  const unpaid = rows(book, asked).map(({ first, kots }): Unpaid => {
    totals[status(first, nowMs)] += kots
    return {
      contestId: first.prize.contestId ?? 0,
      kind: first.prize.kind,
      kots: decimal(kots),
      status: status(first, nowMs),
      unlocksAt: first.unlocksAtMs === null ? null : iso(first.unlocksAtMs),
      unlocksAtMs: first.unlocksAtMs,
      reviewUntil: first.reviewUntilMs === null ? null : iso(first.reviewUntilMs),
      reviewUntilMs: first.reviewUntilMs,
      availableAt: iso(availableAtMs(first)),
      availableAtMs: availableAtMs(first),
    }
  })
  return {
    asOf: asOf(book),
    now: { at: iso(nowMs), atMs: nowMs },
    unpaid,
    totals: {
      locked: decimal(totals.locked),
      in_review: decimal(totals.in_review),
      awaiting_claim: decimal(totals.awaiting_claim),
      payable: decimal(totals.payable),
      overpaid: decimal(totals.overpaid),
    },
    next: null,
  }
}
