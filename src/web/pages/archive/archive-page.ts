import { FRICTIONLESS_PATH } from '../../../protocol/paths.ts'
import type { ArchiveIndex, ArchiveMonth } from '../../../protocol/endpoints/file-endpoints.ts'
import { countHtml, eventLink } from '../../markup/amount-html.ts'
import { codeBlock, copyButton, FRICTIONLESS_LINK } from '../../frame/view-bar.ts'
import { derived, type Derived, derivedSum, expressed, sumOfAll } from '../../markup/derived.ts'
import { type Html, html, jsonBlock } from '../../markup/html.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { PAGE_NOTICE } from '../../markup/site.ts'
import type { AnswerTable } from '../../../serve/http/csv.ts'
import { chartPicture } from '../../charts/chart-picture.ts'
import { monthMark } from '../../charts/chart-time.ts'
import { monthHtml, monthWords } from '../../markup/moment-html.ts'
import { barChart, barPlot, type Bars } from '../../charts/chart-line.ts'

/** `/archive`: all events, a file for each month. */
export const archivePage: EndpointPage<'archive'> = {
  endpoint: 'archive',
  island: 'chart',
  title: () => 'Archive',
  csv: tableOf,
  svg: monthPicture,
  head: ({ months }, view) =>
    html`${FRICTIONLESS_LINK}${jsonBlock('application/ld+json', datasetOf(months, view))}`,
  render: ({ months }, view) =>
    html`<p class="lead">${countOf(months)} No key and no sign-up.</p>
      ${months.length === 0 ? EMPTY : html`${monthChart(months)} ${monthTable(months)} ${howTo(months, view)}`}`,
}

/** Sentence that counts the events and the months. */
function countOf(months: readonly ArchiveMonth[]): Html {
  const events = eventsTotal(months)
  if (events === null) return html`Every event since the first, in a file for each month.`
  const isOne = months.reduce((sum, one) => sum + one.events, 0) === 1
  const many = html`${expressed('count /months', String(months.length))} months, in a file for each.`
  return html`${derived(events)} ${isOne ? 'event' : 'events'} in
  ${months.length === 1 ? 'one month, in one file.' : many}`
}

/** Chart of the events of each month; null for less than two months. */
export function monthChart(months: readonly ArchiveMonth[]): Html | null {
  const events = eventsTotal(months)
  if (events === null || months.length < 2) return null
  const most = months.reduce((greatest, one) => (one.events > greatest.events ? one : greatest))
  const growing = months.some(({ state }) => state === 'open')
  const sentence = html`The most events came in
    <span data-at="/months/${months.indexOf(most)}/month">${monthHtml(most.month)}</span
    >.${growing ? ' Pale: not over yet.' : null}`
  const described = `The most, ${most.events}, came in ${most.month}. The table below has the same counts.`
  return barChart(barsOf(months, described), sentence)
}

function barsOf(months: readonly ArchiveMonth[], description: string): Bars {
  return {
    id: 'months',
    title: 'Events of each month',
    description,
    bars: months.map((one) => ({
      label: monthMark(one.month),
      name: monthWords(one.month),
      figure: String(one.events),
      unfinished: one.state === 'open',
    })),
  }
}

/** Total of the events of all months. */
function eventsTotal(months: readonly ArchiveMonth[]): Derived | null {
  return sumOfAll(
    '/months/*/events',
    months.map((one) => one.events),
  )
}

function monthTable(months: readonly ArchiveMonth[]): Html {
  const events = eventsTotal(months)
  const bytes = derivedSum(
    months.flatMap((one, index) =>
      one.bytes === null ? [] : [{ pointer: `/months/${index}/bytes`, figure: one.bytes }],
    ),
  )
  return html`<div class="wide" role="region" aria-label="Months" tabindex="0">
      <table class="cards" data-list="/months">
        <thead>
          <tr>
            <th scope="col" data-field="month">Month</th>
            <th scope="col" data-field="state">State</th>
            <th scope="col" class="r" data-field="events">Events</th>
            <th scope="col" data-field="firstSeq lastSeq">First and last</th>
            <th scope="col" class="r" data-field="bytes">Bytes</th>
            <th scope="col">Files</th>
            <th scope="col" data-field="sha256">SHA-256 of the file</th>
          </tr>
        </thead>
        <tbody>
          ${months.map(rowOf)}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">All</th>
            <td></td>
            <td class="r">${events === null ? null : derived(events)}</td>
            <td></td>
            <td class="r">${bytes === null ? null : html`closed: ${derived(bytes)}`}</td>
            <td><a href="/api/v1/archive/SHA256SUMS">SHA256SUMS</a></td>
            <td></td>
          </tr>
        </tfoot>
      </table>
    </div>
    <p class="quiet">
      A closed month never changes: its file is made once, and its digest is in a signed manifest. A mistake
      is corrected by a further event.
    </p>`
}

function rowOf(month: ArchiveMonth): Html {
  const { firstSeq, lastSeq, bytes, sha256 } = month
  const isOpen = month.state === 'open'
  return html`<tr id="${month.month}">
    <th scope="row"><span class="n">${month.month}</span></th>
    <td>
      ${isOpen ? html`<span class="chip running" data-state="open">open</span>` : html`<span class="chip done" data-state="closed">closed</span>`}
    </td>
    <td class="r" data-label="Events">${countHtml(month.events)}</td>
    <td data-label="From">
      ${firstSeq === null || lastSeq === null ? NONE : html`${eventLink(firstSeq)} to ${eventLink(lastSeq)}`}
    </td>
    <td class="r" data-label="Bytes">
      ${bytes === null ? html`<span class="none">still growing</span>` : countHtml(bytes)}
    </td>
    <td>
      <a href="${month.url}">events</a> · <a href="${month.detailsUrl}">details</a>${
        isOpen
          ? null
          : html` · <a href="${month.parquetUrl}">Parquet</a> ·
              <a href="/api/v1/archive/${month.month}.json">manifest</a>`
      }
    </td>
    <td class="all" data-label="SHA-256">
      ${sha256 === null ? html`<span class="none">when it closes</span>` : html`<code class="id cut">${sha256}</code> ${copyButton('Copy', { text: sha256 })}`}
    </td>
  </tr>`
}

