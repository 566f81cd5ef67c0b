import type { Contest, ContestLedger, Payouts } from '../../../protocol/endpoints/contest-endpoints.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { amountHtml, isPositive, isZero } from '../../markup/amount-html.ts'
import { contestLink } from '../../markup/contest-name.ts'
import { type Html, html } from '../../markup/html.ts'
import { clockMoment } from '../../markup/moment-html.ts'
import { mayYetPay } from '../contests/contest-verdict.ts'

/** The contest of the query; null without one, or if none has the number. */
export async function askContest(view: View): Promise<LinkedAnswer<Contest> | null> {
  const id = view.query.integer('contestId')
  if (id === undefined) return null
  const asked = await view.ask('contest', { segments: { id: String(id) } })
  return asked.ok ? asked.value : null
}

/** Top of a page without unpaid prizes, for all contests or by the state of one. */
export async function nothingHeading({ asOf }: Payouts, view: View): Promise<Html> {
  if (!view.query.has('contestId')) {
    const lead =
      asOf.seq === 0 ? 'The log is still empty.' : 'Every prize won so far is paid, or has expired.'
    return html`<h1>No prize is unpaid</h1>
      <p class="lead">${lead}</p>`
  }
  const contest = await askContest(view)
  return contest === null ? html`<h1>No contest has this number</h1>` : headingOf(contest, view)
}

async function headingOf({ address, answer }: LinkedAnswer<Contest>, view: View): Promise<Html> {
  const { id, title, status, opensAt, closesAt, prizesOwed, prizesExpired } = answer
  const named = html`<p data-at="${address}#/title ${address}#/id">
    Unpaid prizes of ${contestLink(id, title)}
  </p>`
  if (status === 'upcoming') {
    return html`${named}
      <h1>No prize has been won yet</h1>
      <p class="lead" data-at="${address}#/opensAt">
        The contest is planned to open ${clockMoment(opensAt, view)}.
      </p>`
  }
  if (status === 'running') {
    return html`${named}
      <h1>No prize has been won yet</h1>
      <p class="lead" data-at="${address}#/closesAt">
        Prizes are won when the contest closes. That is planned for ${clockMoment(closesAt, view)}.
      </p>`
  }
  if (!isPositive(prizesOwed)) {
    const ledger = await askToPay(answer, view)
    return ledger === null
      ? html`${named}
          <h1>No prize was won in this contest</h1>`
      : html`${named}
          <h1>No prize is won yet</h1>
          <p class="lead">
            The contest has closed, and its prizes are still to be published.
            <span data-at="${ledger.address}#/pool/balance">${amountHtml(ledger.answer.pool.balance)}</span>
            ${view.site.token} are in its pool.
          </p>
          ${jsonLinks([['its ledger', ledger]])}`
  }
  return html`${named}
    <h1>No prize of this contest is unpaid</h1>
    <p class="lead">Everything that was won is paid${isZero(prizesExpired) ? '' : ', or has expired'}.</p>`
}

/** Ledger of a closed contest without prizes that may still publish some; null if it will not. */
async function askToPay(contest: Contest, view: View): Promise<LinkedAnswer<ContestLedger> | null> {
  if (contest.status !== 'paying' || contest.outcome !== null) return null
  const segments = { id: String(contest.id) }
  const ledger = await askEndpoint(view, 'contestLedger', { segments, query: 'limit=1' })
  return mayYetPay(ledger.answer) ? ledger : null
}

/** Further way from a page without unpaid prizes. */
export async function nothingOpen(view: View): Promise<Html> {
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
