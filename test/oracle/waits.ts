import type { WaitFigures, Waits } from '../../src/protocol/endpoints/figure-endpoints.ts'
import type { ContestWire } from '../../src/protocol/endpoints/contest-endpoints.ts'
import { asOf, type PublicEntry, uncancelled } from './book.ts'
import { iso } from './calendar.ts'
import { contestLedger, contests } from './contests.ts'

/** Smallest of the times that at least this many of a hundred do not exceed. */
function rank(times: readonly number[], ofHundred: number): number | null {
  const enough = times.filter(
    (time) => times.filter((other) => other <= time).length * 100 >= ofHundred * times.length,
  )
  return enough.length === 0 ? null : Math.min(...enough)
}

function figures(times: readonly number[], waiting: readonly ContestWire[]): WaitFigures {
  let oldest: ContestWire | undefined
  // The list has the newest contest first, and of equal closes the one that was planned first counts.
  for (const one of waiting) {
    if (oldest === undefined || (one.closedAtMs ?? 0) <= (oldest.closedAtMs ?? 0)) oldest = one
  }
  return {
    paid: times.length,
    p50Ms: rank(times, 50),
    p90Ms: rank(times, 90),
    maxMs: rank(times, 100),
    waiting: waiting.length,
    oldest:
      oldest === undefined
        ? null
        : { contestId: oldest.id, closedAt: oldest.closedAt ?? '', closedAtMs: oldest.closedAtMs ?? 0 },
  }
}

/** `/waits` of whole minutes, without its `now`. */
export function waits(book: readonly PublicEntry[], fromMs: number, toMs: number): Omit<Waits, 'now'> {
  const closed = contests(book).contests.filter(
    ({ closedAtMs }) => closedAtMs !== null && closedAtMs >= fromMs && closedAtMs < toMs,
  )
  const of = (...outcomes: readonly ContestWire['outcome'][]): readonly ContestWire[] =>
    closed.filter(({ outcome }) => outcomes.includes(outcome))
  const [paid, waiting] = [of('paid'), of(null, 'owing')]
  const payments = uncancelled(book).filter(
    ({ event }) => event.type === 'payout' && event.kind !== 'refund' && event.kind !== 'loyalty',
  )
  const kinds = [
    ...new Set(book.filter(({ event }) => event.type === 'prize').map(({ event }) => event.kind)),
  ]
  const rows = kinds.toSorted().map((kind) => {
    const times = paid.flatMap(({ id, closedAtMs }) => {
      const last = payments.findLast(({ event }) => event.contestId === id && event.kind === kind)
      return last === undefined ? [] : [Math.max(0, last.event.atMs - (closedAtMs ?? 0))]
    })
    const unpaid = waiting.filter(({ id }) =>
      contestLedger(book, id).prizes.some((line) => line.kind === kind && Number(line.notRedeemed) > 0),
    )
    return { kind, ...figures(times, unpaid) }
  })
  const [first] = book
  return {
    asOf: asOf(book),
    launchedAt: first?.event.at ?? null,
    launchedAtMs: first?.event.atMs ?? null,
    from: iso(fromMs),
    fromMs,
    to: iso(toMs),
    toMs,
    contests: {
      closed: closed.length,
      paid: paid.length,
      expired: of('lapsed').length,
      cancelled: of('cancelled').length,
      waiting: waiting.length,
    },
    all: figures(
      paid.map(({ closedAtMs, paidAtMs }) => (paidAtMs ?? 0) - (closedAtMs ?? 0)),
      waiting,
    ),
    kinds: rows.filter((row) => row.paid + row.waiting > 0),
  }
}
