import type { Contests, Payouts } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { EventsPage } from '../../../protocol/endpoints/event-endpoints.ts'
import type { Summary } from '../../../protocol/endpoints/figure-endpoints.ts'
import { askEndpoint } from '../../frame/linked-answers.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { amountHtml, countHtml, isPositive, isZero } from '../../markup/amount-html.ts'
import { derived, derivedSum, expressed, negated, waitingSum } from '../../markup/derived.ts'
import { type Html, html } from '../../markup/html.ts'
import { unpaidBar } from '../payouts/unpaid-bar.ts'
import type { Site } from '../../markup/site.ts'
import { PAGE_ROWS_MAX } from '../../frame/answers.ts'

/** Waiting prizes. The summary's balance is lower when it includes overpaid prizes. */
type Waiting = Readonly<{
  payouts: LinkedAnswer<Payouts>
  /** Settled contest with unpaid prizes; null if there is none, or if no other contest can have any. */
  reopened: LinkedAnswer<Contests> | null
}>

/** The totals of the prizes that are unpaid now. */
export function askUnpaidTotals(view: View): Promise<LinkedAnswer<Payouts>> {
  return askEndpoint(view, 'payouts', { query: 'limit=1' })
}

/**
 * Answer to "is everybody paid?" in a sentence. `waiting` is null for a past moment, for which it is unknown. A contest
 * is settled when its prizes are paid or have expired, or when it was cancelled and its pool is empty.
 */
export function headline(summary: Summary, { token }: Pick<Site, 'token'>, waiting: Waiting | null): Html {
  const { asOf, contests } = summary
  const { upcoming, running, paying, paid } = contests
  if (asOf.seq === 0) return html`Nothing has happened yet`
  if (paying + paid === 0) return beforeAnyClose(running, upcoming)
  const corrected = paying === 0 ? leftByCorrections(summary, token, waiting) : null
  if (corrected !== null) return corrected
  const closed = derivedSum([
    { pointer: '/contests/paid', figure: paid },
    { pointer: '/contests/paying', figure: paying },
  ])
  const all = closed === null ? null : derived(closed)
  const isKnown = waiting !== null
  const are = isKnown ? 'are' : 'have been'
  if (paying + paid === 1) {
    const is = paying > 0 ? 'is not yet' : isKnown ? 'is' : 'has been'
    return html`The only closed contest ${is} settled`
  }
  if (paying === 0) return html`All ${all} closed contests ${are} settled`
  if (paid === 0) return html`None of ${all} closed contests is settled yet`
  const words =
    isKnown && waiting.reopened === null && isZero(waiting.payouts.answer.totals.overpaid)
      ? `${paid === 1 ? 'is' : 'are'} settled`
      : `${paid === 1 ? 'has' : 'have'} been settled`
  return html`<span data-at="/contests/paid">${countHtml(paid)}</span> of ${all} closed contests ${words}`
}

/** Text about prizes that corrections reopened after all contests were settled; null if there are none. */
function leftByCorrections(summary: Summary, token: string, waiting: Waiting | null): Html | null {
  const { prizesNotRedeemed: figure, contests } = summary
  if (contests.running > 0) {
    // The sums include the prizes of running contests.
    if (waiting === null || waiting.reopened === null) return null
    return html`A correction left prizes unpaid in contests that had been settled`
  }
  const payouts = waiting?.payouts ?? null
  if (isPositive(payouts === null ? figure : waitingSum(payouts).figure)) {
    return html`A correction left ${waitingHtml(summary, payouts)} ${token} unpaid in contests that had been
    settled`
  }
  if (isZero(figure)) return null
  const over = negated({ pointer: '/prizesNotRedeemed', figure })
  return html`After a correction, ${derived(over)} ${token} more was paid or has expired than was won`
}

function beforeAnyClose(running: number, upcoming: number): Html {
  if (running === 0) {
    return upcoming === 0 ? html`No contest is planned yet` : html`The first contest has not opened yet`
  }
  return html`<span data-at="/contests/running">${countHtml(running)}</span>
    ${running === 1 ? 'contest is' : 'contests are'} running, none has closed yet`
}

