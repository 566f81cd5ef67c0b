import type { Contest, Contests, Payouts, Unpaid } from '../../../protocol/endpoints/contest-endpoints.ts'
import { UNPAID_STATUSES, type UnpaidStatus } from '../../../protocol/enumerations.ts'
import { answerTable } from '../../../serve/api/answer-tables.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { EndpointPage, LinkedAnswer, View } from '../../frame/page.ts'
import { amountHtml, headlineAmount, isPositive, isZero } from '../../markup/amount-html.ts'
import { book, type BookLine, sectionHead } from '../../markup/book.ts'
import { type Html, html, type Part } from '../../markup/html.ts'
import { kindName, plainKind, stateChip, stateWords } from '../../markup/kind-words.ts'
import { plainText } from '../../markup/page-lead.ts'
import { removeDirection } from '../../../protocol/foreign-text.ts'
import { payoutsSubscription } from './payouts-calendar.ts'
import { unpaidBar } from './unpaid-bar.ts'
import { contestLink } from '../../markup/contest-name.ts'
import { type Derived, derived, derivedSum, negated } from '../../markup/derived.ts'
import { clockMoment, hourOf, nearDay, nearMoment, spanFrom, untilMoment } from '../../markup/moment-html.ts'
import { boundOf, DAY_MS, floorTo, formatAt, msOf } from '../../../protocol/moment.ts'
import { chartPicture } from '../../charts/chart-picture.ts'
import { greatestIndex } from '../../markup/chart-scale.ts'
import { dayMark } from '../../charts/chart-time.ts'
import { barPlot } from '../../charts/chart-line.ts'
import { askWaits, lateNote, lateWord, type UsualWaits, usualWaits } from './wait-words.ts'
import { isWholeList, PAGE_ROWS_MAX } from '../../frame/answers.ts'

/** `/payouts`: unpaid prizes, and when they can be paid. */
export const payoutsPage: EndpointPage<'payouts'> = {
  endpoint: 'payouts',
  rowsMax: PAGE_ROWS_MAX,
  pictureRowsMax: PAGE_ROWS_MAX,
  title: (_, view) => titleOf(view),
  description: describe,
  csv: (answer) => answerTable('payouts', answer),
  svg: (payouts, view) => daysPicture(payouts, titleOf(view), view),
  heading: payoutsHeading,
  async render(payouts, view) {
    const { titles, links } = await askTitles(payouts, view)
    const waits = isNothingOpen(payouts) ? null : await askWaits(view)
    return html`<div class="two">
        ${mineAside(payouts, titles, view)}
        <section>
          ${
            isNothingOpen(payouts)
              ? await nothingOpen(view)
              : html`${unpaidBar(payouts.totals, '/totals')} ${waits === null ? null : usualWaits(waits)}
                ${partNote(payouts, view)} ${unpaidBooks(payouts, { titles, waits }, view)}
                ${pager(payouts, view)}`
          }
        </section>
        ${payoutsAside(payouts, view)}
      </div>
      ${links} ${waits === null ? null : jsonLinks([['usual waits', waits]])}`
  },
}

/** Answers beside the unpaid prizes: the titles of contests, and the usual waits. */
type Beside = Readonly<{ titles: Titles | null; waits: UsualWaits | null }>

/** Heading of the page: which prizes can be paid now, and which wait until when. */
async function payoutsHeading(payouts: Payouts, view: View): Promise<Html> {
  if (isNothingOpen(payouts)) return nothingHeading(payouts, view)
  const contest = await askContest(view)
  const noun = contest === null ? ' of prizes' : ''
  const chosen = ['contestId', 'kind'].filter((name) => view.query.has(name))
  const named = html`<p>Of the chosen ${chosen.map((name) => CHOSEN[name]).join(' and ')}</p>`
  return html`${contest === null ? (isFiltered(view) ? named : null) : nameOf(contest)}
    <h1>${sentenceOf(payouts, noun, view)}</h1>
    ${overpaidNote(payouts, view)}`
}

/** Words for the parameters that choose prizes. */
const CHOSEN: Readonly<Record<string, string>> = { contestId: 'contests', kind: 'kinds of prize' }

function nameOf({ address, answer: { id, title } }: LinkedAnswer<Contest>): Html {
  return html`<p data-at="${address}#/title ${address}#/id">Unpaid prizes of ${contestLink(id, title)}</p>`
}

