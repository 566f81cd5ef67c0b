import type {
  ContestLedger,
  ContestWire,
  Payouts,
  Unpaid,
  UnpaidStatus,
} from '../../../protocol/resources.ts'
import { amountHtml, isPositive } from '../../markup/amount-html.ts'
import { ANSWER_TABLES } from '../../../serve/api/answer-tables.ts'
import { askTimeline, isCancelled, timelineList } from './contest-timeline.ts'
import { paidChart, paidPicture } from './contest-ledger-chart.ts'
import { payoutsOf, poolTable, prizeTable } from './contest-ledger-tables.ts'
import { contestName, redeemedMeter } from '../../markup/contest-name.ts'
import type { Derived } from '../../markup/derived.ts'
import { derived, derivedSum, sumOfAll } from '../../markup/derived.ts'
import type { LinkedAnswer } from '../../frame/linked-answers.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import { contestPreview } from './contest-preview.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { stateChip } from '../../markup/kind-words.ts'
import { momentOf } from '../../markup/moment-html.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { payoutsSubscription } from '../payouts/payouts-calendar.ts'
import { PAGE_ROWS_MAX } from '../../frame/page-rows.ts'
import { percentOf } from '../../charts/share.ts'
import { unpaidTable } from '../payouts/unpaid-table.ts'

/** Unpaid prizes on the page. `/payouts` has all of them. */
const UNPAID_SHOWN = 200

/** `/contests/{id}/ledger`: the prizes, payouts and pool of a contest. */
export const contestLedgerPage: EndpointPage<'contestLedger'> = {
  endpoint: 'contestLedger',
  rowsMax: PAGE_ROWS_MAX,
  asksMore: true,
  title: ({ contest }) => contestName(contest.id, contest.title),
  csv: ANSWER_TABLES.contestLedger,
  svg: paidPicture,
  preview: contestPreview,
  previewRowsMax: 1,
  embedded: ({ contest: { id, title } }) => [
    {
      is: 'picture',
      name: 'What is paid, as a picture of one line',
      path: `/contests/${id}.svg`,
      title: `What is paid of ${contestName(id, title)}`,
      leadsTo: `/contests/${id}/ledger`,
    },
  ],
  async render(ledger, view) {
    const { contest } = ledger
    const timeline = await askTimeline(contest, view)
    const unpaid =
      contest.status === 'paying'
        ? await askEndpoint(view, 'payouts', { query: `contestId=${contest.id}&limit=${UNPAID_SHOWN}` })
        : null
    const won = ledger.prizes.length > 0
    return html`${isCancelled(timeline) ? cancellationOf(ledger, view) : verdictOf(ledger, unpaid, view)}
    ${won ? prizeTable(ledger, view) : null} ${unpaid === null ? null : openPrizes(unpaid, contest, view)}
    ${paidChart(ledger, view)} ${payoutsOf(ledger, view)} ${poolTable(ledger, view)}
    ${timelineList(timeline, contest, view)}`
  },
}

/** Payment status in one sentence. */
function verdictOf(
  { contest, prizes, pool }: ContestLedger,
  unpaid: LinkedAnswer<Payouts> | null,
  { site }: View,
): Html {
  const { status, prizesOwed, prizesRedeemed, prizesNotRedeemed } = contest
  const pill = stateChip(status)
  if (status === 'upcoming') {
    return html`<p class="lead" data-at="/contest/status /contest/opensAt">
      ${pill} Planned to open at ${momentOf(contest.opensAt)}: nothing is won yet.
    </p>`
  }
  if (status === 'running') {
    return html`<p class="lead" data-at="/contest/status /contest/closesAt /contest/pool">
      ${pill} Open until ${momentOf(contest.closesAt)}: prizes are won once it has closed.
      ${amountHtml(contest.pool)} ${site.token} are in the pool.
    </p>`
  }
  if (prizes.length === 0) {
    const refunded = pool.out['refund']
    return html`<p class="lead" data-at="/contest/status${refunded === undefined ? '' : ' /pool/out/refund'}">
      ${pill} No prize was won in this contest.
      ${refunded === undefined ? null : html`${amountHtml(refunded)} ${site.token} were given back to players.`}
    </p>`
  }
  const share = percentOf(
    { figure: prizesRedeemed, pointer: '/contest/prizesRedeemed' },
    { figure: prizesOwed, pointer: '/contest/prizesOwed' },
  )
  const lapsed = sumOfAll(
    '/prizes/*/expired',
    prizes.map(({ expired }) => expired),
  )
  const open = isPositive(prizesNotRedeemed)
  const fields = ['status', 'prizesRedeemed', 'prizesOwed', ...(open ? ['prizesNotRedeemed'] : [])]
  return html`<p class="lead" data-at="${fields.map((field) => `/contest/${field}`).join(' ')}">
      ${pill} ${amountHtml(prizesRedeemed)} of ${amountHtml(prizesOwed)} ${site.token} are
      paid${lapsed === null || !isPositive(lapsed.figure) ? null : html`, ${derived(lapsed)} ${site.token} have lapsed`}${open ? html`, ${amountHtml(prizesNotRedeemed)} ${site.token} are still open` : null}.
      ${open ? lastAvailable(unpaid, site.token) : html`<b class="ok">Nothing is left to pay.</b>`}
    </p>
    ${share === null ? null : html`<p>${redeemedMeter(prizesRedeemed, prizesOwed)} ${share} of what was won is paid.</p>`}`
}

