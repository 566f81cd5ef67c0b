import type { EventWire } from '../../../protocol/event.ts'
import { DAY_MS, parseMonth } from '../../../protocol/moment.ts'
import { parseQueryTime } from '../../../protocol/query-time.ts'
import type { Contest, Contests } from '../../../protocol/resources.ts'
import type { LinkedAnswer } from '../../frame/linked-answers.ts'
import type { View } from '../../frame/page.ts'
import { findTransaction } from '../events/transaction-route.ts'

/** Page that a query may mean, with the answer that describes it. */
export type Match =
  | Readonly<{ is: 'event'; href: string; found: LinkedAnswer<EventWire> }>
  | Readonly<{ is: 'contest'; href: string; found: LinkedAnswer<Contest> }>
  | Readonly<{ is: 'transaction' | 'time' | 'month'; href: string }>

/**
 * Matches of a query. `titled` has the contests with its words in their titles, only if nothing else matches. `isTx` says
 * whether it has the form of a transaction id.
 */
export type SearchResult = Readonly<{
  matches: readonly Match[]
  titled: LinkedAnswer<Contests> | null
  isTx: boolean
}>

const EVENT = /^(?:#|event\s+#?)(\d{1,16})$/i
const CONTEST = /^(?:c|contest)\s*#?(\d{1,16})$/i
const NUMBER = /^\d{1,16}$/
/** A URL without its query and fragment. */
const PATH = /^[^?#]*/
/** Contests that a search by words shows. */
const TITLED_MAX = 20

/** Whether a query is a bare number. */
export function isNumber(query: string): boolean {
  return NUMBER.test(query)
}

/** Searches for a text, or for the last path segment of a URL such as an explorer's. */
export async function search(text: string, view: View): Promise<SearchResult> {
  if (text === '') return { matches: [], titled: null, isTx: false }
  const term = text.includes('/')
    ? (PATH.exec(text)?.[0]
        .split('/')
        .findLast((part) => part !== '') ?? '')
    : text
  const named = await findTransaction(term, view.ask)
  const href = named.ok ? named.value.href : null
  const ofTx: readonly Match[] = href === null ? [] : [{ is: 'transaction', href }]
  const matches = [...(await matchesOf(term, view)), ...ofTx]
  return { matches, titled: matches.length > 0 ? null : await titledBy(text, view), isTx: named.ok }
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
  if (!reply.ok) return null
  const answer: Contests = JSON.parse(reply.value.json)
  return answer.contests.length === 0 ? null : { address: reply.value.address, answer }
}

/** Matches of a number, a month or a moment. A bare number may be an event and a contest. */
async function matchesOf(term: string, view: View): Promise<readonly Match[]> {
  const seq = EVENT.exec(term)?.[1] ?? NUMBER.exec(term)?.[0]
  const id = CONTEST.exec(term)?.[1] ?? NUMBER.exec(term)?.[0]
  const found: Match[] = []
  const event = seq === undefined ? null : await view.ask('event', { segments: { seq } })
  if (event?.ok) {
    const { address, json } = event.value
    found.push({ is: 'event', href: `/events/${seq}`, found: { address, answer: JSON.parse(json) } })
  }
  const contest = id === undefined ? null : await view.ask('contest', { segments: { id } })
  if (contest?.ok) {
    const { address, json } = contest.value
    found.push({
      is: 'contest',
      href: `/contests/${id}/ledger`,
      found: { address, answer: JSON.parse(json) },
    })
  }
  if (found.length > 0 || NUMBER.test(term)) return found
  if (parseMonth(term) !== undefined) return [{ is: 'month', href: `/archive#${term}` }]
  const time = parseQueryTime(term)
  if (!('ms' in time)) return []
  const [from, to] = [time.ms, time.ms + DAY_MS].map((ms) => new Date(ms).toISOString())
  const range = /T/.test(term) ? `from=${from}` : `from=${from?.slice(0, 10)}&to=${to?.slice(0, 10)}`
  // The last representable day ends after the last representable moment.
  const { ok } = await view.ask('events', { query: `${range}&limit=1` })
  return ok ? [{ is: 'time', href: `/events?${range}&limit=100` }] : []
}
