import type { Snapshot } from '../../src/log/store/reader.ts'
import { contestLedger } from '../../src/project/answers/contest-ledger.ts'
import { contests } from '../../src/project/answers/contests.ts'
import { flows } from '../../src/project/answers/flows.ts'
import { funds } from '../../src/project/answers/funds.ts'
import { loyaltyRuns } from '../../src/project/answers/loyalty-runs.ts'
import { patterns } from '../../src/project/answers/patterns.ts'
import { payouts } from '../../src/project/answers/payouts.ts'
import { resolvePatternRange, resolveRange } from '../../src/project/answers/range.ts'
import { schedule } from '../../src/project/answers/schedule.ts'
import { summary } from '../../src/project/answers/summary.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, type Ms, msOf, WEEK_MS } from '../../src/protocol/moment.ts'
import { BUCKETS_MAX, EXAMINED_MAX, ROWS_MAX } from '../../src/protocol/parameters.ts'
import type { Parsed } from '../../src/protocol/problem.ts'
import { type Bucket, BUCKETS } from '../../src/protocol/enumerations.ts'
import { type ContestId, contestIdOf, nextSeq, seqOf } from '../../src/protocol/seq.ts'
import { archiveIndex } from '../../src/serve/archive/month-list.ts'
import { formatBundlePath, formatTilePath, TILE_WIDTH } from '../../src/tlog/tile.ts'
import type { Random } from '../../sim/random.ts'

/** Extent of the log under measurement. */
export type QuestionSubjects = Readonly<{ from: Ms; to: Ms; events: number; contests: readonly ContestId[] }>

/** Reads the extent of a log. */
export function subjectsOf({ head, books }: Snapshot): QuestionSubjects {
  if (books.firstAtMs === null || head.atMs === null) throw new Error('the log has no events')
  const all = books.contests({ statuses: null, after: null, limit: ROWS_MAX })
  const ids = all.map(({ id }) => contestIdOf(id))
  return { from: books.firstAtMs, to: head.atMs, events: head.seq, contests: ids }
}

/** One drawing of a question: its address, and a function that computes the answer's text from a snapshot. */
type QuestionDrawing = Readonly<{ url: string; compute(snapshot: Snapshot): string }>

export type Question = Readonly<{
  name: string
  /** Goal in ms: that of the specification, else one of ours. */
  goalMs: number
  /** Whether all drawings have different addresses. Only then does HTTP compute each answer. */
  distinct: boolean
  draw(random: Random, asked: QuestionSubjects): QuestionDrawing
}>

const MONTH_MS = 31 * DAY_MS
const WIDTHS = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS, week: WEEK_MS, month: MONTH_MS }
const GOAL_MS = 20
/** Goal for a year in a time zone whose offset is no multiple of 15 minutes. */
const ODD_ZONE_YEAR_MS = 100
/** Goal for ten thousand rows, in proportion to that of the longest range. */
const LONG_ANSWER_MS: number = (GOAL_MS * ROWS_MAX) / BUCKETS_MAX
/** Goal for a receipt, which takes a few tiles and some hundreds of hashes. */
const RECEIPT_MS = 2
const NOTHING = new Uint8Array(0)
const YEAR_MS = 365 * DAY_MS

/** Every endpoint that computes, over ranges from a minute to the whole log. */
export function questions(): readonly Question[] {
  return [
    { ...question('summary?at'), draw: summaryAt },
    {
      ...question('summary', false),
      draw: () => drawn('/summary', ({ books }, now) => given(summary(books, null, now))),
    },
    ...BUCKETS.flatMap((bucket) => [
      { ...question(`flows, ${bucket}s, any range`), draw: rangeOf('flows', bucket, false) },
      { ...question(`flows, ${bucket}s, longest range`), draw: rangeOf('flows', bucket, true) },
      { ...question(`funds, ${bucket}s, any range`), draw: rangeOf('funds', bucket, false) },
      { ...question(`funds, ${bucket}s, longest range`), draw: rangeOf('funds', bucket, true) },
    ]),
    { ...question('patterns, any range, tz × 15'), draw: patternsOf(null, quarterZone) },
    { ...question('patterns, three years, tz × 15'), draw: patternsOf(3 * YEAR_MS, quarterZone) },
    { ...question('patterns, a week, any tz'), draw: patternsOf(WEEK_MS, oddZone) },
    { ...question('patterns, a year, any tz', true, ODD_ZONE_YEAR_MS), draw: patternsOf(YEAR_MS, oddZone) },
    {
      ...question('patterns, three years, any tz', true, 3 * ODD_ZONE_YEAR_MS),
      draw: patternsOf(3 * YEAR_MS, oddZone),
    },
    ...logQuestions(),
    ...treeQuestions(),
    ...listQuestions(),
  ]
}

