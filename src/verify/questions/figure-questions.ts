import type { RecomputedEndpoint } from '../../protocol/endpoints/endpoints.ts'
import { boundOf, MINUTE_MS, MS_MAX } from '../../protocol/moment.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import { parsed, refused } from '../../protocol/problem.ts'
import { contestIdOf } from '../../protocol/seq.ts'
import { contestLedger } from '../../project/answers/contest-ledger.ts'
import { contest, contests } from '../../project/answers/contests.ts'
import { loyaltyRuns } from '../../project/answers/loyalty-runs.ts'
import { payouts } from '../../project/answers/payouts.ts'
import { schedule } from '../../project/answers/schedule.ts'
import { wordsOf } from '../../project/answers/contest-words.ts'
import { SEARCH_EXAMINED_MAX } from '../../protocol/parameters.ts'
import { CONTEST_SORTS } from '../../protocol/enumerations.ts'
import type { Source } from '../reading/source.ts'
import { correctionQuestions } from './correction-questions.ts'
import { CHECK_OF, type PublishedAnswer, wholeIn } from './question.ts'
import {
  type LogExtent,
  pastSummaryQuestions,
  patternQuestions,
  rangeQuestions,
  type VerifyQuestion,
} from './range-questions.ts'

/** Facts from the summary and the list of contests, which are fetched first. */
type Known = Readonly<{
  source: Source
  chance: () => number
  /** Null in a folder, and for a log without events. */
  extent: LogExtent | null
  contests: readonly number[]
  /** One random contest; undefined when there is none. */
  picked: number | undefined
  /** Its title; undefined without one. */
  pickedTitle: string | undefined
}>

/** The pages of a list: the question for the page after a cursor, and the form of the address of the next page. */
export type QuestionPages = Readonly<{ page(after: number | null): VerifyQuestion; next: RegExp }>

type Questions = readonly (VerifyQuestion | QuestionPages)[]

/**
 * Questions to each endpoint whose answers are computed from the log, in the order in which they are asked. The present
 * summary and the list of contests are asked before them.
 */
export const FIGURE_QUESTIONS: Readonly<
  Record<RecomputedEndpoint, (known: Known) => Questions | Promise<Questions>>
> = {
  summary: ({ extent, chance }) => pastSummaryQuestions(extent, chance),
  flows: ({ extent }) => rangeQuestions('flows', extent),
  funds: ({ extent }) => rangeQuestions('funds', extent),
  patterns: ({ extent }) => patternQuestions(extent),
  loyaltyRuns: () => [question('loyaltyRuns', {}, (books) => parsed(loyaltyRuns(books)))],
  schedule: () => [question('schedule', {}, (books) => parsed(schedule(books)))],
  contests: (known) => contestQuestions(known),
  contest: ({ picked: id }) =>
    id === undefined ? [] : [question('contest', { place: id }, (books) => contest(books, contestIdOf(id)))],
  contestLedger: ({ contests: ids }) => ids.map(ledgerPages),
  payouts: ({ picked: contestId }) => [
    PAYOUT_PAGES,
    ...(contestId === undefined ? [] : [payoutQuestion(`?contestId=${contestId}`, { contestId })]),
  ],
  eventCorrections: ({ source, chance, extent }) =>
    extent === null ? [] : correctionQuestions({ source, chance }, extent.seq),
}

/** Questions for contests of a status, in each order, and by a word of a title. */
function contestQuestions({ contests: ids, pickedTitle = '' }: Known): Questions {
  const ask = (asked: Parameters<typeof contests>[1]): VerifyQuestion => {
    const pairs = Object.entries(asked).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    return question('contests', { query: `?${pairs.join('&')}` }, (books) => contests(books, asked))
  }
  const [word] = wordsOf(pickedTitle)
  // A search of more contests may end short, but never before its first match.
  const limited = ids.length > SEARCH_EXAMINED_MAX ? { limit: 1 } : {}
  return [
    ask({ status: ['closed'] }),
    ...CONTEST_SORTS.filter((sort) => sort !== 'newest').map((sort) => ask({ sort, limit: 100 })),
    ...(word === undefined ? [] : [ask({ q: word, ...limited })]),
  ]
}

export const CONTEST_PAGES: QuestionPages = pagesOf(pathOf('contests'), (query, asked) =>
  question('contests', { query }, (books) => contests(books, asked)),
)

const PAYOUT_PAGES: QuestionPages = pagesOf(pathOf('payouts'), payoutQuestion)

function ledgerPages(id: number): QuestionPages {
  return pagesOf(pathOf('contestLedger', id), (query, asked) =>
    question('contestLedger', { place: id, query }, (books) => contestLedger(books, contestIdOf(id), asked)),
  )
}

/** Question for unpaid prizes. They depend on the present, which the answer states as a whole minute. */
function payoutQuestion(query: string, asked: Parameters<typeof payouts>[1]): VerifyQuestion {
  return question('payouts', { query }, (books, published) => {
    const now = boundOf(wholeIn(`${pathOf('payouts')}${query}`, published, 'now', 'atMs'))
    return now % MINUTE_MS === 0 && now <= MS_MAX
      ? parsed(payouts(books, asked, now))
      : refused({ code: 'invalid-parameter', detail: 'now is not a whole minute' })
  })
}

/** A question to an endpoint, with the number in its path, and its query. */
function question(
  endpoint: RecomputedEndpoint,
  { place, query = '' }: Readonly<{ place?: number; query?: string }>,
  recompute: PublishedAnswer['recompute'],
): VerifyQuestion {
  const path = `${pathOf(endpoint, place)}${query}`
  return { check: CHECK_OF[endpoint], path, seq: null, moments: () => [], recompute }
}

/** Path of an endpoint below `/api/v1/`. */
function pathOf(endpoint: RecomputedEndpoint, place: number | '' = ''): string {
  return ENDPOINT_PATHS[endpoint].slice('/api/v1/'.length).replace(/\{\w+\}/, String(place))
}

function pagesOf(
  path: string,
  page: (query: string, asked: Readonly<{ after?: number }>) => VerifyQuestion,
): QuestionPages {
  return {
    next: new RegExp(`^/api/v1/${path}\\?after=([1-9]\\d{0,15})$`),
    page: (after) => (after === null ? page('', {}) : page(`?after=${after}`, { after })),
  }
}
