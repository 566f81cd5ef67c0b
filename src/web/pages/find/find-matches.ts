import type { EventWire } from '../../../protocol/event.ts'
import { DAY_MS, formatAt, type Ms, msOf, parseMonth } from '../../../protocol/moment.ts'
import { parseQueryTime } from '../../../protocol/query-time.ts'
import type { Contest, Contests } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { askNearestTitles, type NearestTitle } from './nearest-titles.ts'
import { spokenRange, spokenTimes } from './spoken-time.ts'
import { findTransaction } from '../events/transaction-route.ts'

/** Page that a query may mean, with the answer that describes it. */
export type Match =
  | Readonly<{ is: 'event'; href: string; found: LinkedAnswer<EventWire> }>
  | Readonly<{ is: 'contest'; href: string; found: LinkedAnswer<Contest> }>
  | Readonly<{ is: 'transaction'; href: string }>
  | Readonly<{ is: 'month'; href: string; month: string }>
  | Readonly<{ is: 'range'; href: string }>
  /** A day or a moment, by its `at`; one that is to come leads to the schedule. */
  | Readonly<{ is: 'day' | 'moment' | 'schedule'; href: string; at: string }>

/** Matches of a query. */
export type SearchResult = Readonly<{
  matches: readonly Match[]
  /** Contests with the words in their titles, when nothing else matches or when the query is words too. */
  titled: LinkedAnswer<Contests> | null
  /** When nothing matches: the contests whose titles are most like the query. */
  nearest: readonly NearestTitle[]
  /** Whether the query has the form of a transaction id. */
  isTx: boolean
}>

/** A number as people and pages write it: `66834` or `66,834`. */
const DIGITS = String.raw`(\d{1,16}|\d{1,3}(?:[,\u2009\u202f\u00a0 ]\d{3}){1,5})`
const EVENT = new RegExp(String.raw`^(?:event|seq)\s*#?${DIGITS}$`, 'i')
const CONTEST = new RegExp(String.raw`^(?:c|contest)\s*#?${DIGITS}$`, 'i')
const NUMBER = new RegExp(`^#?${DIGITS}$`)
/** A URL, of which the last part of the path is sought. */
const URL_FORM = /^(?:https?:\/\/|\/|[\w-]+(?:\.[\w-]+)+(?::\d+)?\/)[^?#]*/i
/** A later day leads to the schedule if it is less than a year away. */
const PLANNED_MS = 365 * DAY_MS
const LETTERS = /\p{L}/u
/** Contests that a search by words shows. */
const TITLED_MAX = 20

/** Whether a query is a bare number, such as `66,834` or `#136`. */
export function isNumber(query: string): boolean {
  return NUMBER.test(query)
}

/** Searches for a text, or for the last path segment of a URL such as an explorer's. */
export async function search(text: string, view: View): Promise<SearchResult> {
  if (text === '') return { matches: [], titled: null, nearest: [], isTx: false }
  const path = URL_FORM.exec(text)?.[0].split('/') ?? [text]
  const term = path.findLast((part) => part !== '') ?? ''
  const named = await findTransaction(term, view.ask)
  const href = named.ok ? named.value.href : null
  const ofTx: readonly Match[] = href === null ? [] : [{ is: 'transaction', href }]
  const numbered = await matchesOf(term, view)
  const times = numbered.length > 0 || NUMBER.test(term) ? [] : await timesOf(term, view)
  const matches = [...numbered, ...times, ...ofTx]
  // `October` may be a month and a word of a title, and so may `2026`.
  const isSpoken = times.length > 0 && LETTERS.test(term.replace(/\d[TZ]/g, ''))
  const isWords = matches.length === 0 || isSpoken || /^\d+$/.test(term)
  const titled = isWords ? await titledBy(text, view) : null
  const isNothing = matches.length === 0 && titled === null && LETTERS.test(text)
  return { matches, titled, nearest: isNothing ? await askNearestTitles(text, view) : [], isTx: named.ok }
}

/** Address of the only page that a query means; null if there is none or several. */
export function onlyMatch({ matches, titled }: SearchResult): string | null {
  const pages = [
    ...matches.map(({ href }) => href),
    ...(titled?.answer.contests ?? []).map(({ id }) => `/contests/${id}/ledger`),
  ]
  const [only, ...others] = pages
  return only === undefined || others.length > 0 ? null : only
}

/** Contests with these words in their titles; null if there are none, or if the API refuses the words. */
async function titledBy(text: string, view: View): Promise<LinkedAnswer<Contests> | null> {
  const query = `q=${encodeURIComponent(text)}&limit=${TITLED_MAX}`
  const reply = await view.ask('contests', { query })
  return reply.ok && reply.value.answer.contests.length > 0 ? reply.value : null
}

/** Matches of a number. A bare number may be an event and a contest. */
async function matchesOf(term: string, view: View): Promise<readonly Match[]> {
  const bare = NUMBER.exec(term)?.[1]
  const [seq, id] = [EVENT.exec(term)?.[1] ?? bare, CONTEST.exec(term)?.[1] ?? bare].map(plainDigits)
  const found: Match[] = []
  const event = seq === undefined ? null : await view.ask('event', { segments: { seq } })
  if (event?.ok) {
    found.push({ is: 'event', href: `/events/${seq}`, found: event.value })
  }
  const contest = id === undefined ? null : await view.ask('contest', { segments: { id } })
  if (contest?.ok) {
    found.push({ is: 'contest', href: `/contests/${id}/ledger`, found: contest.value })
  }
  return found
}

const plainDigits = (number: string | undefined): string | undefined => number?.replaceAll(/\D/g, '')

/** Matches of a month, a day or a moment, in the forms of the API and in those of people. */
async function timesOf(term: string, view: View): Promise<readonly Match[]> {
  const month = parseMonth(term)
  if (month !== undefined) return [{ is: 'month', href: `/archive#${month}`, month }]
  const range = spokenRange(term, view.now)
  if (range !== undefined) return rangeMatch(range, view)
  const time = parseQueryTime(term)
  const times =
    'ms' in time
      ? [{ is: /T/.test(term) ? 'moment' : 'day', from: time.ms } as const]
      : spokenTimes(term, view.now)
  const found: Match[] = []
  for (const one of times) {
    if (one.is === 'month') found.push({ is: 'month', href: `/archive#${one.month}`, month: one.month })
    else if (one.from > view.now) {
      if (one.from < view.now + PLANNED_MS)
        found.push({ is: 'schedule', href: '/schedule', at: formatAt(one.from) })
    } else {
      const at = formatAt(one.from)
      const days =
        one.is === 'moment'
          ? `from=${at}`
          : `from=${at.slice(0, 10)}&to=${new Date(msOf(one.from) + DAY_MS).toISOString().slice(0, 10)}`
      // The last representable day ends after the last representable moment.
      const { ok } = await view.ask('events', { query: `${days}&limit=1` })
      if (ok) found.push({ is: one.is, href: `/events?${days}&limit=100`, at })
    }
  }
  return found
}

/** The figures of a range, by hour unless its ends are days; none if the API refuses it. */
async function rangeMatch(range: Readonly<{ from: Ms; to: Ms }>, view: View): Promise<readonly Match[]> {
  const [from = '', to = ''] = [range.from, range.to].map((ms) =>
    ms % DAY_MS === 0 ? formatAt(ms).slice(0, 10) : formatAt(ms),
  )
  const query = `from=${from}&to=${to}${from.length + to.length === 20 ? '' : '&bucket=hour'}`
  const { ok } = await view.ask('flows', { query })
  return ok ? [{ is: 'range', href: `/flows?${query}` }] : []
}
