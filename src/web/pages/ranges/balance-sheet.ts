import type { Flows, Summary } from '../../../protocol/endpoints/figure-endpoints.ts'
import { boundOf, formatAt } from '../../../protocol/moment.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { amountHtml, eventLink, exactAmount, isZero } from '../../markup/amount-html.ts'
import { sectionHead } from '../../markup/book.ts'
import { derivedSum } from '../../markup/derived.ts'
import { type Html, html, type Part } from '../../markup/html.ts'
import { momentOf } from '../../markup/moment-html.ts'
import { type AccountSide, EQUAL_SUMS, tAccount } from '../../markup/t-account.ts'
import { FLOW_NAMES } from './flows-chart.ts'
import { rangeHtml, rangeName } from './range-words.ts'

const NAMES = {
  ...FLOW_NAMES,
  treasury: 'Held in the treasury',
  runningPools: 'Held in running pools',
  prizesNotRedeemed: 'Held for prizes not yet paid',
  loyaltyFund: 'Held for the loyalty reward',
}

type SheetFigure = keyof typeof NAMES

const CAME_IN: readonly SheetFigure[] = ['spentOnPlay', 'sponsored', 'deposited']
const WENT_OUT: readonly SheetFigure[] = ['paidInPrizes', 'paidInLoyalty', 'refunded', 'burned', 'withdrawn']
const HELD: readonly SheetFigure[] = ['treasury', 'runningPools', 'prizesNotRedeemed', 'loyaltyFund']

/**
 * Balance sheet since the launch, as of the end of a range or now. All that came in is on the left, all that went out or
 * is held on the right, by one summary. Null on an empty log.
 */
export async function balanceSheet(flows: Flows, view: View): Promise<Html | null> {
  if (flows.launchedAt === null) return null
  const summary = await askSummary(flows, view)
  if (summary.answer.asOf.seq === 0) return null
  const { address, answer } = summary
  const rowsOf = (keys: readonly SheetFigure[]): AccountSide['rows'] =>
    keys.map((key) => ({ name: NAMES[key], pointer: `${address}#/${key}`, figure: answer[key] }))
  const side = (
    heading: string,
    total: string,
    rows: readonly SheetFigure[],
    rest: readonly SheetFigure[],
  ) => ({
    heading,
    rows: rowsOf(rows),
    rest: rowsOf(rest),
    sum: { name: total, of: derivedSum(rowsOf([...rows, ...rest])) ?? NOTHING },
  })
  const left = side('In', 'All that came in', CAME_IN, [])
  const right = side('Out, and held', 'All that went out or is held', WENT_OUT, HELD)
  return html`<section id="balance">
    ${sectionHead('Do the books balance?', html`<span>${view.site.token}, exact, since launch</span>`)}
    ${tAccount([left, right], html`<p>${EQUAL_SUMS}</p>`)}
    <p>${unclaimed(flows, summary, view)}</p>
    <p class="source">
      Since <span data-at="/launchedAt">${momentOf(flows.launchedAt)}</span>, up to event
      <span data-at="${address}#/asOf/seq">${eventLink(answer.asOf.seq)}</span>. The funds have
      <a href="/funds">what is held, over time</a>.
    </p>
    ${jsonLinks([['the balance sheet', summary]])}
  </section>`
}

const NOTHING = { expression: '', figure: '0' }

/** The summary at the end of a range; the present one if the range has not ended. */
function askSummary({ toMs, asOf }: Flows, view: View): Promise<LinkedAnswer<Summary>> {
  const isOver = toMs <= Math.max(view.now, asOf.atMs ?? 0)
  return askEndpoint(view, 'summary', isOver ? { query: `at=${formatAt(boundOf(toMs - 1))}` } : {})
}

/** Prizes that came back to the treasury. They move inside the platform, so the account does not have them. */
function unclaimed(flows: Flows, { address, answer }: LinkedAnswer<Summary>, { site }: View): Part {
  const { expired } = answer
  if (isZero(expired)) return 'No prize has gone back to the treasury because it was never claimed.'
  const all = html`<b data-at="${address}#/expired">${exactAmount(expired)}</b> ${site.token}`
  const some =
    flows.totals.expired !== expired
      ? html`, <span data-at="/totals/expired">${amountHtml(flows.totals.expired)}</span> of them
          ${rangeName(flows).before} ${rangeHtml(flows)}`
      : null
  return html`Prizes of ${all} were never claimed and went back to the treasury${some}. That moves money
    inside the platform, so neither side has it. <a href="/events?type=expiry">See each time</a>.`
}
