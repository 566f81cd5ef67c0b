import { nounOf } from '../../../protocol/amount.ts'
import type { EventsPage } from '../../../protocol/endpoints/event-endpoints.ts'
import type { Payouts } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { Summary } from '../../../protocol/endpoints/figure-endpoints.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { amountHtml, headlineAmount, isPositive, isZero, priceHtml } from '../../markup/amount-html.ts'
import { facts, figures } from '../../markup/book.ts'
import { derived, derivedSum, minus, type Term } from '../../markup/derived.ts'
import { type Html, html } from '../../markup/html.ts'
import { waitsForDate } from '../../markup/kind-words.ts'
import { nearMoment, untilMoment } from '../../markup/moment-html.ts'
import { waitingSum } from '../../markup/waiting-sum.ts'
import { waitingHtml } from './today-top.ts'

type Asked = Readonly<{
  payouts: LinkedAnswer<Payouts>
  payments: LinkedAnswer<EventsPage>
  dayBefore: LinkedAnswer<Summary>
}>

type FigureKey = 'paidInPrizes' | 'runningPools' | 'spentOnPlay' | 'plays' | 'entries'

/** The figures of the day. Those of the last day are differences of two summaries. */
export function fourFigures(summary: Summary, { payouts, payments, dayBefore }: Asked, view: View): Html {
  const { token } = view.site
  const now = (key: FigureKey): Term => ({ pointer: `/${key}`, figure: summary[key] })
  const then = (key: FigureKey): Term => ({
    pointer: `${dayBefore.address}#/${key}`,
    figure: dayBefore.answer[key],
  })
  const inADay = (key: FigureKey): Html => derived(minus(now(key), then(key)))
  const hasOnlyOverpaid = !isPositive(waitingSum(payouts).figure) && !isZero(payouts.answer.totals.overpaid)
  const playsInADay = summary.plays - dayBefore.answer.plays
  return figures([
    {
      label: 'Paid in the last day',
      figure: inADay('paidInPrizes'),
      note: html`${token} of prizes${newestPayment(payments, view)}`,
    },
    {
      label: 'Unpaid now',
      figure: hasOnlyOverpaid
        ? html`<span data-at="/prizesNotRedeemed">${amountHtml(summary.prizesNotRedeemed)}</span>`
        : waitingHtml(summary, payouts),
      note: hasOnlyOverpaid ? 'More was paid or has expired than was won' : unpaidNote(payouts, view),
    },
    {
      label: 'In running pools',
      figure: html`<span data-at="/runningPools">${amountHtml(summary.runningPools)}</span>`,
      note: changeNote(now('runningPools'), then('runningPools')),
    },
    {
      label: 'Spent in the last day',
      figure: inADay('spentOnPlay'),
      note: html`${token} in ${inADay('plays')} ${nounOf(playsInADay, 'play')}, ${inADay('entries')} of them
      entries`,
    },
  ])
}

function newestPayment({ answer, address }: LinkedAnswer<EventsPage>, view: View): Html | null {
  const [newest] = answer.events
  if (newest === undefined) return null
  return html`, the newest payment
    <span data-at="${address}#/events/0/at">${untilMoment(newest.at, view)}</span>`
}

function unpaidNote(payouts: LinkedAnswer<Payouts>, view: View): Html {
  const { answer, address } = payouts
  const ready = derivedSum(
    (['payable', 'awaiting_claim'] as const).map((status) => ({
      pointer: `${address}#/totals/${status}`,
      figure: answer.totals[status],
    })),
  )
  const now =
    ready === null || isZero(ready.figure)
      ? html`Nothing can be paid now`
      : html`${derived(ready)} can be paid now`
  return html`<a href="/payouts">${now}</a>${moreFrom(payouts, view)}`
}

/** Moment from which the next part can be paid that cannot be paid now; null if it is not among the rows that the page reads. */
function moreFrom({ answer, address }: LinkedAnswer<Payouts>, view: View): Html | null {
  const waiting = answer.unpaid.map((one, index) => ({ ...one, index })).filter(waitsForDate)
  const [first, ...others] = waiting
  if (first === undefined || answer.next !== null) return null
  const soonest = others.reduce((a, b) => (b.availableAtMs < a.availableAtMs ? b : a), first)
  return html`, more from
    <span data-at="${address}#/unpaid/${soonest.index}/availableAt"
      >${nearMoment(soonest.availableAt, view)}</span
    >`
}

function changeNote(now: Term, then: Term): Html {
  const change = minus(now, then)
  if (isZero(change.figure)) return html`the same as a day ago`
  return isPositive(change.figure)
    ? html`${derived(change)} more than a day ago`
    : html`${derived(minus(then, now))} less than a day ago`
}

/** Totals since launch, and the balances of today. */
export function totalsAside(summary: Summary, { site }: View): Html {
  const fact = (
    name: string,
    key:
      | Exclude<FigureKey, 'plays' | 'entries'>
      | 'paidInLoyalty'
      | 'burned'
      | 'treasury'
      | 'loyaltyFund'
      | 'prizesNotRedeemed',
  ) => [name, html`<span data-at="/${key}">${headlineAmount(summary[key])}</span>`] as const
  const { tokenPriceUsd } = summary
  return html`<aside aria-label="Totals">
    <h2>Since launch</h2>
    ${facts([
      fact('Spent on play', 'spentOnPlay'),
      fact('Paid in prizes', 'paidInPrizes'),
      fact('Loyalty reward', 'paidInLoyalty'),
      fact('Burned', 'burned'),
    ])}
    <h2>Held today</h2>
    ${facts([
      fact('Treasury', 'treasury'),
      fact('Running pools', 'runningPools'),
      fact('Loyalty fund', 'loyaltyFund'),
      fact('Prizes not yet paid', 'prizesNotRedeemed'),
    ])}
    <p class="quiet">
      All in ${site.token}.
      ${
        tokenPriceUsd === null
          ? null
          : html`<span data-at="/tokenPriceUsd"
              >One ${site.token} is ${priceHtml(tokenPriceUsd)} US dollars.</span
            >`
      }
      <a href="/summary">All figures, at any moment</a>
    </p>
  </aside>`
}