/** Status of a cancelled contest: refunded stakes, and what is still in the pool. */
function cancellationOf({ contest, pool }: ContestLedger, { site }: View): Html {
  const refunded = pool.out['refund']
  const open = isPositive(pool.balance)
  const fields = [
    '/contest/status',
    ...(refunded === undefined ? [] : ['/pool/out/refund']),
    ...(open ? ['/pool/balance'] : []),
  ]
  return html`<p class="lead" data-at="${fields.join(' ')}">
    ${stateChip(contest.status)} <b>Cancelled: stakes are given back.</b>
    ${refunded === undefined ? null : html`${amountHtml(refunded)} ${site.token} went back to players.`}
    ${open ? html`${amountHtml(pool.balance)} ${site.token} are still in the pool.` : null}
  </p>`
}

/** Date of the last unpaid prize, or totals by state if not all prizes were read. */
function lastAvailable(payouts: LinkedAnswer<Payouts> | null, token: string): Html | null {
  const { unpaid = [], now, next } = payouts?.answer ?? {}
  if (payouts !== null && next !== null) return howMuchWaits(payouts, token)
  const last = unpaid.reduce<Unpaid | null>(
    (latest, one) => (latest === null || one.availableAtMs > latest.availableAtMs ? one : latest),
    null,
  )
  if (payouts === null || last === null || now === undefined) return null
  const pointer = `${payouts.address}#/unpaid/${unpaid.indexOf(last)}/availableAt`
  const since =
    last.availableAtMs > now.atMs
      ? 'The last of it becomes available at'
      : 'All that is open has been available since'
  return html`${since} <span data-at="${pointer}">${momentOf(last.availableAt)}</span>.`
}

/** Unpaid prizes that wait for a date, and those that do not, by the totals of all. */
function howMuchWaits({ answer: { totals }, address }: LinkedAnswer<Payouts>, token: string): Html {
  const of = (...states: readonly UnpaidStatus[]): Derived | null =>
    derivedSum(states.map((state) => ({ pointer: `${address}#/totals/${state}`, figure: totals[state] })))
  const [waits, free] = [of('locked', 'in_review'), of('awaiting_claim', 'payable')]
  if (waits === null || free === null) return html``
  if (!isPositive(waits.figure)) return html`All of it can be paid or claimed now.`
  const rest = isPositive(free.figure) ? html`, ${derived(free)} ${token} can be paid or claimed now` : null
  return html`${derived(waits)} ${token} of it wait for a date${rest}.`
}

function openPrizes(unpaid: LinkedAnswer<Payouts>, { id }: ContestWire, view: View): Html | null {
  const { unpaid: rows, totals, next } = unpaid.answer
  if (rows.length === 0) return null
  return html`<h2>Still open</h2>
    ${unpaidTable(
      rows.map((one, index) => ({ unpaid: one, index })),
      view,
      {
        name: 'Prizes of this contest not yet paid',
        titles: null,
        list: `${unpaid.address}#/unpaid`,
        most: UNPAID_SHOWN,
      },
    )}
    ${next === null ? null : html`<p class="quiet">Only the first are shown here: <a href="/payouts?contestId=${id}">all that is open</a>, or <a href="/payouts.csv?contestId=${id}">as CSV</a>.</p>`}
    ${isPositive(totals.locked) || isPositive(totals.in_review) ? payoutsSubscription(id, view) : null}
    <p><a href="/payouts?contestId=${id}">What these states mean</a></p>
    ${jsonLinks([['what is open', unpaid]])}`
}
