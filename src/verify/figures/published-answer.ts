import type { RecomputedEndpoint } from '../../protocol/endpoints/endpoints.ts'
import { keysOf } from '../../protocol/brand.ts'
import { boundOf, MINUTE_MS, type Ms, MS_MAX, msOf } from '../../protocol/moment.ts'
import type { Parsed } from '../../protocol/problem.ts'
import { ANSWERS, type AnswerRequest } from '../../project/answers/computed-answers.ts'
import type { Books } from '../../project/fold/books.ts'
import { WrongError } from '../reading/finding.ts'
import { isJsonObject, jsonInteger, type JsonObject, readObject } from '../reading/json-values.ts'
import { openReplayBooks } from '../replay/replay-books.ts'

/** Report lines of endpoints that are not counted under their own id. */
const LINES = {
  contest: 'contests',
  contestLedger: 'ledgers',
  payouts: 'unpaid prizes',
  loyaltyRuns: 'loyalty runs',
  eventCorrections: 'corrections',
} as const

export type FigureCheck = Exclude<RecomputedEndpoint, keyof typeof LINES> | (typeof LINES)[keyof typeof LINES]

/** Report line that counts the answers of an endpoint. */
export function checkOf(endpoint: RecomputedEndpoint): FigureCheck {
  return hasLine(endpoint) ? LINES[endpoint] : endpoint
}

function hasLine(endpoint: RecomputedEndpoint): endpoint is keyof typeof LINES {
  return Object.hasOwn(LINES, endpoint)
}

/** Report lines about figures, in the order of the report. */
export const FIGURE_CHECKS: readonly FigureCheck[] = [...new Set(keysOf(ANSWERS).map(checkOf))]

/** Query for an answer that can be recomputed. */
export type FigureQuery = Readonly<{
  endpoint: RecomputedEndpoint
  /** Path below `/api/v1/`, with its query. */
  path: string
  /** Number in the path; null when it has none. */
  place: number | null
  query: string
  /** Seq as of which the answer must be right; null when the answer states it. */
  seq: number | null
}>

/** Published answer to recompute as of `seq`. */
export type PublishedAnswer = FigureQuery &
  Readonly<{
    body: Uint8Array
    seq: number
    /** Whether it states an earlier `asOf` than `seq`. A cache may hold an answer that no event has changed since. */
    statesEarlier: boolean
    /** Moments before which totals are needed. */
    moments: readonly Ms[]
  }>

/** Recomputes a published answer from the books as of its seq. */
export function recomputeAnswer(
  answer: PublishedAnswer,
  published: JsonObject,
  books: Books,
): Parsed<unknown> {
  const prepared = ANSWERS[answer.endpoint](books, requestOf(answer, published))
  return prepared.ok ? prepared.value.compute(books) : prepared
}

/**
 * Moments before which the recomputation of an answer needs totals. They follow from the launch of the log and the
 * current time that the answer states. A false statement is found when the answer is recomputed.
 */
export function momentsOf(query: FigureQuery, published: JsonObject): readonly Ms[] {
  const launch = published['launchedAtMs'] ?? null
  const ms = launch === null ? null : wholeIn(query.path, published, 'launchedAtMs')
  if (ms !== null && ms > MS_MAX) throw new WrongError(query.path, 'launchedAtMs is not a moment')
  const empty = openReplayBooks([]).books()
  const books = { ...empty, firstAtMs: ms === null ? null : msOf(ms) }
  const prepared = ANSWERS[query.endpoint](books, requestOf(query, published))
  return prepared.ok ? (prepared.value.moments?.() ?? []) : []
}

/** Request of a query, at the current time that its answer states. */
function requestOf({ path, place, query }: FigureQuery, published: JsonObject): AnswerRequest {
  const given = new URLSearchParams(query)
  const integer = (name: string): number | undefined =>
    given.has(name) ? Number(given.get(name)) : undefined
  const now = presentIn(path, published)
  return {
    segments: { id: String(place), seq: String(place) },
    query: {
      time: (name) => (given.has(name) ? boundOf(Number(given.get(name))) : undefined),
      integer,
      integers: (name) => given.get(name)?.split(',').map(Number),
      word: (name) => given.get(name) ?? undefined,
      list: (name) => given.get(name)?.split(','),
    },
    now,
    latest: now,
  }
}

/**
 * Current time that an answer states, a whole minute. A request that does not depend on it gets the latest possible
 * time.
 */
function presentIn(path: string, published: JsonObject): Ms {
  const now = published['now']
  if (!isJsonObject(now) || now['atMs'] === null) return MS_MAX
  const ms = wholeIn(path, published, 'now', 'atMs')
  if (ms > MS_MAX || ms % MINUTE_MS !== 0) throw new WrongError(path, 'now is not a whole minute')
  return msOf(ms)
}

/** Seq up to which an answer counts. */
export function asOfSeq(path: string, published: JsonObject): number {
  const asOf = published['asOf']
  const seq = isJsonObject(asOf) ? jsonInteger(asOf['seq']) : undefined
  if (seq === undefined) throw new WrongError(path, 'asOf.seq is missing')
  return seq
}

/** Whole number in an answer, at the path `names`. */
export function wholeIn(path: string, published: JsonObject, ...names: readonly string[]): number {
  let value: unknown = published
  for (const name of names) value = isJsonObject(value) ? value[name] : undefined
  const whole = jsonInteger(value)
  if (whole === undefined) throw new WrongError(path, `${names.join('.')} is not a whole number`)
  return whole
}

/** Parses the body of an answer. Only bodies are held in memory, because there are many answers. */
export function publishedIn({ path, body }: Pick<PublishedAnswer, 'path' | 'body'>): JsonObject {
  return readObject(path, body)
}