/** The unpaid prizes, and the reason why each part waits. */
export function unpaidSentence(summary: Summary, payouts: LinkedAnswer<Payouts>, view: View): Html {
  const { prizesNotRedeemed, contests, asOf } = summary
  const { totals } = payouts.answer
  if (asOf.seq === 0) {
    return html`<p class="lead">
      No event has been published yet. Each event appears here when it is published.
    </p>`
  }
  if (isZero(prizesNotRedeemed) && isZero(totals.overpaid)) {
    return contests.paying + contests.paid === 0 && isZero(summary.paidInPrizes)
      ? html`<p class="lead">No prize has been won yet.</p>`
      : html`<p class="lead">No prize is waiting to be paid.</p>`
  }
  const { token } = view.site
  const bar = unpaidBar(totals, `${payouts.address}#/totals`)
  return html`<p class="lead">
      ${
        bar === null
          ? null
          : html`<a href="/payouts">${waitingHtml(summary, payouts)} ${token} of prizes still wait</a>.`
      }
      ${overpaid(payouts, token)}
    </p>
    ${bar}`
}

/** Sum of the waiting prizes. Unlike `prizesNotRedeemed`, overpayments do not reduce it. */
export function waitingHtml({ prizesNotRedeemed }: Summary, payouts: LinkedAnswer<Payouts> | null): Html {
  return payouts === null || isZero(payouts.answer.totals.overpaid)
    ? html`<span data-at="/prizesNotRedeemed">${amountHtml(prizesNotRedeemed)}</span>`
    : derived(waitingSum(payouts))
}

function overpaid({ answer, address }: LinkedAnswer<Payouts>, token: string): Html | null {
  const { overpaid: figure } = answer.totals
  if (isZero(figure)) return null
  return html`After a correction, ${derived(negated({ pointer: `${address}#/totals/overpaid`, figure }))}
  ${token} more was paid or has expired than was won.`
}

/** Cancellations that a summary counts, newest first; null if no contest has closed or been cancelled. */
export async function askCancellations(
  { asOf, contests }: Summary,
  view: View,
): Promise<LinkedAnswer<EventsPage> | null> {
  if (contests.paying + contests.paid === 0) return null
  const range = `order=desc&before=${asOf.seq + 1}&limit=${PAGE_ROWS_MAX}`
  return askEndpoint(view, 'events', { query: `type=contest&kind=cancelled&${range}` })
}

/** Sentence below the headline about cancelled contests among the closed ones; null for none. */
export function cancelledNote(
  { contests }: Summary,
  cancelled: LinkedAnswer<EventsPage> | null,
): Html | null {
  if (cancelled === null || cancelled.answer.events.length === 0) return null
  const { address, answer } = cancelled
  const count = answer.events.length
  // Not "of them": the headline may speak of a part of the closed contests.
  const some = answer.page.hasMore
    ? html`Some closed contests were cancelled`
    : contests.paying + contests.paid === 1
      ? html`It was cancelled`
      : html`${expressed(`count ${address}#/events`, String(count))} closed
        ${count === 1 ? 'contest was' : 'contests were'} cancelled`
  return html`<p class="quiet">
    ${some}: <a href="/about#closed">a cancelled contest gives its pool back</a>.
  </p>`
}

/**
 * Paid contest with the most prizes that a correction left unpaid; null if no such prize waits. Without running and
 * paying contests all waiting prizes are of paid contests, so nothing is requested.
 */
export async function askReopened(
  { running, paying, paid }: Summary['contests'],
  view: Pick<View, 'ask'>,
): Promise<LinkedAnswer<Contests> | null> {
  if (running + paying === 0 || paid === 0) return null
  const first = await askEndpoint(view, 'contests', { query: 'status=paid&sort=prizesNotRedeemed&limit=1' })
  return first.answer.contests.some((one) => isPositive(one.prizesNotRedeemed)) ? first : null
}
