import type { WaitFigures, Waits } from '../../protocol/endpoints/figure-endpoints.ts'
import { ZERO } from '../../protocol/amount.ts'
import { boundOf, ceilTo, formatAt, MINUTE_MS, type Ms } from '../../protocol/moment.ts'
import { WAIT_CONTESTS_MAX } from '../../protocol/parameters.ts'
import { type Parsed, parsed, type Problem, refused } from '../../protocol/problem.ts'
import type { Books } from '../fold/books.ts'
import { type ContestState, outcomeOf, unpaidOf } from '../fold/contest.ts'
import { asOf } from './as-of.ts'
import { nowWire, type ResolvedSpan, spanWire } from './range.ts'

/** A contest that has closed. */
type Closed = ContestState & Readonly<{ closedAt: Ms }>

/** Result of a closed contest. `waiting`: prizes may still be paid, or a correction left some unpaid. */
type Result = keyof Omit<Waits['contests'], 'closed'>

/**
 * Times from the close of contests until they were paid, of the contests that closed in a span. At most
 * `WAIT_CONTESTS_MAX` contests: a span that `isDefault` begins later then, at its end if need be, and any other is
 * refused.
 */
export function waits(books: Books, span: ResolvedSpan, isDefault: boolean): Parsed<Waits> {
  const found = books.closedContests({ ...span, limit: WAIT_CONTESTS_MAX + 1 }).filter(hasClosed)
  const fromMs = found.length > WAIT_CONTESTS_MAX ? firstFitting(found) : span.fromMs
  if (fromMs !== span.fromMs && !isDefault) return refused(tooManyContests(fromMs, span))
  const contests = found.filter(({ closedAt }) => closedAt >= fromMs)
  const results = Map.groupBy(contests, resultOf)
  const count = (result: Result): number => results.get(result)?.length ?? 0
  const paid = results.get('paid') ?? []
  const waiting = results.get('waiting') ?? []
  return parsed({
    asOf: asOf(books.head),
    now: nowWire(span),
    ...spanWire(books, { ...span, fromMs }),
    contests: {
      closed: contests.length,
      paid: count('paid'),
      expired: count('expired'),
      cancelled: count('cancelled'),
      waiting: count('waiting'),
    },
    all: figuresOf(
      paid.map(({ closedAt, paidAt }) => spanOf(closedAt, paidAt)),
      waiting,
    ),
    kinds: kindsOf(books, paid, waiting),
  })
}

function hasClosed(contest: ContestState): contest is Closed {
  return contest.closedAt !== null
}

function resultOf(contest: Closed): Result {
  switch (outcomeOf(contest)) {
    case 'paid':
      return 'paid'
    case 'lapsed':
      return 'expired'
    case 'cancelled':
      return 'cancelled'
    case 'owing':
    case null:
      return 'waiting'
  }
}

/** The figures by kind of prize, sorted by kind. A kind waits in a contest while some of it is unpaid. */
function kindsOf(books: Books, paid: readonly Closed[], waiting: readonly Closed[]): Waits['kinds'] {
  const spans = paid.flatMap(({ id, closedAt, prizes }) =>
    [...prizes.keys()].flatMap((kind) => {
      const last = books.lastPayout(id, kind)
      return last === null ? [] : [{ kind, span: spanOf(closedAt, last) }]
    }),
  )
  const unpaid = waiting.flatMap((contest) =>
    [...contest.prizes].flatMap(([kind, prize]) => (unpaidOf(prize) > ZERO ? [{ kind, contest }] : [])),
  )
  const spansOfKind = Map.groupBy(spans, ({ kind }) => kind)
  const unpaidOfKind = Map.groupBy(unpaid, ({ kind }) => kind)
  return [...new Set([...spansOfKind.keys(), ...unpaidOfKind.keys()])].toSorted().map((kind) => ({
    kind,
    ...figuresOf(
      (spansOfKind.get(kind) ?? []).map(({ span }) => span),
      (unpaidOfKind.get(kind) ?? []).map(({ contest }) => contest),
    ),
  }))
}

/** Time from the close to a payment; 0 if that was before the close. */
function spanOf(closedAt: Ms, paidAt: Ms | null): number {
  return Math.max(0, (paidAt ?? closedAt) - closedAt)
}

function figuresOf(spans: readonly number[], waiting: readonly Closed[]): WaitFigures {
  const sorted = spans.toSorted((a, b) => a - b)
  // The nearest rank: the smallest time that at least this part of them needed at most.
  const within = (part: number): number | null => sorted[Math.ceil(part * sorted.length) - 1] ?? null
  const [oldest] = waiting.toSorted((a, b) => a.closedAt - b.closedAt || a.scheduledSeq - b.scheduledSeq)
  return {
    paid: spans.length,
    p50Ms: within(0.5),
    p90Ms: within(0.9),
    maxMs: within(1),
    waiting: waiting.length,
    oldest:
      oldest === undefined
        ? null
        : { contestId: oldest.id, closedAt: formatAt(oldest.closedAt), closedAtMs: oldest.closedAt },
  }
}

/** First minute from which on the range has few enough contests; `found` has one too many, the newest first. */
function firstFitting(found: readonly Closed[]): Ms {
  const surplus = found[WAIT_CONTESTS_MAX]
  return boundOf(surplus === undefined ? 0 : ceilTo(boundOf(surplus.closedAt + 1), MINUTE_MS))
}

function tooManyContests(fromMs: Ms, { toMs }: ResolvedSpan): Problem {
  const from = fromMs < toMs ? formatAt(fromMs) : null
  const advice = from === null ? 'ask for a shorter range' : `\`from=${from}\` would fit`
  return {
    code: 'range-too-long',
    detail: `More than ${WAIT_CONTESTS_MAX} contests closed in the range: ${advice}.`,
    errors: [{ parameter: 'from', message: '`from` is too early for this range.' }],
    members: { maxContests: WAIT_CONTESTS_MAX, from },
  }
}
