import { nounOf } from '../../protocol/amount.ts'
import type { AsOf } from '../../protocol/endpoints/resource-fields.ts'
import { grouped } from '../markup/chart-scale.ts'
import { type Html, html } from '../markup/html.ts'
import { momentText } from '../markup/moment-html.ts'
import type { View } from './page.ts'
import type { AnswerTable } from '../../serve/http/csv.ts'
import type { Site } from '../markup/site.ts'
import { FRICTIONLESS_PATH } from '../../protocol/paths.ts'

/** Maximum bytes of an answer that a page shows as JSON, formatted for reading. Longer answers are linked. */
const SHOWN_BYTES_MAX = 32 * 1024

/** Rows of the answer; null without a CSV. A `whole` CSV without `limit` also has the rows that the answer lacks. */
type CsvOfView = Readonly<{ table: AnswerTable | null; whole: boolean }>

type ViewBar = Readonly<{
  title: string
  asOf: AsOf | null
  permalink: string
  csv: CsvOfView
  svg: boolean
  /** Links to the JSON of the other answers that the page shows; null if there are none. */
  links: Html | null
}>

/** Drawer below a page's content: the same content as JSON, CSV, picture and curl command, and its citation. */
export function viewBar(view: View, answer: unknown, bar: ViewBar): Html | null {
  const { api, query } = view
  if (api === null) return bar.links === null ? null : drawer(html`<p>This page shows: ${bar.links}</p>`)
  // The home page links the endpoint's page, which has the other formats.
  const [twin = ''] = api.slice('/api/v1'.length).split('?')
  const suffixed = (suffix: string): string => `${twin}${suffix}${query.format()}`
  return drawer(
    html`<p class="quiet">
        This page shows one answer of the API. Put <code>/api/v1</code> before the path of this page to get
        the JSON, with all decimals.
      </p>
      <ul class="buttons">
        <li><a class="button" data-json href="${api}">JSON</a></li>
        ${csvLinks(bar.csv, view, twin)}
        ${bar.svg ? html`<li><a class="button" href="${suffixed('.svg')}">SVG</a></li>` : null}
        <li><a class="button" href="${suffixed('.metadata.json')}">About this export</a></li>
        <li>${copyButton('Copy curl', { curl: api })}</li>
      </ul>
      <p><code>GET ${api}</code></p>
      ${bar.links === null ? null : html`<p>This page also shows: ${bar.links}</p>`} ${citation(view, bar)}
      ${shownJson(view, answer, api)}`,
  )
}

function drawer(content: Html): Html {
  return html`<details class="drawer" data-chrome>
    <summary>This page as data</summary>
    ${content}
  </details>`
}

/** Button that copies a text or a curl command. Hidden until a script shows it. */
export function copyButton(label: string, copied: Readonly<{ text: string } | { curl: string }>): Html {
  return 'text' in copied
    ? html`<button type="button" hidden data-copy="${copied.text}">${label}</button>`
    : // The command has the address in single quotes.
      html`<button type="button" hidden data-copy-curl="${copied.curl.replaceAll("'", '%27')}">
        ${label}
      </button>`
}

/** Code block with scrolling lines and a copy button. No other region of the page may have the same label. */
export function codeBlock(label: string, text: string): Html {
  return html`<div class="code">
    <pre tabindex="0" role="region" aria-label="${label}"><code>${text}</code></pre>
    ${copyButton('Copy', { text })}
  </div>`
}

/** Cursors of one page, which the address of a whole CSV omits. */
const ONE_PAGE = { after: undefined, before: undefined, limit: undefined }

function csvLinks({ table, whole }: CsvOfView, view: View, twin: string): Html | null {
  if (table === null) return null
  const { query } = view
  const isPart = ['after', 'before', 'limit'].some((name) => query.has(name))
  const all = html`<li>
    <a class="button" href="${twin}.csv${query.format(ONE_PAGE)}">CSV (everything that matches)</a>
  </li>`
  if (whole && !query.has('limit') && table.next !== null && !isPart) return all
  const label =
    whole && !query.has('limit') && table.next !== null
      ? 'CSV (this and all further rows)'
      : csvLabel(table, view)
  return html`<li><a class="button" href="${twin}.csv${query.format()}">${label}</a></li>
    ${whole && isPart ? all : null}`
}

function csvLabel({ rows, next }: AnswerTable, { cut }: View): string {
  if (cut) return 'CSV (more rows than this page reads)'
  if (rows.length === 0) return 'CSV (no rows)'
  const unit = nounOf(rows.length, 'row')
  return next === null ? `CSV (all ${rows.length} ${unit})` : `CSV (the first ${rows.length} ${unit})`
}

function citation({ site }: View, { title, asOf, permalink }: ViewBar): Html {
  const state =
    asOf === null || asOf.at === null
      ? ''
      : ` State at ${momentText(asOf.at)}, event ${grouped(String(asOf.seq))}.`
  const licence =
    site.licence === null
      ? null
      : html` Licence: <a rel="license" href="${site.licence}">${site.licence}</a>.`
  return html`<details class="cite">
    <summary>Cite</summary>
    <p>
      <cite>${title}</cite>. ${site.name}.${state}
      <a data-cite href="${permalink}">${permalink}</a>.${licence}
    </p>
  </details>`
}

function shownJson({ cut }: View, answer: unknown, api: string): Html {
  if (cut || Buffer.byteLength(JSON.stringify(answer)) > SHOWN_BYTES_MAX) {
    return html`<p class="quiet">The JSON is too long to be shown here: <a href="${api}">open it</a>.</p>`
  }
  return html`<details>
    <summary>Show the JSON</summary>
    <p class="quiet">Formatted for reading. The exact bytes are at <a href="${api}">its address</a>.</p>
    <pre
      tabindex="0"
      role="region"
      aria-label="The JSON of this view"
    ><code>${JSON.stringify(answer, null, 2)}</code></pre>
  </details>`
}

/** Element of a page's head that names the Atom feed. */
export function feedLink({ name }: Site): Html {
  return html`<link
    rel="alternate"
    type="application/atom+xml"
    title="${name}: contests, corrections and rewards"
    href="/feed.atom"
  />`
}

/** Links to subscribe to a calendar and to download it, and its URL to copy. */
export function calendarLinks(address: string, { site }: Pick<View, 'site'>): Html {
  const whole = `${site.url}${address}`
  return html`<div data-subscribe data-chrome>
    <p class="buttons">
      <a class="button" href="${whole.replace(/^https?:/, 'webcal:')}">Subscribe</a>
      <a class="button" href="${address}">File (.ics)</a>
    </p>
    <details>
      <summary>Address of the calendar</summary>
      <p><code>${whole}</code> ${copyButton('Copy', { text: whole })}</p>
    </details>
  </div>`
}

/** Element of a page's head that names the description of all files and columns. */
export const FRICTIONLESS_LINK: Html = html`<link
  rel="describedby"
  type="application/json"
  title="Data Package"
  href="${FRICTIONLESS_PATH}"
/>`
