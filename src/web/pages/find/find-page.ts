import type { Parameter } from '../../../protocol/parameters.ts'
import type { Contest, Contests } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { Status } from '../../../protocol/endpoints/description-endpoints.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { LinkedAnswer, Page, View } from '../../frame/page.ts'
import { amountHtml, eventLink } from '../../markup/amount-html.ts'
import { closesOrClosed, closesWord, contestTitleLink, quotedText } from '../../markup/contest-name.ts'
import { type Html, html } from '../../markup/html.ts'
import { contestState, stateChip } from '../../markup/kind-words.ts'
import { dayOf, minuteOf, monthHtml, nearMoment } from '../../markup/moment-html.ts'
import { findTransaction, NOT_FINAL } from '../events/transaction-route.ts'
import { askSuggested, QUERY_CHARS_MAX, searchBox } from './search-box.ts'
import type { EventWire } from '../../../protocol/event.ts'
import { boundOf, ceilTo, DAY_MS, formatAt, HOUR_MS } from '../../../protocol/moment.ts'
import { rangeName } from '../ranges/range-words.ts'
import { type SpokenRange, spokenRanges, spokenTimes } from './spoken-time.ts'
import { wordsOf } from '../../../project/answers/contest-words.ts'

const QUERY: Parameter = {
  name: 'q',
  form: { is: 'text', charsMax: QUERY_CHARS_MAX, guarded: false },
  absent: 'nothing',
  meaning:
    'Words of a contest’s title, the number of an event or of a contest, a day, a month, a range or a transaction',
  example: '42',
}

/** `/find`: redirects words, a number, a day or a transaction to its page, or lists matches. */
export const findPage: Page<null> = {
  endpoint: null,
  path: '/find',
  parameters: [QUERY],
  title: () => 'Find',
  description: () =>
    'Finds a contest by its title, and the page of an event, a contest, a day, a month or a transaction.',
  permalink: () => '/find',
  canonical: '/find',
  async redirect(view) {
    return onlyMatch(await search(queryIn(view), view))
  },
  async render(_, view) {
    const query = queryIn(view)
    const suggested = await askSuggested(view)
    const found = await search(query, view)
    const status = await askEndpoint(view, 'status')
    const box = searchBox(suggested.answer, query)
    const story =
      query === ''
        ? html`${box}
            <section data-chrome>${examples('terms')}</section>`
        : html`<div class="two">
            <section>${box} ${resultOf(found, query, status, view)}</section>
            <aside aria-label="What can be found" data-chrome>${examples('fields')}</aside>
          </div>`
    return html`${story}
    ${jsonLinks([
      ...found.matches.flatMap((match) => ('found' in match ? [[match.is, match.found] as const] : [])),
      ...(found.titled === null ? [] : [['contests found', found.titled] as const]),
      ...found.nearest.titles.map(({ list }) => ['similar titles', list] as const),
      ['the newest event', status],
      ['suggested titles', suggested],
    ])}`
  },
}

const queryIn = ({ query }: View): string => (query.word('q') ?? '').trim()

function resultOf(
  { matches, titled, nearest, isTx }: SearchResult,
  query: string,
  status: LinkedAnswer<Status>,
  view: View,
): Html {
  if (matches.length === 0 && titled === null)
    return html`${nearest.titles.length === 0 ? null : nearestTitles(nearest)}
    ${nothingFound(isTx, isNumber(query), status)}`
  const choice = html`<div class="found">
    <h2>Which of these?</h2>
    <ul class="next">
      ${matches.map((match) => html`<li>${matchLine(match, view)}</li>`)}
    </ul>
  </div>`
  return html`${matches.length === 0 ? null : choice}
  ${titled === null ? null : contestsFound(titled, query, view)}`
}

/** Contests with a title like the query, which may have a wrong letter or a wrong word. */
function nearestTitles({ isPartly, titles }: SearchResult['nearest']): Html {
  return html`<div class="found">
    <h2>${isPartly ? 'No title has all of these words. These have some' : 'Did you mean'}</h2>
    <ul class="next">
      ${titles.map(
        ({ list, index, id, title }) =>
          html`<li data-at="${list.address}#/contests/${index}/title ${list.address}#/contests/${index}/id?">
            <a href="/contests/${id}/ledger">${quotedText(title)}</a>
          </li>`,
      )}
    </ul>
  </div>`
}

