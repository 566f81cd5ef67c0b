import type { RecomputedEndpoint } from '../../protocol/endpoints/endpoints.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Parsed } from '../../protocol/problem.ts'
import type { Books } from '../../project/fold/books.ts'
import { WrongError } from '../reading/finding.ts'
import { isJsonObject, jsonInteger, type JsonObject, readObject } from '../reading/json-values.ts'

/** Line of the report that counts each endpoint's answers, in the order of the report. */
export const CHECK_OF = {
  summary: 'summary',
  flows: 'flows',
  funds: 'funds',
  patterns: 'patterns',
  contests: 'contests',
  contest: 'contests',
  contestLedger: 'ledgers',
  payouts: 'unpaid prizes',
  loyaltyRuns: 'loyalty runs',
  schedule: 'schedule',
  eventCorrections: 'corrections',
} as const

export type FigureCheck = (typeof CHECK_OF)[RecomputedEndpoint]

export const FIGURE_CHECKS: readonly FigureCheck[] = [...new Set(Object.values(CHECK_OF))]

/**
 * Published answer to recompute as of `seq`. `moments` are those before which totals are needed. `recompute` gets the
 * books as of that seq, and the published answer.
 */
export type PublishedAnswer = Readonly<{
  check: FigureCheck
  /** Path below `/api/v1/`, with its query. */
  path: string
  body: Uint8Array
  seq: number
  /** Whether it states an earlier `asOf` than `seq`. A cache may hold an answer that no event since then has changed. */
  statesEarlier: boolean
  moments: readonly Ms[]
  recompute(books: Books, published: JsonObject): Parsed<unknown>
}>

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

/** Parses the body of an answer. Many answers are kept, so only their bodies are held in memory. */
export function publishedIn({ path, body }: Pick<PublishedAnswer, 'path' | 'body'>): JsonObject {
  return readObject(path, body)
}
