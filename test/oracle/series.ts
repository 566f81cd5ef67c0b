import type {
  FlowBucket,
  FlowFigures,
  Flows,
  FundFigures,
  Funds,
} from '../../src/protocol/endpoints/figure-endpoints.ts'
import {
  asOf,
  decimal,
  type Effect,
  effects,
  knownAt,
  launch,
  price,
  type PublicEntry,
  type PublicEvent,
  sum,
} from './book.ts'
import { bucketEnd, bucketStart, bucketStarts, iso, moment, nextStart, type Width } from './calendar.ts'
import { BURNED, fund, FUNDS, furtherSums, PAID_IN_PRIZES, SPENT_ON_PLAY } from './figures.ts'

const range = (fromMs: number, toMs: number, bucket: Width) => ({
  from: iso(bucketStart(fromMs, bucket)),
  fromMs: bucketStart(fromMs, bucket),
  to: iso(bucketEnd(toMs, bucket)),
  toMs: bucketEnd(toMs, bucket),
  bucket,
})

const flowFigures = (all: readonly Effect[]): FlowFigures => ({
  spentOnPlay: decimal(sum(all, SPENT_ON_PLAY)),
  paidInPrizes: decimal(sum(all, PAID_IN_PRIZES)),
  burned: decimal(sum(all, BURNED)),
  ...furtherSums(all),
})

/** Effects in the bucket of their moment. */
function dealt(
  all: readonly Effect[],
  starts: readonly number[],
  bucket: Width,
): ReadonlyMap<number, Effect[]> {
  const piles = new Map<number, Effect[]>(starts.map((start) => [start, []]))
  for (const effect of all) piles.get(bucketStart(effect.entry.event.atMs, bucket))?.push(effect)
  return piles
}

/** A bucket is complete when an event at or after its end is published. */
const isOver = (book: readonly PublicEntry[], endMs: number): boolean => {
  const last = book.at(-1)
  return last !== undefined && last.event.atMs >= endMs
}

/** Entries that can change the price, so that each bucket reads only those. */
const priceEntries = (book: readonly PublicEntry[]): readonly PublicEntry[] =>
  book.filter(
    ({ event }) => event.type === 'price' || (event.type === 'correction' && event.kind === 'price'),
  )

/** Sums of the chosen events by kind, for these kinds. */
function byKind(
  pile: readonly Effect[],
  chosen: (event: PublicEvent) => boolean,
  kinds: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    kinds.map((kind) => [kind, decimal(sum(pile, (event) => chosen(event) && event.kind === kind))]),
  )
}

/** Kinds of the chosen events with an amount in some pile, sorted. */
function movedKinds(
  piles: readonly (readonly Effect[])[],
  chosen: (event: PublicEvent) => boolean,
): readonly string[] {
  const events = piles.flat().map(({ subject }) => subject.event)
  const kinds = [...new Set(events.filter(chosen).map(({ kind }) => kind))].toSorted()
  const movedIn = (pile: readonly Effect[], kind: string): boolean =>
    sum(pile, (event) => chosen(event) && event.kind === kind) !== 0n
  return kinds.filter((kind) => piles.some((pile) => movedIn(pile, kind)))
}

/** `/flows?by=kind`: the same with the amounts of each kind. */
export function flowsByKind(
  book: readonly PublicEntry[],
  fromMs: number,
  toMs: number,
  bucket: Width,
): Flows {
  const piles = [...dealt(effects(book), bucketStarts(fromMs, toMs, bucket), bucket).values()]
  const spent = movedKinds(piles, SPENT_ON_PLAY)
  const paid = movedKinds(piles, PAID_IN_PRIZES)
  const burned = movedKinds(piles, BURNED)
  const plain = flows(book, fromMs, toMs, bucket)
  return {
    ...plain,
    buckets: plain.buckets.map((one, index) => ({
      ...one,
      spentByKind: byKind(piles[index] ?? [], SPENT_ON_PLAY, spent),
      paidByKind: byKind(piles[index] ?? [], PAID_IN_PRIZES, paid),
      burnedByKind: byKind(piles[index] ?? [], BURNED, burned),
    })),
  }
}

/** `/flows`: movement within each bucket of the range. */
export function flows(
  book: readonly PublicEntry[],
  fromMs: number,
  toMs: number,
  bucket: Width,
  nowMs?: number,
): Flows {
  const used = range(fromMs, toMs, bucket)
  const starts = bucketStarts(fromMs, toMs, bucket)
  const piles = dealt(effects(book), starts, bucket)
  const prices = priceEntries(book)
  const buckets = starts.map((atMs): FlowBucket => {
    const endMs = nextStart(atMs, bucket)
    return {
      at: iso(atMs),
      atMs,
      complete: isOver(book, endMs),
      tokenPriceUsd: price(prices.filter((entry) => entry.event.atMs < endMs)),
      ...flowFigures(piles.get(atMs) ?? []),
    }
  })
  // Counts events up to the end of the range, so that an answer about the past never changes.
  const counted = knownAt(book, used.toMs - 1)
  return {
    asOf: asOf(counted),
    now: moment(nowMs),
    ...launch(book),
    ...used,
    buckets,
    totals: flowFigures([...piles.values()].flat()),
  }
}

/** `/funds`: balances 1 ms before the end of each bucket. */
export function funds(
  book: readonly PublicEntry[],
  fromMs: number,
  toMs: number,
  bucket: Width,
  nowMs?: number,
): Funds {
  const used = range(fromMs, toMs, bucket)
  const starts = bucketStarts(fromMs, toMs, bucket)
  const all = effects(book)
  const before = all.filter((effect) => effect.entry.event.atMs < used.fromMs)
  const piles = dealt(all, starts, bucket)
  const balances = { treasury: 0n, runningPools: 0n, loyaltyFund: 0n, prizesNotRedeemed: 0n }
  const names = ['treasury', 'runningPools', 'loyaltyFund', 'prizesNotRedeemed'] as const
  const move = (pile: readonly Effect[]): FundFigures => {
    for (const name of names) balances[name] += sum(pile, FUNDS[name].in) - sum(pile, FUNDS[name].out)
    return {
      treasury: decimal(balances.treasury),
      runningPools: decimal(balances.runningPools),
      loyaltyFund: decimal(balances.loyaltyFund),
      prizesNotRedeemed: decimal(balances.prizesNotRedeemed),
    }
  }
  move(before)
  const buckets = starts.map((atMs) => ({
    at: iso(atMs),
    atMs,
    complete: isOver(book, nextStart(atMs, bucket)),
    ...move(piles.get(atMs) ?? []),
  }))
  return {
    asOf: asOf(book),
    ...launch(book),
    ...used,
    now: { ...(moment(nowMs) ?? { at: null, atMs: null }), ...fundsNow(book) },
    buckets,
  }
}

function fundsNow(book: readonly PublicEntry[]): FundFigures {
  return {
    treasury: decimal(fund(book, 'treasury')),
    runningPools: decimal(fund(book, 'runningPools')),
    loyaltyFund: decimal(fund(book, 'loyaltyFund')),
    prizesNotRedeemed: decimal(fund(book, 'prizesNotRedeemed')),
  }
}