function logQuestions(): readonly Question[] {
  const after = (random: Random, { events }: QuestionSubjects): number => random.below(events)
  return [
    { ...question('events, 1,000'), draw: page('', 1_000, after) },
    { ...question('events from a moment, 100'), draw: eventsFrom },
    { ...question('events, 10,000'), draw: page('', 10_000, after) },
    { ...question('events, type=payout, 10,000'), draw: page('payout', 10_000, after) },
    {
      ...question('one event'),
      draw(random, asked) {
        const seq = after(random, asked) + 1
        return drawn(`/events/${seq}`, (snapshot) => Buffer.from(snapshot.line(seqOf(seq)) ?? '').toString())
      },
    },
  ]
}

function treeQuestions(): readonly Question[] {
  const below = (random: Random, { events }: QuestionSubjects): number =>
    random.below(Math.floor(events / TILE_WIDTH))
  return [
    {
      ...question('receipt of any event', true, RECEIPT_MS),
      draw(random, { events }) {
        const seq = 1 + random.below(events)
        return drawn(`/log/proof/${seq}`, ({ tree }) => tree.receipt(seqOf(seq)) ?? '')
      },
    },
    {
      ...question('tile of hashes'),
      draw(random, asked) {
        const path = formatTilePath({ level: 0, index: below(random, asked), width: TILE_WIDTH })
        return drawn(`/log/${path}`, ({ tree }) => textOf(tree.tile(path) ?? NOTHING))
      },
    },
    {
      ...question('bundle of entries'),
      draw(random, asked) {
        const path = formatBundlePath({ index: below(random, asked), width: TILE_WIDTH })
        return drawn(`/log/${path}`, ({ tree }) => textOf(tree.entries(path) ?? NOTHING))
      },
    },
  ]
}

function listQuestions(): readonly Question[] {
  const first = contestIdOf(1)
  return [
    { ...question('contests, all', true, LONG_ANSWER_MS), draw: contestsOf(undefined) },
    {
      ...question('contests, 100'),
      draw(random, asked) {
        const query = { after: anyContest(random, asked), limit: 100 }
        return drawn(`/contests?after=${query.after}&limit=100`, ({ books }) => given(contests(books, query)))
      },
    },
    { ...question('contests, running'), draw: contestsOf('running') },
    {
      ...question('ledger of the largest contest'),
      draw(random) {
        const limit = nearlyAll(random)
        const url = `/contests/1/ledger?limit=${limit}`
        return drawn(url, ({ books }) => given(contestLedger(books, first, { limit })))
      },
    },
    {
      ...question('ledger of any contest'),
      draw(random, asked) {
        const id = anyContest(random, asked)
        return drawn(`/contests/${id}/ledger`, ({ books }) => given(contestLedger(books, id, {})))
      },
    },
    {
      ...question('payouts, all'),
      draw(random) {
        const limit = nearlyAll(random)
        return drawn(`/payouts?limit=${limit}`, ({ books }, now) => payouts(books, { limit }, now))
      },
    },
    { ...question('schedule', false), draw: () => drawn('/schedule', ({ books }) => schedule(books)) },
    {
      ...question('loyalty runs', false),
      draw: () => drawn('/loyalty/runs', ({ books }) => loyaltyRuns(books)),
    },
    {
      ...question('archive', false),
      draw: () => drawn('/archive', (snapshot) => archiveIndex(snapshot.months())),
    },
  ]
}

function question(name: string, distinct = true, goalMs: number = GOAL_MS): Omit<Question, 'draw'> {
  return { name, distinct, goalMs }
}

function drawn(path: string, answer: (snapshot: Snapshot, now: Ms) => unknown): QuestionDrawing {
  return {
    url: `/api/v1${path}`,
    compute(snapshot) {
      // The head is the present, so that no range ends in the future.
      const body = answer(snapshot, snapshot.head.atMs ?? msOf(0))
      return typeof body === 'string' ? body : JSON.stringify(body)
    },
  }
}

