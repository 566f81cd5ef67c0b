import { ANSWER_TABLES } from '../../../serve/api/answer-tables.ts'
import type { ContestLedger } from '../../../protocol/endpoints/contest-endpoints.ts'
import { amountHtml, countHtml, isZero } from '../../markup/amount-html.ts'
import { facts } from '../../markup/book.ts'
import { contestName, quotedText } from '../../markup/contest-name.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import { type Html, html, type Part } from '../../markup/html.ts'
import { contestState, stateChip } from '../../markup/kind-words.ts'
import type { EndpointPage } from '../../frame/page.ts'
import { PAGE_ROWS_MAX } from '../../frame/page-rows.ts'
import { paidChart, paidPicture } from './contest-ledger-chart.ts'
import { paymentsOf } from './contest-payments.ts'
import { prizeTable } from './contest-prizes.ts'
import { paymentCheck, poolAccount } from './contest-sums.ts'
import { askTimeline, courseOf } from './contest-timeline.ts'
import { contestPreview, contestVerdict } from './contest-verdict.ts'
import { UNPAID_ASKED, whatWaits } from './contest-waits.ts'

/** `/contests/{id}/ledger`: whether the prizes of a contest are paid, what waits and why, and every payment. */
export const contestLedgerPage: EndpointPage<'contestLedger'> = {
  endpoint: 'contestLedger',
  rowsMax: PAGE_ROWS_MAX,
  asksMore: true,
  title: ({ contest }) => contestName(contest.id, contest.title),
  csv: ANSWER_TABLES.contestLedger,
  svg: paidPicture,
  preview: contestPreview,
  previewRowsMax: 1,
  heading: ({ contest: { id, title } }) =>
    html`<p class="crumb"><a href="/contests">Contests</a> / <span data-at="/contest/id">${id}</span></p>
      <h1 class="name">${title === null ? `Contest ${id}` : quotedText(title)}</h1>`,
  async render(ledger, view) {
    const { contest, payouts } = ledger
    const timeline = await askTimeline(contest, view)
    const isOpen =
      contest.status === 'paying' || ledger.prizes.some(({ notRedeemed }) => !isZero(notRedeemed))
    const unpaid = isOpen
      ? await askEndpoint(view, 'payouts', { query: `contestId=${contest.id}&limit=${UNPAID_ASKED}` })
      : null
    const paid = payouts.length > 0
    const isWon = ledger.prizes.length > 0
    return html`<div class="two contest">
        <section>
          ${contestVerdict({ ledger, unpaid, view })}
          ${unpaid === null ? null : whatWaits(unpaid, contest, view)} ${prizeTable(ledger, view)}
          ${isWon ? null : poolAccount(ledger, view)}
        </section>
        <aside aria-label="Facts">${factsOf(ledger)} ${courseOf({ ledger, timeline, unpaid }, view)}</aside>
      </div>
      ${
        paid
          ? html`<div class="two" id="payments">
              <section>${paymentsOf(ledger, view)}</section>
              <aside aria-label="Check of the sums">
                ${paidChart(ledger, view)} ${paymentCheck(ledger, view)}
              </aside>
            </div>`
          : null
      }
      ${isWon ? poolAccount(ledger, view) : null}
      ${jsonLinks([...(unpaid === null ? [] : [['what waits', unpaid] as const]), ['its course', timeline]])}`
  },
}

function factsOf({ contest, prizes }: ContestLedger): Html {
  const state = shown(
    `/contest/${contest.outcome === null ? 'status' : 'outcome'}`,
    stateChip(contestState(contest)),
  )
  const amount = (field: 'prizesOwed' | 'pool' | 'spentOnPlay'): Html =>
    shown(`/contest/${field}`, amountHtml(contest[field]))
  const won: readonly (readonly [Part, Part])[] =
    prizes.length === 0 ? [] : [['Prizes won', amount('prizesOwed')]]
  return facts([
    ['State', state],
    ...won,
    ['Pool', amount('pool')],
    ['Entries', shown('/contest/entries', countHtml(contest.entries))],
    ['Plays', shown('/contest/plays', countHtml(contest.plays))],
    ['Spent on play', amount('spentOnPlay')],
  ])
}

function shown(pointer: string, figure: Html): Html {
  return html`<span data-at="${pointer}">${figure}</span>`
}
