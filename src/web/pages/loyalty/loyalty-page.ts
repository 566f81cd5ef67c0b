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
import { type Html, html } from '../../markup/html.ts'
import { clockMoment, momentOf, monthWords, untilMoment } from '../../markup/moment-html.ts'
import { plainText } from '../../markup/page-lead.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { answerTable } from '../../../serve/api/answer-tables.ts'
import { copyButton } from '../../frame/view-bar.ts'
import { derived, derivedSum, expressed, percentOf } from '../../markup/derived.ts'
import { chartPicture } from '../../charts/chart-picture.ts'
import { digitsOf } from '../../markup/chart-scale.ts'
import { monthMark } from '../../charts/chart-time.ts'
import { barChart, barPlot, type Bars } from '../../charts/chart-line.ts'

/** `/loyalty/runs`: each month's reward, with the digests of its files. */
export const loyaltyPage: EndpointPage<'loyaltyRuns'> = {
  endpoint: 'loyaltyRuns',
  island: 'chart',
  title: () => 'Loyalty reward',
  description: (answer, view) => plainText(headlineOf(answer, view)),
  csv: (answer) => answerTable('loyaltyRuns', answer),
  svg: rewardPicture,
  heading: (answer, view) => html`<h1>${headlineOf(answer, view)}</h1>`,
  render: (answer, view) =>
    answer.runs.length === 0
      ? EMPTY
      : html`${plannedOf(answer, view)} ${INTRODUCTION} ${rewardChart(answer, view)}
        ${runTable(answer.runs, view)} ${answer.runs.map(filesOf)}`,
}

/** Newest computed reward, and the paid part of it. */
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

/** Chart of the reward of each month; null for a single month. */
function rewardChart({ runs }: LoyaltyRuns, { site }: View): Html | null {
  const computed = computedIn(runs)
  const all = derivedSum(
    computed.map(({ total, pointer }) => ({ pointer: `${pointer}/total`, figure: total })),
  )
  const [first] = computed
  if (all === null || first === undefined || computed.length < 2) return null
  const most = computed.reduce(
    (greatest, one) => (digitsOf(one.total) > digitsOf(greatest.total) ? one : greatest),
    first,
  )
  const sentence = html`${derived(all)} ${site.token} in all these months, the most for
  ${monthName(most.run.month, `${most.pointer}/month`)}.`
  return barChart(barsOf(computed, site.token), sentence)
}

function barsOf(computed: readonly ComputedRun[], token: string): Bars {
  return {
    id: 'rewards',
    title: `Loyalty reward of each month, ${token}`,
    description:
      computed.length === 0
        ? 'No reward is computed yet.'
        : computed.map(({ run, total }) => `${run.month}: ${total} ${token}.`).join(' '),
    bars: computed.map(({ run: { month }, total }) => ({
      label: monthMark(month),
      name: monthWords(month),
      figure: total,
    })),
  }
}

/** Months with a computed reward, the earliest first. */
function computedIn(runs: readonly LoyaltyRun[]): readonly ComputedRun[] {
  return runs
    .flatMap((run, index) =>
      run.total === null ? [] : [{ run, total: run.total, pointer: `/runs/${index}` }],
    )
    .toSorted((a, b) => (a.run.month < b.run.month ? -1 : 1))
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

/** Name of a month with the pointer of its source: `October 2026`. */
function monthName(month: string, pointer: string): Html {
  return expressed(`monthname ${pointer}`, monthWords(month))
}

/** The chart as a picture, empty while no reward is computed. */
function rewardPicture({ runs, asOf }: LoyaltyRuns, view: View): Html {
  const computed = computedIn(runs)
  const bars = barsOf(computed, view.site.token)
  const months = [computed.at(0), computed.at(-1)].flatMap((one) =>
    one === undefined ? [] : [one.run.month],
  )
  const range = months.length === 0 ? 'no month yet' : months.join(' to ')
  return chartPicture({ title: bars.title, asOf, range }, [barPlot({ ...bars, size: 'tall' })], view)
}

const EMPTY = html`<p>
  <a href="/schedule">See what is planned</a>, or <a href="/funds">what the loyalty fund holds</a>.
</p>`

const INTRODUCTION = html`<p>
  Each month’s reward is paid from the loyalty fund. The digest of the input is published before the output
  exists, so that neither can be changed afterwards.
</p>`

const NONE_YET = html`No loyalty reward has been announced yet.`

const DIGEST = /^sha256:([0-9a-f]{64})$/

type ComputedRun = Readonly<{ run: LoyaltyRun; total: string; pointer: string }>
