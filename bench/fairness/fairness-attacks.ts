import { MINUTE_MS } from '../../src/protocol/moment.ts'
import { OWING } from '../stage/owing-store.ts'
import type { QuestionSubjects } from '../stage/questions.ts'

/** Use of a connection by an attacker. */
export type Way =
  /** All requests at once. The answers are not read. */
  | 'unread'
  /** All requests at once. The answers are read. */
  | 'pipelined'
  /** Each request after the answer to the one before it. */
  | 'in turn'

/** Requests that addresses send within their allowance, to slow down everybody else. */
export type Attack = Readonly<{
  name: string
  workers: number
  addresses: number
  connectionsEach: number
  /** Maximal number of requests on one connection. */
  requests: number
  way: Way
  /** Target of a request. Different numbers give different targets, unless the attack has a single one. */
  path(number: number, asked: QuestionSubjects): string
  host?(number: number): string
}>

/** Requests for pages in one attack: a few less than the allowance of 600 per minute. */
const PAGES = 590
const WIDEST_MINUTES = 1_440
const PAGE_ROWS = 10_000

/** Spreads numbers over a span. The step shares no factor with the span, so it reaches each place once. */
function placeOf(number: number, span: number): number {
  return (number * 7_919) % Math.max(1, span)
}

/** A page of 1,440 minutes, anywhere in the log. */
export function flowsPage(number: number, { from, to }: QuestionSubjects): string {
  const minutes = Math.floor((to - from) / MINUTE_MS) - WIDEST_MINUTES
  const start = from + placeOf(number, minutes) * MINUTE_MS
  return `/flows?bucket=minute&from=${start}&to=${start + WIDEST_MINUTES * MINUTE_MS}`
}

/** Patterns of nearly the whole log, in a time zone whose offset is no multiple of 15 minutes. */
export function patternsPage(number: number, { from, to }: QuestionSubjects): string {
  return `/patterns?from=${from}&to=${to - number * MINUTE_MS}&tz=${15 * ((number % 100) - 50) + 1 + (number % 14)}`
}

function eventsPage(number: number, { events }: QuestionSubjects): string {
  return `/api/v1/events?limit=${PAGE_ROWS}&after=${placeOf(number, events - PAGE_ROWS)}`
}

const COSTLIEST: readonly Attack['path'][] = [
  (number) => `/payouts?contestId=${[OWING.most, OWING.some, OWING.few][number % 3]?.contestId}`,
  (number) => (number % 2 === 0 ? '/payouts.ics' : `/payouts.ics?contestId=${OWING.most.contestId}`),
  (number) => `/contests.csv?limit=${PAGE_ROWS - (number % 5_000)}`,
  (number) => `/api/v1/contests?limit=${PAGE_ROWS - 1 - (number % 5_000)}`,
  patternsPage,
  flowsPage,
  (number) => `/contests/${[OWING.some, OWING.most][number % 2]?.contestId}/ledger`,
]

function costliest(number: number, asked: QuestionSubjects): string {
  return COSTLIEST[number % COSTLIEST.length]?.(number, asked) ?? '/'
}

/** The measured attacks. */
export const ATTACKS: readonly Attack[] = [
  {
    name: 'pages of minutes, pipelined and never read',
    workers: 1,
    addresses: 1,
    connectionsEach: 1,
    requests: PAGES,
    way: 'unread',
    path: flowsPage,
  },
  {
    name: 'the same over four connections, two workers',
    workers: 2,
    addresses: 1,
    connectionsEach: 4,
    requests: 145,
    way: 'unread',
    path: flowsPage,
  },
  {
    name: '/api.md under another Host each, pipelined and never read',
    workers: 1,
    addresses: 1,
    connectionsEach: 1,
    requests: PAGES,
    way: 'unread',
    path: () => '/api.md',
    host: (number) => `host-${number}.example`,
  },
  {
    name: 'pages of 10,000 rows, pipelined and read',
    workers: 1,
    addresses: 100,
    connectionsEach: 1,
    requests: 59,
    way: 'pipelined',
    path: eventsPage,
  },
  {
    name: 'pages of patterns on eight connections, in turn',
    workers: 1,
    addresses: 1,
    connectionsEach: 8,
    requests: 70,
    way: 'in turn',
    path: patternsPage,
  },
  {
    name: 'pages of 10,000 rows, in turn',
    workers: 1,
    addresses: 20,
    connectionsEach: 1,
    requests: 59,
    way: 'in turn',
    path: eventsPage,
  },
  {
    name: 'the costliest answers, in turn',
    workers: 1,
    addresses: 40,
    connectionsEach: 1,
    requests: 59,
    way: 'in turn',
    path: costliest,
  },
]
