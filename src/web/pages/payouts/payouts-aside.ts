import { removeDirection } from '../../../protocol/foreign-text.ts'
import type { Payouts } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { UnpaidStatus } from '../../../protocol/enumerations.ts'
import type { View } from '../../frame/page.ts'
import { isPositive, isZero } from '../../markup/amount-html.ts'
import { type Html, html } from '../../markup/html.ts'
import { stateWords } from '../../markup/kind-words.ts'
import type { Titles } from './payouts-book.ts'
import { payoutsSubscription } from './payouts-calendar.ts'

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
export function payoutsAside(payouts: Payouts, titles: Titles | null, view: View): Html {
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
