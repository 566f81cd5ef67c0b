import type { LoyaltyFile, LoyaltyRun, LoyaltyRuns } from '../../../protocol/endpoints/contest-endpoints.ts'
import {
  amountHtml,
  amountOrNone,
  countHtml,
  eventLink,
  isPositive,
  isZero,
} from '../../markup/amount-html.ts'
import { sectionHead } from '../../markup/book.ts'
import { percentOf } from '../../charts/share.ts'
import { type Html, html } from '../../markup/html.ts'
import { monthName, rewardChart, rewardPicture } from './loyalty-chart.ts'
import { clockMoment, momentOf, untilMoment } from '../../markup/moment-html.ts'
import { plainText } from '../../markup/page-lead.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { ANSWER_TABLES } from '../../../serve/api/answer-tables.ts'
import { copyButton } from '../../frame/view-bar.ts'

/** `/loyalty/runs`: each month's reward, with the digests of its files. */
export const loyaltyPage: EndpointPage<'loyaltyRuns'> = {
  endpoint: 'loyaltyRuns',
  title: () => 'Loyalty reward',
  description: (answer, view) => plainText(headlineOf(answer, view)),
  csv: ANSWER_TABLES.loyaltyRuns,
  svg: rewardPicture,
  heading: (answer, view) => html`<h1>${headlineOf(answer, view)}</h1>`,
  render: (answer, view) =>
    answer.runs.length === 0
      ? EMPTY
      : html`${plannedOf(answer, view)} ${INTRODUCTION} ${rewardChart(answer, view)}
        ${runTable(answer.runs, view)} ${answer.runs.map(filesOf)}`,
}

const EMPTY = html`<p>
  <a href="/schedule">See what is planned</a>, or <a href="/funds">what the loyalty fund holds</a>.
</p>`

const INTRODUCTION = html`<p>
  Each month’s reward is paid from the loyalty fund. The digest of the input is published before the output
  exists, so that neither can be changed afterwards.
</p>`

/** The newest computed reward, and how much of it is paid. */
function headlineOf({ runs }: LoyaltyRuns, { site }: View): Html {
  const given = runs.findIndex(({ total }) => total !== null && isPositive(total))
  const index = given === -1 ? runs.findIndex(({ total }) => total !== null) : given
  const { month = '', total = null, paid = '0', notPaid = null, recipients = null } = runs[index] ?? {}
  if (total === null) return runs.length === 0 ? NONE_YET : html`The first loyalty reward is being prepared.`
  const run = `/runs/${index}`
  const reward = html`The loyalty reward of ${monthName(month, `${run}/month`)}`
  if (given === -1) return html`${reward} is zero.`
  const to =
    recipients === null
      ? null
      : html` for <span data-at="${run}/recipients">${countHtml(recipients)}</span> players`
  const amount = html`<span data-at="${run}/total">${amountHtml(total)}</span> ${site.token}${to}`
  if (notPaid !== null && isZero(notPaid)) return html`${reward} is paid: ${amount}.`
  const share = percentOf(
    { pointer: `${run}/paid`, figure: paid },
    { pointer: `${run}/total`, figure: total },
  )
  return isZero(paid)
    ? html`${reward} is computed and not yet paid: ${amount}.`
    : html`${share} of the loyalty reward of ${monthName(month, `${run}/month`)} is paid.`
}

const NONE_YET = html`No loyalty reward has been announced yet.`

/** Planned moment of the next reward; null if none is planned. */
function plannedOf({ runs }: LoyaltyRuns, view: View): Html | null {
  const index = runs.findLastIndex(({ total, paysAt }) => total === null && paysAt !== null)
  const { month = '', paysAt = null, paysAtMs } = runs[index] ?? {}
  if (paysAt === null) return null
  const until = untilMoment(paysAt, view)
  const verb = (paysAtMs ?? 0) <= view.now ? 'was' : 'is'
  return html`<p class="lead">
    The reward of ${monthName(month, `/runs/${index}/month`)} ${verb} planned for
    <span data-at="/runs/${index}/paysAt">${clockMoment(paysAt, view)}</span
    >${until === null ? null : html`, <span data-at="/runs/${index}/paysAt">${until}</span>`}.
  </p>`
}