function matchLine(match: Match, view: View): Html {
  switch (match.is) {
    case 'event': {
      const { address, answer } = match.found
      return html`<a href="${match.href}" data-at="${address}#/seq">Event ${answer.seq}</a>
        <small data-at="${address}#/at">${nearMoment(answer.at, view)}</small>`
    }
    case 'contest': {
      const { address, answer } = match.found
      const { id, title, outcome } = answer
      return html`<a href="${match.href}" data-at="${address}#/id">Contest ${id}</a>
        <small data-at="${address}#/title ${address}#/${outcome === null ? 'status' : 'outcome'}"
          >${title === null ? null : quotedText(title)} ${stateChip(contestState(answer))}</small
        >`
    }
    case 'transaction':
      return html`<a href="${match.href}">The events of this transaction</a>`
    case 'day':
      return html`<a href="${match.href}">The events of ${dayOf(match.at)}</a>`
    case 'moment':
      return html`<a href="${match.href}">The events from ${minuteOf(match.at)} UTC on</a>`
    case 'month':
      return html`<a href="${match.href}">The file of ${monthHtml(match.month)}</a>`
    case 'range':
      return html`<a href="${match.href}"
        >What was spent and paid ${match.name.before} ${match.name.words}</a
      >`
    case 'schedule':
      return html`<a href="${match.href}">${dayOf(match.at)} is to come: what opens and closes next</a>`
  }
}

/** Contests with the words in their titles, the newest first. */
function contestsFound({ answer, address }: LinkedAnswer<Contests>, query: string, view: View): Html {
  const all =
    answer.next === null
      ? null
      : html`<p><a href="/contests?q=${encodeURIComponent(query)}">All contests with these words</a></p>`
  return html`<div class="found">
    <h2>Contests with these words</h2>
    <ol
      class="next"
      data-list="${address}#/contests"
      data-fields="title? id? outcome|status pool closedAt|closesAt"
    >
      ${answer.contests.map(
        (one) =>
          html`<li>
            ${contestTitleLink(one.id, one.title)} ${stateChip(contestState(one))}
            <small>Pool ${amountHtml(one.pool)} ${view.site.token}</small>
            <small>${closesWord(one)} ${closesOrClosed(one, view)}</small>
          </li>`,
      )}
    </ol>
    ${all}
  </div>`
}

function nothingFound(isTx: boolean, number: boolean, { answer, address }: LinkedAnswer<Status>): Html {
  const { seq } = answer.head
  const why = number
    ? 'No event, contest or title has this number.'
    : 'No contest has these words in its title.'
  return html`<div class="found">
    <h2>Nothing found</h2>
    <p>${why} ${isTx ? html`No event names it as its transaction either. ${NOT_FINAL}` : null}</p>
    <ul>
      <li><a href="/contests">Look through all contests</a></li>
      <li><a href="/events?type=payout&order=desc">Look through the payments</a></li>
      ${
        seq === 0 ? null : html`<li data-at="${address}#/head/seq">The newest event is ${eventLink(seq)}</li>`
      }
    </ul>
  </div>`
}

/** Examples of queries, in a list that fits the page or in one that fits beside an answer. */
const examples = (list: 'terms' | 'fields'): Html =>
  html`<h2>What can be found</h2>
    <dl class="${list}">
      <dt>duel coffee</dt>
      <dd>contests whose titles have words that begin like this</dd>
      <dt>contest 42</dt>
      <dd>a contest by its number</dd>
      <dt>event 1200</dt>
      <dd>an event by its number</dd>
      <dt>3 Oct 2026</dt>
      <dd>the events of a day, also as 2026-10-03 or yesterday; with 12:00 those from that time on</dd>
      <dt>October 2026</dt>
      <dd>the file of a month</dd>
      <dt>1 Oct to 5 Oct</dt>
      <dd>what was spent and paid between two days, months or times</dd>
      <dt>a transaction</dt>
      <dd>the events that name it; its URL at an explorer works too</dd>
    </dl>`

/** Possible page of a query, with the answer that describes it. */
type Match =
  | Readonly<{ is: 'event'; href: string; found: LinkedAnswer<EventWire> }>
  | Readonly<{ is: 'contest'; href: string; found: LinkedAnswer<Contest> }>
  | Readonly<{ is: 'transaction'; href: string }>
  | Readonly<{ is: 'month'; href: string; month: string }>
  | Readonly<{ is: 'range'; href: string; name: ReturnType<typeof rangeName> }>
  /** Day or moment by its `at`. A future one leads to the schedule. */
  | Readonly<{ is: 'day' | 'moment' | 'schedule'; href: string; at: string }>

