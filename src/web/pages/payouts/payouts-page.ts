import type { Contest, Payouts } from '../../../protocol/endpoints/contest-endpoints.ts'
import { UNPAID_STATUSES, type UnpaidStatus } from '../../../protocol/enumerations.ts'
import { answerTable } from '../../../serve/api/answer-tables.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { EndpointPage, LinkedAnswer, View } from '../../frame/page.ts'
import { isWholeList, PAGE_ROWS_MAX } from '../../frame/page-rows.ts'
import { amountHtml, headlineAmount, isPositive, isZero } from '../../markup/amount-html.ts'
import { type Segment, segmentBar } from '../../markup/book.ts'
import { type Html, html } from '../../markup/html.ts'
import { stateWords } from '../../markup/kind-words.ts'
import { plainText } from '../../markup/page-lead.ts'
import { capitalized } from '../../markup/prose.ts'
import { daysPicture, type Titles, unpaidBooks, waitingIn } from './payouts-book.ts'
import { removeDirection } from '../../../protocol/foreign-text.ts'
import { payoutsSubscription } from './payouts-calendar.ts'
import { contestLink } from '../../markup/contest-name.ts'
import { type Derived, derivedSum, negated } from '../../markup/derived.ts'
import { clockMoment, nearMoment } from '../../markup/moment-html.ts'

/** `/payouts`: unpaid prizes, and when they can be paid. */
export const payoutsPage: EndpointPage<'payouts'> = {
  endpoint: 'payouts',
  rowsMax: PAGE_ROWS_MAX,
  pictureRowsMax: PAGE_ROWS_MAX,
  asksMore: true,
  title: (_, view) => titleOf(view),
  description: describe,
  csv: (answer) => answerTable('payouts', answer),
  svg: (payouts, view) => daysPicture(payouts, titleOf(view), view),
  heading: payoutsHeading,
  async render(payouts, view) {
    const { titles, links } = await askTitles(view)
    return html`<div class="two">
        <section>
          ${
            isNothingOpen(payouts)
              ? await nothingOpen(view)
              : html`${barOf(payouts)} ${partNote(payouts, view)} ${unpaidBooks(payouts, titles, view)}
                ${pager(payouts, view)}`
          }
        </section>
        ${payoutsAside(payouts, titles, view)}
      </div>
      ${links}`
  },
}

/** Top of the page: what can be paid now and what waits until when, in a sentence. */
async function payoutsHeading(payouts: Payouts, view: View): Promise<Html> {
  if (isNothingOpen(payouts)) return nothingHeading(payouts, view)
  const contest = await askContest(view)
  const noun = contest === null ? ' of prizes' : ''
  return html`${contest === null ? null : nameOf(contest)}
    <h1>${sentenceOf(payouts, noun, view)}</h1>
    ${overpaidNote(payouts, view)}`
}

function nameOf({ address, answer: { id, title } }: LinkedAnswer<Contest>): Html {
  return html`<p data-at="${address}#/title ${address}#/id">Unpaid prizes of ${contestLink(id, title)}</p>`
}

/** Whether no prize is unpaid. The totals are of all pages. */
function isNothingOpen({ unpaid, totals }: Payouts): boolean {
  return unpaid.length === 0 && UNPAID_STATUSES.every((status) => isZero(totals[status]))
}

function sentenceOf(payouts: Payouts, noun: string, view: View): Html {
  const { token } = view.site
  const ready = totalOf(payouts, 'payable', 'awaiting_claim')
  const rest = totalOf(payouts, 'locked', 'in_review')
  const waits = isPositive(rest.figure)
  if (isPositive(ready.figure)) {
    return waits
      ? html`${largeSum(ready)} ${token}${noun} can be paid now, ${largeSum(rest)} more
        ${lastDay(payouts, view)}`
      : html`All ${largeSum(ready)} ${token}${noun === '' ? '' : ' of unpaid prizes'} can be paid now`
  }
  if (waits)
    return html`${largeSum(rest)} ${token}${noun} wait${noun === '' ? 's' : ''}${firstDay(payouts, view)}`
  return html`${overpaidOf(payouts)} ${token} more was paid or has expired than was won`
}

/** Sum of the totals of two states. */
function totalOf({ totals }: Payouts, ...states: readonly [UnpaidStatus, UnpaidStatus]): Derived {
  const sum = derivedSum(states.map((status) => ({ pointer: `/totals/${status}`, figure: totals[status] })))
  return sum ?? { expression: '', figure: '0' }
}

function largeSum({ expression, figure }: Derived): Html {
  return html`<span data-expr="${expression}">${headlineAmount(figure)}</span>`
}

/** Amount by which payments and what has expired are above prizes. Its total is negative. */
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

/** Note that more was paid or has expired than was won, unless the headline says so; null if none was. */
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

