import type { Contests } from '../../protocol/endpoints/contest-endpoints.ts'
import type { Answers, RecomputedEndpoint } from '../../protocol/endpoints/endpoints.ts'
import { boundOf, floorTo, HOUR_MS, MINUTE_MS, type Ms } from '../../protocol/moment.ts'
import { NO_CONTEST, noEvent, type Parsed, parsed, refused } from '../../protocol/problem.ts'
import type { ChangedList } from '../../protocol/rules.ts'
import {
  BEFORE_FIRST,
  type ContestId,
  contestIdOf,
  parseContestId,
  parseSeq,
  type Seq,
} from '../../protocol/seq.ts'
import type { Books, Head } from '../fold/books.ts'
import type { ContestState } from '../fold/contest.ts'
import { asOf, isSettledBefore } from './as-of.ts'
import { contestLedger } from './contest-ledger.ts'
import { answerContests, contestWire, resolveContests } from './contests.ts'
import { flows, flowsByKind } from './flows.ts'
import { funds } from './funds.ts'
import { loyaltyRuns } from './loyalty-runs.ts'
import type { Paging } from './paging.ts'
import { patterns } from './patterns.ts'
import { payouts } from './payouts.ts'
import {
  boundsOf,
  type RangeQuery,
  type ResolvedSpan,
  resolvePatternRange,
  resolveRange,
  resolveWaitRange,
} from './range.ts'
import { schedule } from './schedule.ts'
import { waits } from './waits.ts'
import { justAfter, momentProblem, summary } from './summary.ts'

/** Request for an answer, whose parameters fit the endpoint. */
export type AnswerRequest = Readonly<{
  /** Variable parts of the path by their names. */
  segments: Readonly<Record<string, string>>
  /** Parameters by name; undefined when absent. */
  query: Readonly<{
    time(name: string): Ms | undefined
    integer(name: string): number | undefined
    integers(name: string): readonly number[] | undefined
    word(name: string): string | undefined
    list(name: string): readonly string[] | undefined
  }>
  /** The wall clock. */
  now: Ms
  /** Latest moment that the query may name. */
  latest: Ms
}>

/** Cause that may change an answer: none (`settled`), an event of the log, or the clock too. */
export type Freshness = 'settled' | 'log' | 'minute'

/** An answer to a request that fits the log, ready to be computed. */
export type PreparedAnswer<Value> = Readonly<{
  freshness: Freshness
  /** List whose last change is the last event that could change the answer; any event if absent. */
  list?: ChangedList
  /** Seq after which no event has changed the answer; the head if absent. */
  lastSeq?: Seq
  /** Moments before which it needs totals, for books that have the totals of given moments only. */
  moments?(): readonly Ms[]
  /** Computes the answer, or a problem if the books cannot answer the request. */
  compute(books: Books): Parsed<Value>
}>

/**
 * One row for each endpoint whose answer follows from the log alone. A row checks that the request fits the log, and
 * returns an answer that is computed later. The API replies from this table, and `verify` recomputes every published
 * figure with it.
 */