function runTable(runs: readonly LoyaltyRun[], view: View): Html {
  return html`<section>
    ${sectionHead('Month by month', html`<span>${view.site.token}, newest first</span>`)}
    <div class="wide" role="region" aria-label="Loyalty rewards by month" tabindex="0">
      <table class="cards pairs" data-list="/runs">
        <thead>
          <tr>
            <th scope="col">Month</th>
            <th scope="col" data-field="paysAt">Planned for</th>
            <th scope="col" class="r" data-field="total">Reward</th>
            <th scope="col" class="r" data-field="paid">Paid</th>
            <th scope="col" class="r" data-field="notPaid">Not paid</th>
            <th scope="col" class="r" data-field="recipients">Recipients</th>
            <th scope="col" class="r" data-field="payouts">Payments</th>
          </tr>
        </thead>
        <tbody>
          ${runs.map((run, index) => rowOf(run, index, view))}
        </tbody>
      </table>
    </div>
  </section>`
}

function rowOf(
  { month, paysAt, total, paid, notPaid, recipients, payouts }: LoyaltyRun,
  index: number,
  view: View,
): Html {
  return html`<tr>
    <th scope="row" class="all"><a href="#${month}">${monthName(month, `/runs/${index}/month`)}</a></th>
    <td class="all" data-label="Planned for">
      ${paysAt === null ? html`<span class="none">not announced</span>` : clockMoment(paysAt, view)}
    </td>
    <td class="r" data-label="Reward">${amountOrNone(total, 'not computed yet')}</td>
    <td class="r" data-label="Paid">${amountHtml(paid)}</td>
    <td class="r" data-label="Not paid">${amountOrNone(notPaid, 'not computed yet')}</td>
    <td class="r" data-label="Recipients">
      ${recipients === null ? html`<span class="none">not known</span>` : countHtml(recipients)}
    </td>
    <td class="r" data-label="Payments">${countHtml(payouts)}</td>
  </tr>`
}

/** Input and output files of a month, and how to check them. */
function filesOf({ month, input, output }: LoyaltyRun, index: number): Html {
  const run = `/runs/${index}`
  return html`<section>
    <h2 id="${month}">Files of ${monthName(month, `${run}/month`)}</h2>
    <dl class="fields">
      ${fileOf('Input', input, 'Its digest is not published yet.', `${run}/input`)}
      ${fileOf('Output', output, 'It does not exist yet.', `${run}/output`)}
    </dl>
  </section>`
}

const DIGEST = /^sha256:([0-9a-f]{64})$/

function fileOf(name: string, file: LoyaltyFile | null, none: string, pointer: string): Html {
  if (file === null) {
    return html`<dt>${name}</dt>
      <dd><span class="none">${none}</span></dd>`
  }
  const { seq, digest, bytes, url, at } = file
  const [, hex = ''] = DIGEST.exec(digest) ?? []
  const check = `echo '${hex}  ${name.toLowerCase()}' | sha256sum --check`
  const shown = ['digest', 'at', 'seq', 'bytes'].map((field) => `${pointer}/${field}`)
  return html`<dt>${name}</dt>
    <dd data-at="${shown.join(' ')}">
      <code class="id">${digest}</code> ${copyButton('Copy', { text: digest })}<br />
      Published ${momentOf(at)} by event
      ${eventLink(seq)}${bytes === null ? null : html`, ${countHtml(bytes)} bytes`}.
      ${url === null ? null : html`<a rel="noreferrer" href="${url}">The file</a>.`}
      <details>
        <summary>Check it</summary>
        <p>Save the file under the name in this command, then run it:</p>
        <pre
          tabindex="0"
          role="region"
          aria-label="How to check the file ${hex.slice(0, 8)}"
          data-at="${pointer}"
        ><code>${check}</code></pre>
      </details>
    </dd>`
}