/** Whether no prize is unpaid. The totals are of all pages. */
function isNothingOpen({ unpaid, totals }: Payouts): boolean {
  return unpaid.length === 0 && UNPAID_STATUSES.every((status) => isZero(totals[status]))
}

/** The platform pays the payable prizes without being asked. The others are to be claimed, or wait for a date. */
function sentenceOf(payouts: Payouts, noun: string, view: View): Html {
  const { token } = view.site
  const { payable, awaiting_claim: claims } = payouts.totals
  const rest = totalOf(payouts, 'locked', 'in_review')
  const waits = isPositive(rest.figure)
  const more = waits ? html`, ${largeSum(rest)} more ${lastDay(payouts, view)}` : null
  if (isPositive(payable) && isPositive(claims)) {
    return html`${largeTotal('payable', payable)} ${token}${noun} can be paid now,
    ${largeTotal('awaiting_claim', claims)} to be claimed${more}`
  }
  if (isPositive(payable) || isPositive(claims)) {
    const [status, figure, words] = isPositive(payable)
      ? (['payable', payable, 'can be paid now'] as const)
      : (['awaiting_claim', claims, `${noun === '' ? 'is' : 'are'} to be claimed`] as const)
    const ready = largeTotal(status, figure)
    return waits
      ? html`${ready} ${token}${noun} ${words}${more}`
      : html`All ${ready} ${token}${noun === '' ? '' : ' of unpaid prizes'} ${words}`
  }
  if (waits)
    return html`${largeSum(rest)} ${token}${noun} wait${noun === '' ? 's' : ''}${firstDay(payouts, view)}`
  return html`${overpaidOf(payouts)} ${token} more was paid or has expired than was won`
}

function largeTotal(status: UnpaidStatus, figure: string): Html {
  return html`<span data-at="/totals/${status}">${headlineAmount(figure)}</span>`
}

/** Sum of the totals of two states. */
function totalOf({ totals }: Payouts, ...states: readonly [UnpaidStatus, UnpaidStatus]): Derived {
  const sum = derivedSum(states.map((status) => ({ pointer: `/totals/${status}`, figure: totals[status] })))
  return sum ?? { expression: '', figure: '0' }
}

function largeSum({ expression, figure }: Derived): Html {
  return html`<span data-expr="${expression}">${headlineAmount(figure)}</span>`
}

/** Amount by which payments and expired prizes exceed prizes. Its total is negative. */
function overpaidOf({ totals }: Payouts): Html {
  return largeSum(negated({ pointer: '/totals/overpaid', figure: totals.overpaid }))
}

/** Moment by which all can be paid; known only from the whole list. */
function lastDay(payouts: Payouts, view: View): Html {
  const last = waitingIn(payouts).at(-1)
  if (last === undefined || !isWholeList(payouts, view)) return html`later`
  const { availableAt } = last.unpaid
  const pointer = `/unpaid/${last.index}/availableAt`
  return html`by <span data-at="${pointer}">${clockMoment(availableAt, view)}</span>`
}

/** Moment from which the first can be paid; known only from the whole list. */
function firstDay(payouts: Payouts, view: View): Html | null {
  const [first] = waitingIn(payouts)
  if (first === undefined || !isWholeList(payouts, view)) return null
  const moment = nearMoment(first.unpaid.availableAt, view)
  return html`; the first can be paid from
    <span data-at="/unpaid/${first.index}/availableAt">${moment}</span>`
}

/** Note that more was paid or has expired than was won; null if not, or if the headline mentions it. */
function overpaidNote(payouts: Payouts, { site }: View): Html | null {
  if (isZero(payouts.totals.overpaid)) return null
  const isSaid = UNPAID_STATUSES.every((status) => status === 'overpaid' || isZero(payouts.totals[status]))
  const why = 'because a prize was corrected afterwards.'
  return isSaid
    ? html`<p class="lead">That is ${why}</p>`
    : html`<p class="lead">
        ${overpaidOf(payouts)} ${site.token} more was paid or has expired than was won, ${why}
      </p>`
}

