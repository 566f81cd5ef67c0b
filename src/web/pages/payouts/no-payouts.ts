import type { Contest } from '../../../protocol/resources.ts'
import { isPositive } from '../../markup/amount-html.ts'
import { contestLink } from '../../markup/contest-name.ts'
import { jsonLinks } from '../../frame/linked-answers.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { momentOf } from '../../markup/moment-html.ts'
import type { View } from '../../frame/page.ts'

/** Text of a page without unpaid prizes, for all contests or by the state of one. */
export async function nothingOpen(view: View): Promise<Html> {
  const id = view.query.integer('contestId')
  if (id === undefined) {
    return html`${ALL_PAID}
      <p>
        See <a href="/contests?status=paid">the contests that are paid in full</a>, each with its payouts.
      </p>`
  }
  const asked = await view.ask('contest', { segments: { id: String(id) } })
  if (!asked.ok) {
    return html`<p class="lead">No contest has this number.</p>
      <p>See <a href="/contests">all contests</a>.</p>`
  }
  const contest: Contest = JSON.parse(asked.value.json)
  const { address } = asked.value
  return html`${meaningOf(contest, address)}
    <p data-at="${address}#/title ${address}#/id">
      See the ledger of ${contestLink(contest.id, contest.title)}, with every payout of it.
    </p>
    ${jsonLinks([['the contest', { address, answer: contest }]])}`
}

const ALL_PAID = html`<p class="lead"><b class="ok">✓ Everything that was won is paid.</b></p>`

function meaningOf({ status, opensAt, closesAt, prizesOwed }: Contest, address: string): Html {
  if (status === 'upcoming') {
    return html`<p class="lead" data-at="${address}#/opensAt">
      Nothing has been won yet: it is planned to open at ${momentOf(opensAt)}.
    </p>`
  }
  if (status === 'running') {
    return html`<p class="lead" data-at="${address}#/closesAt">
      Nothing has been won yet: prizes are won once it has closed, planned for ${momentOf(closesAt)}.
    </p>`
  }
  return isPositive(prizesOwed) ? ALL_PAID : html`<p class="lead">No prize was won in this contest.</p>`
}
