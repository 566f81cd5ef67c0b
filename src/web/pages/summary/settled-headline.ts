import type { Contests, Payouts } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { Summary, Waits } from '../../../protocol/endpoints/figure-endpoints.ts'
import { askEndpoint } from '../../frame/linked-answers.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { amountHtml, countHtml, isPositive, isZero } from '../../markup/amount-html.ts'
import { derived, derivedSum, negated, waitingSum } from '../../markup/derived.ts'
import { type Html, html } from '../../markup/html.ts'
import { dayOf } from '../../markup/moment-html.ts'
import { listed } from '../../markup/prose.ts'
import { unpaidBar } from '../payouts/unpaid-bar.ts'
import { type UsualWaits, within } from '../payouts/wait-words.ts'
import type { Site } from '../../markup/site.ts'

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

const CANCELLED = html`<a href="/about#closed">cancelled</a>`

/** Results of closed contests other than paid in full, in words for one and for several. */
const RESULTS = [
  ['expired', html`was settled after prizes expired`, html`were settled after prizes expired`],
  ['cancelled', html`was ${CANCELLED}`, html`were ${CANCELLED}`],
  ['waiting', html`still waits`, html`still wait`],
] as const

/**
 * Sentence below the headline: what became of the closed contests of the last 90 days. Its counts add up to all of them.
 * Null if none closed.
 */
export function closedSentence({ contests }: Summary, { answer, address }: UsualWaits): Html | null {
  const { contests: results, all, from } = answer
  const closed = derivedSum([
    { pointer: '/contests/paid', figure: contests.paid },
    { pointer: '/contests/paying', figure: contests.paying },
  ])
  if (results.closed === 0 || closed === null) return null
  const at = (pointer: string, shown: Html): Html =>
    html`<span data-at="${address}#${pointer}">${shown}</span>`
  const isOnly = results.closed === 1
  const counted = (name: keyof Waits['contests'], words: Html): Html =>
    isOnly ? words : html`${at(`/contests/${name}`, countHtml(results[name]))} ${words}`
  const parts = RESULTS.filter(([name]) => results[name] > 0).map(([name, one, several]) =>
    counted(name, results[name] === 1 ? one : several),
  )
  if (all.p50Ms !== null) {
    const soon = within(`${address}#/all/p50Ms`, all.p50Ms)
    const paid =
      all.paid === 1
        ? html`was paid in full within ${soon}`
        : html`were paid in full (half of them within ${soon})`
    parts.unshift(counted('paid', paid))
  }
  const since = html`closed since ${at('/from', dayOf(from))}`
  const total = contests.paid + contests.paying
  const whole = html`Of all ${derived(closed)} closed contests,`
  const subject = isOnly
    ? html`${total === 1 ? 'It' : html`The only contest that ${since}`}`
    : total === results.closed
      ? whole
      : html`${whole} ${at('/contests/closed', countHtml(results.closed))} ${since}:`
  return html`<p>${subject} ${listed(parts)}. <a href="/waits">How long it takes</a></p>`
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