/** Heading of a page without unpaid prizes, for all contests or by the state of one. */
async function nothingHeading({ asOf }: Payouts, view: View): Promise<Html> {
  if (!isFiltered(view)) {
    const lead =
      asOf.seq === 0 ? 'The log is still empty.' : 'Every prize won so far is paid, or was never claimed.'
    return html`<h1>No prize is unpaid</h1>
      <p class="lead">${lead}</p>`
  }
  if (onlyContest(view) === undefined) return html`<h1>None of these prizes is unpaid</h1>`
  const contest = await askContest(view)
  if (contest === null) return html`<h1>No contest has this number</h1>`
  const { prizesOwed, prizesExpired } = contest.answer
  // The page of the contest says why nothing is won.
  if (!isPositive(prizesOwed))
    return html`${nameOf(contest)}
      <h1>No prize is won in this contest</h1>`
  return html`${nameOf(contest)}
    <h1>No prize of this contest is unpaid</h1>
    <p class="lead">
      Everything that was won is paid${isZero(prizesExpired) ? '' : ', or was never claimed'}.
    </p>`
}

/** Further way from a page without unpaid prizes. */
async function nothingOpen(view: View): Promise<Html> {
  if (isFiltered(view) && onlyContest(view) === undefined)
    return html`<p>See <a href="/payouts">the unpaid prizes of all contests</a>.</p>`
  if (!isFiltered(view)) {
    return html`<p>
      See <a href="/contests?status=paid">the contests that are settled</a>, each with its payments.
    </p>`
  }
  const contest = await askContest(view)
  if (contest === null) return html`<p>See <a href="/contests">all contests</a>.</p>`
  return html`<p>
    <a href="/contests/${contest.answer.id}/ledger">The contest, with all its payments</a>
  </p>`
}

/** Whether the query asks for some contests or kinds. */
function isFiltered({ query }: View): boolean {
  return query.has('contestId') || query.has('kind')
}

/** The contest of a query for one contest, of any kind; undefined for any other query. */
function onlyContest({ query }: Pick<View, 'query'>): number | undefined {
  const [id, ...others] = query.integers('contestId') ?? []
  return others.length > 0 || query.has('kind') ? undefined : id
}

/** The contest of a query for one; null for any other query, or if none has the number. */
async function askContest(view: View): Promise<LinkedAnswer<Contest> | null> {
  const id = onlyContest(view)
  if (id === undefined) return null
  const asked = await view.ask('contest', { segments: { id: String(id) } })
  return asked.ok ? asked.value : null
}

function titleOf({ query }: View): string {
  const ids = query.integers('contestId') ?? []
  const kinds = (query.list('kind') ?? []).map((kind) => plainText(plainKind(kind)))
  const ofKinds = kinds.length === 0 ? '' : `: ${kinds.join(', ')}`
  const ofContests = ids.length === 0 ? '' : ` of contest${ids.length === 1 ? '' : 's'} ${ids.join(', ')}`
  return `Unpaid prizes${ofContests}${ofKinds}`
}

/** Link-preview text: the total of each state. */
function describe(payouts: Payouts, view: View): string {
  if (isNothingOpen(payouts)) {
    return isFiltered(view)
      ? `${titleOf(view)}, by kind, with the state and the date of each.`
      : 'No prize is unpaid: every prize won so far is paid, or was never claimed.'
  }
  const states = UNPAID_STATUSES.filter((status) => !isZero(payouts.totals[status]))
  const totals = states.map(
    (status) => `${plainText(amountHtml(payouts.totals[status]))} ${view.site.token} ${stateWords(status)}`,
  )
  return `Won and not paid yet: ${totals.join(', ')}.`
}

/** Titles of the contests with unpaid prizes, for the page of all contests, and links to their JSON. */
async function askTitles(
  { unpaid }: Payouts,
  view: View,
): Promise<Readonly<{ titles: Titles | null; links: Html | null }>> {
  if (onlyContest(view) !== undefined) {
    const contest = await askContest(view)
    return { titles: null, links: contest === null ? null : jsonLinks([['the contest', contest]]) }
  }
  const contests = await askEndpoint(view, 'contests', {
    query: `status=running,paying&limit=${PAGE_ROWS_MAX}`,
  })
  const titles = titlesOf(contests.answer)
  if (unpaid.every(({ contestId }) => titles.has(contestId))) {
    return { titles, links: jsonLinks([['the titles of contests', contests]]) }
  }
  // A correction has left prizes of a settled contest unpaid.
  const owing = await askEndpoint(view, 'contests', { query: `outcome=owing&limit=${PAGE_ROWS_MAX}` })
  return {
    titles: new Map([...titles, ...titlesOf(owing.answer)]),
    links: jsonLinks([
      ['the titles of contests', contests],
      ['of settled contests that owe prizes', owing],
    ]),
  }
}