/** Top of a page without unpaid prizes, for all contests or by the state of one. */
async function nothingHeading({ asOf }: Payouts, view: View): Promise<Html> {
  if (!view.query.has('contestId')) {
    const lead =
      asOf.seq === 0 ? 'The log is still empty.' : 'Every prize won so far is paid, or has expired.'
    return html`<h1>No prize is unpaid</h1>
      <p class="lead">${lead}</p>`
  }
  const contest = await askContest(view)
  if (contest === null) return html`<h1>No contest has this number</h1>`
  const { prizesOwed, prizesExpired } = contest.answer
  // The page of the contest says why nothing is won.
  if (!isPositive(prizesOwed))
    return html`${nameOf(contest)}
      <h1>No prize is won in this contest</h1>`
  return html`${nameOf(contest)}
    <h1>No prize of this contest is unpaid</h1>
    <p class="lead">Everything that was won is paid${isZero(prizesExpired) ? '' : ', or has expired'}.</p>`
}

/** Further way from a page without unpaid prizes. */
async function nothingOpen(view: View): Promise<Html> {
  if (!view.query.has('contestId')) {
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

/** The contest of the query; null without one, or if none has the number. */
async function askContest(view: View): Promise<LinkedAnswer<Contest> | null> {
  const id = view.query.integer('contestId')
  if (id === undefined) return null
  const asked = await view.ask('contest', { segments: { id: String(id) } })
  return asked.ok ? asked.value : null
}

function titleOf({ query }: View): string {
  const id = query.integer('contestId')
  return id === undefined ? 'Unpaid prizes' : `Unpaid prizes of contest ${id}`
}

/** Link-preview text: the total of each state. */
function describe(payouts: Payouts, view: View): string {
  if (isNothingOpen(payouts)) {
    return view.query.has('contestId')
      ? `${titleOf(view)}, by kind, with the state and the date of each.`
      : 'No prize is unpaid: every prize won so far is paid, or has expired.'
  }
  const states = UNPAID_STATUSES.filter((status) => !isZero(payouts.totals[status]))
  const totals = states.map(
    (status) => `${plainText(amountHtml(payouts.totals[status]))} ${view.site.token} ${stateWords(status)}`,
  )
  return `Won and not paid yet: ${totals.join(', ')}.`
}

/** Titles of the contests that pay, for the page of all contests, and the JSON of what the page shows of contests. */
async function askTitles(view: View): Promise<Readonly<{ titles: Titles | null; links: Html | null }>> {
  if (view.query.has('contestId')) {
    const contest = await askContest(view)
    return { titles: null, links: contest === null ? null : jsonLinks([['the contest', contest]]) }
  }
  const contests = await askEndpoint(view, 'contests', { query: `status=paying&limit=${PAGE_ROWS_MAX}` })
  return {
    titles: new Map(contests.answer.contests.map(({ id, title }) => [id, title])),
    links: jsonLinks([['the titles of contests', contests]]),
  }
}

/** States of the bar, what can be paid first. */
const SEGMENTS = [
  ['payable', 'payable'],
  ['awaiting_claim', 'claim'],
  ['in_review', 'review'],
  ['locked', 'locked'],
] as const

/** Bar of the total of each state, on all pages; null if only too much was paid. */
function barOf({ totals }: Payouts): Html | null {
  const shown = SEGMENTS.filter(([status]) => isPositive(totals[status]))
  const all = shown.reduce((sum, [status]) => sum + Number(totals[status]), 0)
  if (all === 0) return null
  return segmentBar(
    shown.map(([status, as]): Segment => ({
      share: Number(totals[status]) / all,
      as,
      word: capitalized(stateWords(status)),
      amount: html`<span data-at="/totals/${status}">${amountHtml(totals[status])}</span>`,
    })),
  )
}

/** Note that the totals cover more prizes than the page lists; null if it lists all. */
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

/** Facts beside the books: how to find a contest, why a prize waits, how to be notified. */
function payoutsAside(payouts: Payouts, titles: Titles | null, view: View): Html {
  const { totals } = payouts
  const waits = isPositive(totals.locked) || isPositive(totals.in_review)
  return html`<aside>
    <h2>Is mine among them?</h2>
    <p class="quiet">
      The log has totals of each contest and kind of prize, and nobody’s name or wallet. Your own share is on
      the platform.
    </p>
    ${contestForm(payouts, titles, view)}
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
            ${payoutsSubscription(view.query.integer('contestId'), view)}`
        : null
    }
  </aside>`
}

/** Search for a contest by number or name, which leads to its page. It suggests contests with unpaid prizes. */
function contestForm({ unpaid }: Payouts, titles: Titles | null, { query }: View): Html {
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
    ${query.has('contestId') ? html`<p><a href="/payouts">Unpaid prizes of all contests</a></p>` : null}`
}
