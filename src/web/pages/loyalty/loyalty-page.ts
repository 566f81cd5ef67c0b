import type { LoyaltyFile, LoyaltyRun } from '../../../protocol/resources.ts'
import { amountHtml, amountOrNone, countHtml, eventLink } from '../../markup/amount-html.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { rewardChart, rewardPicture } from './loyalty-chart.ts'
import { momentOf, momentOrNone } from '../../markup/moment-html.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { ANSWER_TABLES } from '../../../serve/api/answer-tables.ts'
import { copyButton } from '../../frame/view-bar.ts'

/** `/loyalty/runs`: each month's reward, with the digests of its files. */
export const loyaltyPage: EndpointPage<'loyaltyRuns'> = {
  endpoint: 'loyaltyRuns',
  title: () => 'Loyalty rewards',
  csv: ANSWER_TABLES.loyaltyRuns,
  svg: rewardPicture,
  render: (answer, view) =>
    answer.runs.length === 0
      ? EMPTY
      : html`${INTRODUCTION} ${rewardChart(answer, view)} ${runTable(answer.runs, view)}
        ${answer.runs.map(filesOf)}`,
}

const EMPTY = html`<p class="lead">No loyalty reward has been announced yet.</p>
  <p><a href="/schedule">See what is planned</a>, or <a href="/funds">what the loyalty fund holds</a>.</p>`

const INTRODUCTION = html`<p class="lead">
  Each month’s reward is paid from the loyalty fund. The digest of the input is published before the output
  exists, so that neither can be changed afterwards.
</p>`

function runTable(runs: readonly LoyaltyRun[], { site }: View): Html {
  return html`<div class="wide" role="region" aria-label="Loyalty rewards by month" tabindex="0">
    <table class="cards" data-list="/runs">
      <thead>
        <tr>
          <th scope="col" data-field="month">Month</th>
          <th scope="col" data-field="paysAt">Planned for</th>
          <th scope="col" class="r" data-field="total">Reward, ${site.token}</th>
          <th scope="col" class="r" data-field="paid">Paid, ${site.token}</th>
          <th scope="col" class="r" data-field="notPaid">Not paid, ${site.token}</th>
          <th scope="col" class="r" data-field="recipients">Recipients</th>
          <th scope="col" class="r" data-field="payouts">Payouts</th>
        </tr>
      </thead>
      <tbody>
        ${runs.map(rowOf)}
      </tbody>
    </table>
  </div>`
}

function rowOf({ month, paysAt, total, paid, notPaid, recipients, payouts }: LoyaltyRun): Html {
  return html`<tr>
    <th scope="row"><a href="#${month}">${month}</a></th>
    <td class="all" data-label="planned for">${momentOrNone(paysAt, 'not announced')}</td>
    <td class="r" data-label="reward">${amountOrNone(total, 'not computed yet')}</td>
    <td class="r" data-label="paid">${amountHtml(paid)}</td>
    <td class="r" data-label="not paid">${amountOrNone(notPaid, 'not computed yet')}</td>
    <td class="r" data-label="recipients">
      ${recipients === null ? html`<span class="none">not known</span>` : countHtml(recipients)}
    </td>
    <td class="r" data-label="payouts">${countHtml(payouts)}</td>
  </tr>`
}

/** Input and output files of a month, and how to check them. */
function filesOf({ month, input, output }: LoyaltyRun, index: number): Html {
  const run = `/runs/${index}`
  return html`<h2 id="${month}" data-at="${run}/month">Files of ${month}</h2>
    <dl class="fields">
      ${fileOf('Input', input, 'Its digest is not published yet.', `${run}/input`)}
      ${fileOf('Output', output, 'It does not exist yet.', `${run}/output`)}
    </dl>`
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
        <p>Keep the file under this name, then:</p>
        <pre
          tabindex="0"
          role="region"
          aria-label="How to check the file ${hex.slice(0, 8)}"
          data-at="${pointer}"
        ><code>${check}</code></pre>
      </details>
    </dd>`
}