const titlesOf = ({ contests }: Contests): Titles => new Map(contests.map(({ id, title }) => [id, title]))

/** Note that the totals include more prizes than the page lists; null if it lists all. */
function partNote(payouts: Payouts, view: View): Html | null {
  if (isWholeList(payouts, view)) return null
  if (payouts.unpaid.length === 0) {
    return html`<p class="lead">
      There are no more unpaid prizes. The totals cover those on the earlier pages.
    </p>`
  }
  return html`<p class="quiet">
    The totals cover all unpaid prizes. This page lists only
    ${view.query.has('after') ? 'some of them' : 'the ones that were won first'}.
    <a href="${payouts.next === null ? '#pages' : pagePathOf(payouts.next)}"
      >${payouts.next === null ? 'Other pages' : 'Next page'}</a
    >.
  </p>`
}

function pagePathOf(next: string): string {
  return next.replace('/api/v1', '')
}

function pager({ next }: Payouts, { query }: View): Html | null {
  const paged = query.has('after')
  if (!paged && next === null) return null
  return html`<nav id="pages" aria-label="Pages of unpaid prizes" class="pager" data-chrome>
    ${paged ? html`<a href="/payouts${query.format({ after: undefined })}">First page</a>` : null}
    ${next === null ? null : html`<a rel="next" href="${pagePathOf(next)}">Next page</a>`}
  </nav>`
}

/** Contests whose names the search field suggests. */
const SUGGESTED_MAX = 100

/** Reason for each state of a prize. */
const REASONS: readonly (readonly [status: UnpaidStatus, reason: string])[] = [
  ['locked', 'Won. It can be paid from a fixed moment.'],
  ['in_review', 'The operator is checking that the contest followed its rules.'],
  ['awaiting_claim', 'It can be paid as soon as its winner asks for it on the platform.'],
  ['payable', 'It can be paid now. The platform pays it without being asked.'],
  ['overpaid', 'More was paid or has expired than was won: the prize was corrected afterwards.'],
]

/** Search for a contest. A phone has it above the books, which may be long. */
function mineAside(payouts: Payouts, titles: Titles | null, view: View): Html {
  return html`<aside aria-label="Find a contest">
    <h2>Is mine among them?</h2>
    <p class="quiet">
      The log has totals of each contest and kind of prize, and nobody’s name or wallet. Your own share is on
      the platform.
    </p>
    ${contestForm(payouts, titles, view)}
  </aside>`
}

/** Facts beside the books: why a prize waits, and how to be notified. */
function payoutsAside({ totals }: Payouts, view: View): Html {
  const waits = isPositive(totals.locked) || isPositive(totals.in_review)
  return html`<aside aria-label="Why a prize waits">
    <h2>Why a prize waits</h2>
    <dl class="why" data-chrome>
      ${REASONS.filter(([status]) => status !== 'overpaid' || !isZero(totals.overpaid)).map(
        ([status, reason]) =>
          html`<dt id="${status}"><span class="chip ${status}">${stateWords(status)}</span></dt>
            <dd>${reason}</dd>`,
      )}
    </dl>
    ${
      waits
        ? html`<h2>Get notified</h2>
            <p class="quiet">A calendar with each date on which a prize can be paid.</p>
            ${payoutsSubscription(view)}`
        : null
    }
  </aside>`
}

/** Search for a contest by number or name, which leads to its page. Suggests contests with unpaid prizes. */
function contestForm({ unpaid }: Payouts, titles: Titles | null, view: View): Html {
  const ids = titles === null ? [] : [...new Set(unpaid.map(({ contestId }) => contestId))]
  const named = ids.slice(0, SUGGESTED_MAX).flatMap((id) => {
    const title = titles?.get(id) ?? null
    return title === null ? [] : [html`<option value="contest ${id}">${removeDirection(title)}</option>`]
  })
  return html`<form class="find" role="search" action="/find" data-chrome>
      <input
        type="search"
        name="q"
        maxlength="300"
        list="contests"
        autocomplete="off"
        aria-label="Number of a contest, or words of its name"
        placeholder="Contest"
      />
      <datalist id="contests">${named}</datalist>
      <button>Show</button>
    </form>
    ${isFiltered(view) ? html`<p><a href="/payouts">Unpaid prizes of all contests</a></p>` : null}`
}