/** Matches of a query. */
type SearchResult = Readonly<{
  matches: readonly Match[]
  /** Contests with the words in their titles, if nothing else matches or if the query also has words. */
  titled: LinkedAnswer<Contests> | null
  /** Contests with the most similar titles, if nothing matches, and whether these have only some of the words. */
  nearest: Readonly<{ isPartly: boolean; titles: readonly NearestTitle[] }>
  /** Whether the query has the form of a transaction id. */
  isTx: boolean
}>

/** Number in any usual notation: `66834` or `66,834`. */
const DIGITS = String.raw`(\d{1,16}|\d{1,3}(?:[,\u2009\u202f\u00a0 ]\d{3}){1,5})`
const EVENT = new RegExp(String.raw`^(?:event|seq)\s*#?${DIGITS}$`, 'i')
const CONTEST = new RegExp(String.raw`^(?:c|contest)\s*#?${DIGITS}$`, 'i')
const NUMBER = new RegExp(`^#?${DIGITS}$`)
/** URL, of which the last part of the path is searched. */
const URL_FORM = /^(?:https?:\/\/|\/|[\w-]+(?:\.[\w-]+)+(?::\d+)?\/)[^?#]*/i
/** A future day leads to the schedule if it is less than a year away. */
const PLANNED_MS = 365 * DAY_MS
const NONE: SearchResult['nearest'] = { isPartly: false, titles: [] }
const LETTERS = /\p{L}/u
/** Contests that a search by words shows. */
const TITLED_MAX = 20

/** Whether a query is only a number, such as `66,834` or `#136`. */
function isNumber(query: string): boolean {
  return NUMBER.test(query)
}

/** Searches for a text, or for the last path segment of a URL, for example an explorer's. */
async function search(text: string, view: View): Promise<SearchResult> {
  if (text === '') return { matches: [], titled: null, nearest: NONE, isTx: false }
  const path = URL_FORM.exec(text)?.[0].split('/') ?? [text]
  const term = path.findLast((part) => part !== '') ?? ''
  const named = await findTransaction(term, view.ask)
  const href = named.ok ? named.value.href : null
  const ofTx: readonly Match[] = href === null ? [] : [{ is: 'transaction', href }]
  const numbered = await matchesOf(term, view)
  const times = numbered.length > 0 || NUMBER.test(term) ? [] : await timesOf(term, view)
  const matches = [...numbered, ...times, ...ofTx]
  // `October` may be a month and a word of a title; so may `2026`.
  const isWords = matches.length === 0 || /^[a-z -]+$|^[a-z]+ \d+$|^\d+$/i.test(term)
  const titled = isWords ? await titledBy(text, view) : null
  const isNothing = matches.length === 0 && titled === null && LETTERS.test(text)
  return { matches, titled, nearest: isNothing ? await askNearestTitles(text, view) : NONE, isTx: named.ok }
}

/** Address of the only page that matches; null if none or several do. */
function onlyMatch({ matches, titled }: SearchResult): string | null {
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

/** Matches of a number. A plain number may be an event and a contest. */
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

/** Matches of a month, a day, a moment or a range. */
async function timesOf(term: string, view: View): Promise<readonly Match[]> {
  const times = spokenTimes(term, view.now)
  if (times.length === 0) {
    const ranges = spokenRanges(term, view.now).map((range) => rangeMatch(range, view))
    return (await Promise.all(ranges)).flat()
  }
  return times.flatMap((time): readonly Match[] => {
    if (time.is === 'month') return [{ is: 'month', href: `/archive#${time.month}`, month: time.month }]
    const at = formatAt(time.from)
    if (time.from > view.now + PLANNED_MS) return []
    if (time.from > view.now) return [{ is: 'schedule', href: '/schedule', at }]
    const days =
      time.is === 'moment'
        ? `from=${at}`
        : `from=${at.slice(0, 10)}&to=${new Date(time.from + DAY_MS).toISOString().slice(0, 10)}`
    return [{ is: time.is, href: `/events?${days}&limit=100`, at }]
  })
}

/** Figures of a range, up to the present if it has not ended, in buckets that fit. None if the API refuses it. */
async function rangeMatch({ from, to }: SpokenRange, view: View): Promise<readonly Match[]> {
  const isDays = from % DAY_MS === 0 && to % DAY_MS === 0
  const presentEnd = ceilTo(boundOf(view.now + 1), isDays ? DAY_MS : HOUR_MS)
  const toMs = to < presentEnd ? to : presentEnd
  const [first, end] = [from, toMs].map((ms) => (isDays ? formatAt(ms).slice(0, 10) : formatAt(ms)))
  const span = `from=${first}&to=${end}`
  const reply = await view.ask('flows', { query: `${span}${isDays ? '' : '&bucket=hour'}` })
  const bucket = reply.ok ? (isDays ? 'day' : 'hour') : reply.problem.members?.['bucket']
  if (typeof bucket !== 'string') return []
  const href = `/flows?${span}${bucket === 'day' ? '' : `&bucket=${bucket}`}`
  const name = rangeName({ fromMs: from, toMs, launchedAtMs: null, asOf: { atMs: null }, buckets: [] })
  return [{ is: 'range', href, name }]
}

/** Contest with a similar title: its index in an answer of `/contests`, its number and its title. */
type NearestTitle = Readonly<{
  list: LinkedAnswer<Contests>
  index: number
  id: number
  title: string
}>

/** Titles that are offered for a misspelt query, and for one of which they have some words. */
const OFFERED_MAX = { meant: 3, partly: 5 } as const
/** Contests in one answer of the search. */
const CANDIDATES = 100
/** The longest words of a query, of which each is searched for. */
const SOUGHT_WORDS_MAX = 4
/** Letters at the start of such a word that a word of a candidate must share. */
const BEGINNING = 3

/**
 * Contests whose titles are most like a query that finds none, the best first: with a word like each of its words, or
 * else with at least half of them. Candidates are the newest contests, and the newest with a word that begins like one
 * of the query's longest words. So the cost does not grow with the number of contests.
 */
async function askNearestTitles(query: string, view: View): Promise<SearchResult['nearest']> {
  const words = wordsOf(query)
  const longest = words.toSorted((a, b) => b.length - a.length).slice(0, SOUGHT_WORDS_MAX)
  const starts = new Set(longest.map((word) => word.slice(0, BEGINNING)))
  const queries = ['', ...[...starts].map((start) => `q=${encodeURIComponent(start)}&`)]
  const lists = (await Promise.all(queries.map((one) => ask(view, one)))).filter((list) => list !== null)
  const titles = lists
    .flatMap((list) =>
      list.answer.contests.flatMap(({ id, title }, index) =>
        title === null ? [] : [{ ...likenessOf(words, wordsOf(title)), list, index, id, title }],
      ),
    )
    .filter(({ missing }) => missing < words.length && missing <= words.length / 2)
    .toSorted((a, b) => a.missing - b.missing || a.distance - b.distance)
  const isPartly = (titles[0]?.missing ?? 0) > 0
  const first = new Map(titles.toReversed().map((one) => [one.title, one]))
  return {
    isPartly,
    titles: titles
      .filter((one) => first.get(one.title) === one && (isPartly || one.missing === 0))
      .slice(0, OFFERED_MAX[isPartly ? 'partly' : 'meant']),
  }
}

async function ask(view: View, query: string): Promise<LinkedAnswer<Contests> | null> {
  const reply = await view.ask('contests', { query: `${query}limit=${CANDIDATES}` })
  return reply.ok ? reply.value : null
}

/** Words of a query that are near to none of a title's, and the sum of the distances of the others. */
function likenessOf(
  query: readonly string[],
  title: readonly string[],
): Readonly<{ missing: number; distance: number }> {
  const near = query
    .map((word) => ({ word, least: Math.min(...title.map((other) => editDistance(word, other))) }))
    // One mistake in a short word, two in a longer one.
    .filter(({ word, least }) => least <= (word.length < 6 ? 1 : 2) && least < word.length)
  return {
    missing: query.length - near.length,
    distance: near.reduce((sum, { least }) => sum + least, 0),
  }
}

/** Fewest letters to add, remove, change or swap with their neighbour (optimal string alignment). */
function editDistance(a: string, b: string): number {
  const [from, to] = [Array.from(a), Array.from(b)]
  let before: readonly number[] = []
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [row, letter] of from.entries()) {
    const next = [row + 1]
    for (const [column, other] of to.entries()) {
      const isSame = letter === other
      const costs = [
        (last[column + 1] ?? 0) + 1,
        (next[column] ?? 0) + 1,
        (last[column] ?? 0) + (isSame ? 0 : 1),
      ]
      if (letter === to[column - 1] && from[row - 1] === other) costs.push((before[column - 1] ?? 0) + 1)
      next.push(Math.min(...costs))
    }
    before = last
    last = next
  }
  return last.at(-1) ?? 0
}