/** Commands to download and read the files. They run as they are. */
function howTo(months: readonly ArchiveMonth[], view: View): Html {
  const base = view.site.url
  const names = months.map(({ month }) => month)
  const last = months.findLast(({ lastSeq }) => lastSeq !== null)?.lastSeq ?? 0
  const curl = `site=${base}/api/v1/archive
for month in ${names.slice(-MONTHS_NAMED).join(' ')}; do
  curl -fsSO "$site/$month.jsonl.gz"
done
curl -fsSO "$site/SHA256SUMS" && sha256sum --check --ignore-missing SHA256SUMS`
  const python = `import gzip, json, urllib.request
from decimal import Decimal
paid = Decimal(0)
with urllib.request.urlopen("${base}/api/v1/archive/${names.at(-1) ?? ''}.jsonl.gz") as file:
    for line in gzip.open(file):
        event = json.loads(line)
        counts_as = event["kind"] if event["type"] == "correction" else event["type"]
        if counts_as == "payout":
            paid += Decimal(event["kots"])
print(paid)`
  const parquet = months.findLast(({ state }) => state === 'closed')?.parquetUrl ?? null
  const duckdb = `SELECT date_trunc('day', timezone('UTC', "at")) AS day, sum(kots) AS paid
FROM '${view.site.url}${parquet}'
WHERE type = 'payout' OR (type = 'correction' AND kind = 'payout') GROUP BY day ORDER BY day;`
  const live = `curl -N '${base}/api/v1/stream?after=${last}'`
  return html`<section aria-label="How to use it" data-chrome>
    <h2>How to use it</h2>
    <p>
      With curl: download the months (only the latest, if there are many), and check that they are complete.
    </p>
    ${codeBlock('With curl', curl)}
    <p>
      With Python: all payouts of a month, refunds and loyalty rewards included, minus corrections. Amounts
      are exact decimals, never floating point.
    </p>
    ${codeBlock('With Python', python)}
    ${
      parquet === null
        ? null
        : html`<p>With DuckDB, from the Parquet file of the newest closed month: the same for each day.</p>
            ${codeBlock('With DuckDB', duckdb)}`
    }
    <p>
      <a href="${FRICTIONLESS_PATH}">A Data Package</a> describes every file and column, with types, units and
      digests.
    </p>
    <p>
      Read all files, then the stream after the last event of the newest file. You miss no event, and get none
      twice.
    </p>
    ${codeBlock('Then the stream', live)}
    <p>
      <a href="/verify">Check a month against the signed log</a>. Each line of a file is an event, byte for
      byte as it was published.
    </p>
  </section>`
}

/** Description for search engines of data sets (schema.org). */
function datasetOf(months: readonly ArchiveMonth[], view: View): unknown {
  const base = view.site.url
  const { name, licence } = view.site
  const [first, last] = [months.at(0), months.at(-1)]
  return {
    '@context': 'https://schema.org/',
    '@type': 'Dataset',
    name: `${name}: every event, by month`,
    description: `The append-only log of a contest and prize platform: what was spent on play, paid in prizes and burned. ${PAGE_NOTICE}`,
    url: `${base}/archive`,
    isAccessibleForFree: true,
    creator: { '@type': 'Organization', name },
    ...(licence === null ? {} : { license: licence }),
    ...(first === undefined || last === undefined
      ? {}
      : { temporalCoverage: `${first.month}/${last.month}` }),
    distribution: months.map(({ month, url, sha256 }) => ({
      '@type': 'DataDownload',
      name: month,
      contentUrl: `${base}${url}`,
      encodingFormat: 'application/gzip',
      ...(sha256 === null ? {} : { sha256 }),
    })),
  }
}

function tableOf({ months }: ArchiveIndex): AnswerTable {
  return { columns: COLUMNS, rows: months.map((one) => COLUMNS.map((name) => one[name])), next: null }
}

/** The chart as a picture, for any number of months. */
function monthPicture({ months }: ArchiveIndex, view: View): Html {
  const described = months.map(({ month, events }) => `${month}: ${events}.`).join(' ')
  const bars = barsOf(months, described === '' ? 'There is no month yet.' : described)
  const [first, last] = [months.at(0)?.month, months.at(-1)?.month]
  const range = first === undefined ? 'no month yet' : first === last ? first : `${first} to ${last}`
  const growing = months.some(({ state }) => state === 'open') ? '; pale: not over yet' : ''
  return chartPicture(
    { title: bars.title, asOf: null, range: `${range}${growing}` },
    [barPlot({ ...bars, size: 'tall' })],
    view,
  )
}

const EMPTY = html`<p>
  No event has been published yet, so there is no month. <a href="/schedule">See what is planned</a>.
</p>`

const NONE = html`<span class="none">none</span>`

/** Months in the curl command, so that it fits in a line. */
const MONTHS_NAMED = 12

const COLUMNS = [
  'month',
  'state',
  'url',
  'detailsUrl',
  'parquetUrl',
  'bytes',
  'events',
  'firstSeq',
  'lastSeq',
  'sha256',
  'linesSha256',
] as const