/** Maximum lines of a book on a page. Exports and the next pages have more. */
const LINES_SHOWN = 100

/** Contests' titles by id; null on the page of one contest. */
type Titles = ReadonlyMap<number, string | null>

/** Books of unpaid prizes: waiting ones by day, payable ones, and overpaid ones. */
function unpaidBooks(payouts: Payouts, { titles, waits }: Beside, view: View): Html {
  const { totals } = payouts
  const [waiting, ready] = [waitingIn(payouts), prizesIn(payouts, 'payable', 'awaiting_claim')]
  const isPart = isPositive(totals.payable) || isPositive(totals.awaiting_claim)
  const bookOf = (
    heading: string,
    note: string | null,
    rows: readonly IndexedPrize[],
    lines: readonly BookLine[],
    explained: Html | null = null,
  ): Html | null => {
    if (rows.length === 0) return null
    return html`<section>
      ${sectionHead(heading, note === null ? null : html`<span>${note}</span>`)}
      ${book(lines, listOf(titles))} ${explained} ${moreNote(rows, payouts, view)}
    </section>`
  }
  const linesOf = (rows: readonly IndexedPrize[]): readonly BookLine[] =>
    rows.slice(0, LINES_SHOWN).map((row) => {
      const { availableAt } = row.unpaid
      const span = spanFrom(availableAt, view)
      const late = lateWord(`/unpaid/${row.index}`, row.unpaid, waits)
      return lineOf(row, titles, { when: nearMoment(availableAt, view), wait: html`for ${span}`, late })
    })
  const over = prizesIn(payouts, 'overpaid')
  const ofReady = ready.map(({ unpaid }) => unpaid)
  return html`${bookOf(
    isPart ? 'When the rest can be paid' : 'When they can be paid',
    null,
    waiting,
    dayLines(payouts, waiting, titles, view),
  )}
  ${bookOf('Can be paid or claimed now', 'longest wait first', ready, linesOf(ready), lateNote(ofReady, waits))}
  ${bookOf('More was paid or has expired than was won', null, over, linesOf(over))}`
}

/** Lines by day. A day has its sum, unless some of its prizes may be missing here. */
function dayLines(
  payouts: Payouts,
  rows: readonly IndexedPrize[],
  titles: Titles | null,
  view: View,
): readonly BookLine[] {
  const whole = isWholeList(payouts, view)
  const lines: BookLine[] = []
  let left = LINES_SHOWN
  for (const { startMs, rows: ofDay, total } of daysOf(rows)) {
    const [first] = ofDay
    if (first === undefined || left === 0) break
    const { weekday, date } = nearDay(first.unpaid.availableAt, view)
    const at = `/unpaid/${first.index}/availableAt`
    lines.push(
      {
        as: 'day',
        key: `day ${startMs}`,
        when: html`<span data-at="${at}">${weekday}</span>`,
        what: html`<span data-at="${at}">${date}</span> UTC`,
        amount: whole ? derived(total) : null,
      },
      ...ofDay.slice(0, left).map((row) => {
        const { availableAt } = row.unpaid
        return lineOf(row, titles, { when: hourOf(availableAt), wait: untilMoment(availableAt, view) })
      }),
    )
    left -= Math.min(left, ofDay.length)
  }
  return lines
}

type LineTimes = Readonly<{ when: Part; wait: Part; late?: Html | null }>

function lineOf(
  { unpaid, index }: IndexedPrize,
  titles: Titles | null,
  { when, wait, late = null }: LineTimes,
): BookLine {
  const { contestId, kind, status, kots } = unpaid
  const state = html`${stateChip(status)}<span class="fold"> · ${wait}</span
    >${late === null ? null : html` · ${late}`}`
  const words =
    titles === null
      ? { what: kindName(kind), small: state }
      : {
          what: contestLink(contestId, titles.get(contestId) ?? null),
          small: html`${kindName(kind)} <span class="fold">· </span>${state}`,
        }
  return { when, ...words, amount: amountHtml(kots), row: `/unpaid/${index}`, key: unpaidKey(unpaid) }
}

