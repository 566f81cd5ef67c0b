import {
  type ApiParameter,
  type DocumentedEndpoint,
  exampleIn,
  formOf,
  meaningOf,
  mediaOf,
  valueBoundsOf,
} from '../frame/api-document.ts'
import { anchorOf, prose } from '../markup/prose.ts'
import { type Html, html } from '../markup/html.ts'

type Segments = Readonly<Record<string, string>>

/** Table of an endpoint's parameters; null when it has none. */
export function parametersTable({ operationId, parameters }: DocumentedEndpoint): Html | null {
  if (parameters.length === 0) return null
  return html`<div class="wide" role="region" aria-label="Parameters of ${operationId}" tabindex="0">
    <table class="params asked cards">
      <thead>
        <tr>
          ${['Parameter', 'Type', 'Default', 'Bounds', 'Example', 'Meaning'].map((name) => html`<th scope="col">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${parameters.map(rowOf)}
      </tbody>
    </table>
  </div>`
}

function rowOf(parameter: ApiParameter): Html {
  const { name, in: place, schema } = parameter
  const [meaning, absent] = meaningOf(parameter)
  const form = formOf(schema)
  return html`<tr>
    <th scope="row"><code>${name}</code>${place === 'query' ? null : ` (${place})`}</th>
    <td>${form === 'moment' ? html`<a href="#${anchorOf(form)}">${form}</a>` : form}</td>
    <td>${prose(absent)}</td>
    <td>${valueBoundsOf(schema) ?? '–'}</td>
    <td><code>${exampleIn(parameter)}</code></td>
    <td>${prose(meaning)}</td>
  </tr>`
}

/** Form that sends a request. It sends input as typed, so that the API answers mistakes. */
export function requestForm(endpoint: DocumentedEndpoint, segments: Segments, page: string | null): Html {
  const { operationId: id, parameters } = endpoint
  const fields = parameters.filter((one) => one.in !== 'header')
  const body = html`<input type="hidden" name="endpoint" value="${id}" />
    ${fields.map((one) => html`<label>${one.name} ${fieldOf(one, segments[one.name])}</label>`)}
    <button>Send request</button>`
  // Without `data-ask` the browser downloads bytes as usual.
  if (!mediaOf(endpoint).every(([type]) => /json|text/.test(type))) {
    return html`<form class="ask" method="get" action="/api">${body}</form>`
  }
  return html`<form class="ask" method="get" action="/api" data-ask>${body}</form>
    <div hidden>
      <p>
        <output></output> ${page === null ? html`<a hidden></a>` : html`· <a>Open as a page</a>`}
        <button type="button" data-copy-curl="">Copy curl</button>
        <button type="button" data-copy="">Copy TypeScript</button> <button type="button">Stop</button>
      </p>
      <pre tabindex="0" role="region" aria-label="What ${id} answered"><code></code></pre>
    </div>`
}

/** Attribute for the script: the field takes a list. */
const LIST = html`data-list`

function fieldOf(parameter: ApiParameter, here: string | undefined): Html {
  const { name, in: place, schema } = parameter
  const example = exampleIn(parameter)
  if (schema.enum !== undefined) {
    return html`<select name="${name}" ${place === 'path' ? html`required` : null}>
      ${place === 'path' ? null : html`<option value="">–</option>`}
      ${schema.enum.map((value) => (value === here ? html`<option selected>${value}</option>` : html`<option>${value}</option>`))}
    </select>`
  }
  return place === 'path'
    ? html`<input name="${name}" size="14" required pattern="\\w[\\w.\\/\\-]*" value="${here ?? example}" />`
    : html`<input
        name="${name}"
        size="${example.length > 14 ? 20 : 14}"
        placeholder="${example}"
        ${schema.type === 'array' ? LIST : null}
      />`
}