export const ANSWERS: {
  readonly [Id in RecomputedEndpoint]: (
    books: Books,
    request: AnswerRequest,
  ) => Parsed<PreparedAnswer<Answers[Id]>>
} = {
  summary({ head }, { query, latest }) {
    const at = query.time('at') ?? null
    const problem = at === null ? undefined : momentProblem(at, latest, head)
    if (problem !== undefined) return refused(problem)
    return parsed({
      freshness: at !== null && isSettledBefore(head, justAfter(at)) ? 'settled' : 'log',
      moments: () => (at === null ? [] : [justAfter(at)]),
      compute: (books) => parsed(summary(books, at)),
    })
  },
  flows(log, { query, now, latest }) {
    const range = resolveRange(rangeIn(query), now, log, latest)
    if (!range.ok) return range
    return parsed({
      freshness: freshnessOf(range.value, log.head),
      moments: () => boundsOf(range.value),
      compute: (books) =>
        query.word('by') === 'kind' ? flowsByKind(books, range.value) : parsed(flows(books, range.value)),
    })
  },
  funds(log, { query, now, latest }) {
    const range = resolveRange(rangeIn(query), now, log, latest)
    if (!range.ok) return range
    return parsed({
      // The answer always has the current balances, so it is never settled.
      freshness: range.value.nowMs === null ? 'log' : 'minute',
      moments: () => boundsOf(range.value).slice(1),
      compute: (books) => parsed(funds(books, range.value)),
    })
  },
  patterns(log, { query, now, latest }) {
    const span = resolvePatternRange(rangeIn(query), now, log, latest)
    if (!span.ok) return span
    const tz = query.integer('tz') ?? 0
    return parsed({
      freshness: freshnessOf(span.value, log.head),
      moments: () => hoursIn(span.value, tz),
      compute: (books) => parsed(patterns(books, span.value, tz)),
    })
  },
  waits(log, { query, now, latest }) {
    const { from, to } = rangeIn(query)
    const span = resolveWaitRange({ from, to }, now, log, latest)
    if (!span.ok) return span
    return parsed({
      freshness: span.value.nowMs === null ? 'log' : 'minute',
      list: 'waits',
      compute: (books) => waits(books, span.value, from === undefined),
    })
  },
  contests(log, { query }) {
    const asked = { status: query.list('status'), outcome: query.list('outcome') }
    const search = resolveContests(log, {
      ...asked,
      q: query.word('q'),
      sort: query.word('sort'),
      ...pageIn(query),
    })
    if (!search.ok) return search
    const compute = (books: Books): Parsed<Contests> => answerContests(books, search.value)
    return parsed({ freshness: 'log', list: 'contests', compute })
  },
  contest: (log, { segments }) =>
    ofContest(log, segments, (books, found) => ({ asOf: asOf(books.head), ...contestWire(found) })),
  contestLedger: (log, { segments, query }) =>
    ofContest(log, segments, (books, found) => contestLedger(books, found, pageIn(query))),
  payouts(log, { query, now }) {
    const contestId = query.integers('contestId')?.map(contestIdOf)
    const asked = { contestId, kind: query.list('kind'), ...pageIn(query) }
    return parsed({
      freshness: 'minute',
      list: 'prizes',
      ...(contestId === undefined ? {} : { lastSeq: lastSeqOf(log, contestId) }),
      compute: (books) => parsed(payouts(books, asked, now)),
    })
  },
  loyaltyRuns: () =>
    parsed({ freshness: 'log', list: 'loyalty', compute: (books) => parsed(loyaltyRuns(books)) }),
  schedule: () => parsed({ freshness: 'log', list: 'schedule', compute: (books) => parsed(schedule(books)) }),
  eventCorrections({ head, correction }, { segments }) {
    const seq = parseSeq(segments['seq'] ?? '')
    if (seq === undefined || seq < 1 || seq > head.seq) return refused(noEvent(head.seq, segments['seq']))
    const { by = null, restatement = null } = correction(seq) ?? {}
    return parsed({
      freshness: 'log',
      // The event, its correction and its restatement are published in this order.
      lastSeq: restatement ?? by ?? seq,
      compute: (books) => parsed({ asOf: asOf(books.head), seq, correctedBy: by, restatedBy: restatement }),
    })
  },
}

/** Seq of the newest event of these contests. */
function lastSeqOf(log: Books, ids: readonly ContestId[]): Seq {
  return ids.reduce((last, id) => {
    const seq = log.contest(id)?.lastSeq ?? BEFORE_FIRST
    return seq > last ? seq : last
  }, BEFORE_FIRST)
}

/**
 * Prepares an answer about one contest, which only the contest's events change. Refused when there is no such contest.
 */
function ofContest<Value>(
  books: Books,
  segments: AnswerRequest['segments'],
  compute: (books: Books, found: ContestState) => Value,
): Parsed<PreparedAnswer<Value>> {
  const id = parseContestId(segments['id'] ?? '')
  const found = id === undefined ? undefined : books.contest(id)
  if (found === undefined) return refused(NO_CONTEST)
  return parsed({ freshness: 'log', lastSeq: found.lastSeq, compute: (now) => parsed(compute(now, found)) })
}

function pageIn(query: AnswerRequest['query']): Paging {
  return { after: query.integer('after'), limit: query.integer('limit') }
}

function rangeIn(query: AnswerRequest['query']): RangeQuery {
  return { from: query.time('from'), to: query.time('to'), bucket: query.word('bucket') }
}

/** Freshness of a range. The answer of a range that has ended never changes. */
function freshnessOf({ toMs, nowMs }: ResolvedSpan, head: Head): Freshness {
  if (isSettledBefore(head, toMs)) return 'settled'
  return nowMs === null ? 'log' : 'minute'
}

/** Both ends of a span, and the whole hours between them in a time zone. */
function hoursIn({ fromMs, toMs }: ResolvedSpan, tz: number): readonly Ms[] {
  const moments: Ms[] = [fromMs, toMs]
  for (let at = floorTo(fromMs, HOUR_MS, -tz * MINUTE_MS); at < toMs; at = boundOf(at + HOUR_MS))
    moments.push(at)
  return moments
}