function listOf(titles: Titles | null): Readonly<{ list: string; fields: string; most: number }> {
  const contest = titles === null ? '' : 'contestId '
  return {
    list: '/unpaid',
    fields: `availableAt ${contest}kind status availableAt kots`,
    most: LINES_SHOWN,
  }
}

function moreNote(
  rows: readonly Unpaid[] | readonly IndexedPrize[],
  payouts: Payouts,
  view: View,
): Html | null {
  if (rows.length <= LINES_SHOWN) return null
  const has = isWholeList(payouts, view) ? 'have them all' : 'have more, and link to the next rows'
  return html`<p class="quiet">Not all are shown here: the CSV and the JSON below ${has}.</p>`
}

/** Stable key of a line. A contest may have several lines. */
function unpaidKey({ contestId, kind, status, unlocksAtMs, reviewUntilMs, availableAtMs }: Unpaid): string {
  return [contestId, kind, status, unlocksAtMs, reviewUntilMs, availableAtMs].join(' ')
}

/** Days in the picture, from today. */
const DAYS_DRAWN = 30

type Day = Readonly<{ startMs: number; rows: readonly IndexedPrize[]; total: Derived }>

/** Rows grouped by the day on which they become available, with the day's total. */
function daysOf(rows: readonly IndexedPrize[]): readonly Day[] {
  const byDay = Map.groupBy(rows, ({ unpaid }) => floorTo(msOf(unpaid.availableAtMs), DAY_MS))
  return [...byDay].flatMap(([startMs, placed]) => {
    const total = derivedSum(
      placed.map(({ unpaid, index }) => ({ pointer: `/unpaid/${index}/kots`, figure: unpaid.kots })),
    )
    return total === null ? [] : [{ startMs, rows: placed, total }]
  })
}

/** Picture of the amounts that become available on each of the next days. */
function daysPicture(payouts: Payouts, title: string, view: View): Html {
  const from = floorTo(msOf(payouts.now.atMs), DAY_MS)
  const starts = Array.from({ length: DAYS_DRAWN }, (_, index) => from + index * DAY_MS)
  const totals = new Map(daysOf(waitingIn(payouts)).map(({ startMs, total }) => [startMs, total.figure]))
  const figures = starts.map((startMs) => totals.get(startMs) ?? '0.000000000')
  const most = greatestIndex(figures)
  const dayAt = (index: number): string => formatAt(boundOf(starts[index] ?? 0)).slice(0, 10)
  const isWhole = isWholeList(payouts, view)
  const part = isWhole ? '' : ', for part of the unpaid prizes'
  const rows = isWhole ? '' : `, of ${payouts.unpaid.length} rows, and there are more`
  const plot = barPlot({
    id: 'days',
    title: `What becomes available day by day${part}, ${view.site.token}`,
    description: `The total of each of the next thirty days${part}. ${most === null ? 'Nothing waits for a date.' : `The most becomes available on ${dayAt(most)}.`}`,
    bars: figures.map((figure, index) => {
      const label = dayMark(starts[index] ?? 0)
      return { label, name: label, figure }
    }),
    size: 'tall',
  })
  const range = `${dayAt(0)} to ${dayAt(DAYS_DRAWN - 1)}${rows}`
  return chartPicture({ title, asOf: payouts.asOf, range }, [plot], view)
}

/** Unpaid prize with its index in the answer. */
type IndexedPrize = Readonly<{ unpaid: Unpaid; index: number }>

/** Prizes in these states, the soonest first. */
function prizesIn({ unpaid }: Payouts, ...states: readonly UnpaidStatus[]): readonly IndexedPrize[] {
  return unpaid
    .map((one, index) => ({ unpaid: one, index }))
    .filter((one) => states.includes(one.unpaid.status))
    .toSorted((a, b) => a.unpaid.availableAtMs - b.unpaid.availableAtMs)
}

/** Prizes that wait for a date, the soonest first. */
function waitingIn(payouts: Payouts): readonly IndexedPrize[] {
  return prizesIn(payouts, 'locked', 'in_review')
}
