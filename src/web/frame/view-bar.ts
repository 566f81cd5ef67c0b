import type { AsOf } from '../../protocol/resources.ts'
import { embedding } from './embedding.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'
import { momentText } from '../markup/moment-html.ts'
import type { Embedded, View } from './page.ts'
import type { AnswerTable } from '../markup/table.ts'

/** A longer answer is linked and not shown: the page would be longer than what it shows. */
const SHOWN_BYTES_MAX = 32 * 1024

/** What the bar under a block of figures needs to say how to get the same otherwise. */
export type ViewBar = Readonly<{
  title: string
  asOf: AsOf | null
  permalink: string
  table: AnswerTable | null
  svg: boolean
  embedded: readonly Embedded[]
}>

/** The same block as JSON, CSV, picture, command and citation, always in this order. */
export function viewBar(view: View, bar: ViewBar): Html | null {
  const { api, query } = view
  if (api === null) return null
  // The endpoint's page: the home page is another of the same answer.
  const [twin = ''] = api.slice('/api/v1'.length).split('?')
  const suffixed = (suffix: string): string => `${twin}${suffix}${query.format()}`
  return html`<section class="bar" aria-label="This view as data" data-chrome>
    <ul>
      <li>This view as data:</li>
      <li><a data-json href="${api}">JSON</a></li>
      ${bar.table === null ? null : html`<li><a href="${suffixed('.csv')}">${csvLabel(bar.table, view)}</a></li>`}
      ${bar.svg ? html`<li><a href="${suffixed('.svg')}">SVG</a></li>` : null}
      <li><code>GET ${api}</code> ${copyButton('Copy curl', { curl: api })}</li>
      <li><a href="${suffixed('.metadata.json')}">About this export</a></li>
    </ul>
    ${citation(view, bar)} ${embedding(view, bar.embedded)} ${shownJson(view, api)}
  </section>`
}

/** A button that copies; it is there once the island that knows how has come. */
export function copyButton(label: string, copied: Readonly<{ text: string } | { curl: string }>): Html {
  return 'text' in copied
    ? html`<button type="button" hidden data-copy="${copied.text}">${label}</button>`
    : html`<button type="button" hidden data-copy-curl="${copied.curl}">${label}</button>`
}

function csvLabel({ rows, next }: AnswerTable, { cut }: View): string {
  if (cut) return 'CSV (more rows than are read here)'
  if (rows.length === 0) return 'CSV (no rows)'
  const unit = rows.length === 1 ? 'row' : 'rows'
  return next === null ? `CSV (all ${rows.length} ${unit})` : `CSV (the first ${rows.length} ${unit})`
}

function citation({ site }: View, { title, asOf, permalink }: ViewBar): Html {
  const state =
    asOf === null || asOf.at === null ? '' : ` State at ${momentText(asOf.at)}, event #${asOf.seq}.`
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

function shownJson({ json, cut }: View, api: string): Html {
  if (cut || Buffer.byteLength(json) > SHOWN_BYTES_MAX) {
    return html`<p class="quiet">The JSON is too long to be shown here: <a href="${api}">open it</a>.</p>`
  }
  return html`<details>
    <summary>Show the JSON</summary>
    <p class="quiet">Broken into lines to be read; the bytes are at <a href="${api}">its address</a>.</p>
    <pre
      tabindex="0"
      role="region"
      aria-label="The JSON of this view"
    ><code>${JSON.stringify(JSON.parse(json), null, 2)}</code></pre>
  </details>`
}