function summaryAt(random: Random, { from, to }: QuestionSubjects): QuestionDrawing {
  const at = msOf(random.between(from, to))
  return drawn(`/summary?at=${at}`, ({ books }, now) => given(summary(books, at, now)))
}

/** A range of one to the most buckets of an answer. The logarithm of the number is uniform. */
function rangeOf(path: 'flows' | 'funds', bucket: Bucket, longest: boolean): Question['draw'] {
  return (random, { from, to }) => {
    const width = WIDTHS[bucket]
    const most = Math.min(BUCKETS_MAX - 1, Math.floor((to - from) / width) - 1)
    const buckets = longest ? most - random.below(3) : Math.floor(most ** random.next())
    const start = msOf(random.between(from, to - buckets * width))
    const query = { from: start, to: msOf(start + buckets * width), bucket }
    return drawn(`/${path}?from=${query.from}&to=${query.to}&bucket=${bucket}`, ({ books }, now) => {
      const range = given(resolveRange(query, now, books))
      return path === 'flows' ? flows(books, range) : funds(books, range)
    })
  }
}

/** Patterns over a given length (or any up to the whole log), anywhere in the log, at any minute. */
function patternsOf(lengthMs: number | null, zone: (random: Random) => number): Question['draw'] {
  return (random, { from, to }) => {
    const any = MINUTE_MS * Math.floor(((to - from) / MINUTE_MS) ** random.next())
    const length = Math.min(lengthMs ?? any, to - from - HOUR_MS)
    const start = msOf(random.between(from, to - length))
    const query = { from: start, to: msOf(start + length) }
    const tz = zone(random)
    return drawn(`/patterns?from=${query.from}&to=${query.to}&tz=${tz}`, ({ books }, now) =>
      patterns(books, given(resolvePatternRange(query, now, books)), tz),
    )
  }
}

function quarterZone(random: Random): number {
  return 15 * random.between(-56, 56)
}

function oddZone(random: Random): number {
  return 15 * random.between(-55, 55) + random.between(1, 14)
}

function page(
  type: '' | 'payout',
  limit: number,
  afterOf: (random: Random, asked: QuestionSubjects) => number,
): Question['draw'] {
  return (random, asked) => {
    const after = seqOf(afterOf(random, asked))
    const filter = { types: type === '' ? null : [type], kinds: null, contestIds: null, nonzero: false }
    return drawn(`/events?after=${after}&limit=${limit}${type === '' ? '' : `&type=${type}`}`, (snapshot) =>
      textOf(
        snapshot.walk(
          {
            filter,
            tx: null,
            order: 'asc',
            after,
            before: nextSeq(snapshot.head.seq),
            limit,
            examineMax: EXAMINED_MAX,
          },
          'json',
        ).bytes,
      ),
    )
  }
}

function eventsFrom(random: Random, { from, to }: QuestionSubjects): QuestionDrawing {
  const at = msOf(random.between(from, to))
  const filter = { types: null, kinds: null, contestIds: null, nonzero: false }
  return drawn(`/events?from=${at}&limit=100`, (snapshot) => {
    const walk = { filter, tx: null, order: 'asc', limit: 100, examineMax: EXAMINED_MAX } as const
    const before = nextSeq(snapshot.head.seq)
    return textOf(snapshot.walk({ ...walk, after: snapshot.seqBefore(at), before }, 'json').bytes)
  })
}

function contestsOf(status: string | undefined): Question['draw'] {
  return (random) => {
    const limit = nearlyAll(random)
    const statuses = status === undefined ? undefined : [status]
    const url = `/contests?limit=${limit}${status === undefined ? '' : `&status=${status}`}`
    return drawn(url, ({ books }) => given(contests(books, { status: statuses, limit })))
  }
}

/** A limit near the maximum, different each time, so that each address is new. */
function nearlyAll(random: Random): number {
  return random.between(ROWS_MAX - 1_000, ROWS_MAX)
}

function anyContest(random: Random, { contests: ids }: QuestionSubjects): ContestId {
  return ids[random.below(ids.length)] ?? contestIdOf(1)
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

function given<T>(answer: Parsed<T>): T {
  if (!answer.ok) throw new Error(answer.problem.detail)
  return answer.value
}
