import { ENDPOINTS } from '../../protocol/endpoints.ts'
import type { Form, Parameter } from '../../protocol/parameters.ts'
import { TERMS } from '../information.ts'
import { fill } from './answers.ts'
import type { ApiParameter, Operation } from './api-document.ts'
import { exampleOf, formOf, requestOf } from './api-document.ts'
import { snippetsOf } from './api-snippets.ts'
import { further, jsonLine } from './further.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import type { Page, View } from './page.ts'
import { baseOf } from './site.ts'
import { copyButton } from './view-bar.ts'

/** A longer example is cut: the whole answer is one press of its form away. */
const EXAMPLE_CHARS_MAX = 1_200
const VALUE_CHARS_MAX = 200

const ids = ENDPOINTS.map(({ id }) => id)
const placesIn = (path: string): readonly string[] =>
  [...path.matchAll(/\{(\w+)(?:\.\.\.)?\}/g)].map(([, name = '']) => name)
const NAMES = new Set(
  ENDPOINTS.flatMap(({ path, parameters }) => [...placesIn(path), ...parameters.map(({ name }) => name)]),
)

/** What the forms of the reference send: which endpoint, and each of its parameters as it was typed. */
const SENT: readonly Parameter[] = [
  sent('endpoint', { is: 'one-of', values: ids }),
  ...[...NAMES].map((name) => sent(name, { is: 'text', charsMax: VALUE_CHARS_MAX })),
]

function sent(name: string, form: Form): Parameter {
  return { name, form, absent: 'not asked', meaning: 'Asked of the endpoint', example: '' }
}

/** `/api`: every endpoint, with a form that asks it. */
export const apiPage: Page<null> = {
  endpoint: null,
  path: '/api',
  parameters: SENT,
  further: true,
  title: () => 'API',
  permalink: () => '/api',
  elsewhere: async (view) => askedOf(view),
  async render(_, view) {
    const document = await further(view, 'openapi')
    const { info, tags, paths } = document.answer
    const operations = Object.entries(paths).map(([path, { get }]) => ({ path, ...get }))
    return html`<p class="lead">
        Version ${info.version}. Everything on these pages, and more, for programs.
      </p>
      <section aria-label="In short" data-chrome>
        <p>${TERMS}</p>
        <p>
          For tools: <a href="/api/v1/openapi.json">OpenAPI 3.1</a>,
          <a href="/api/v1/asyncapi.json">AsyncAPI 3.0</a>, <a href="/llms.txt">llms.txt</a>,
          <a href="/api/v1/event-types">every type of event with its JSON Schema</a>.
        </p>
      </section>
      <nav aria-label="Endpoints" data-chrome>
        <ul class="columns">
          ${operations.map(({ operationId }) => html`<li><a href="#${operationId}">${operationId}</a></li>`)}
        </ul>
      </nav>
      ${tags.map(
        ({ name, description }) =>
          html`<h2>${name}</h2>
            <p class="quiet">${description}.</p>
            ${operations.filter((one) => one.tags.includes(name)).map((one) => sectionOf(one, view))}`,
      )}
      ${jsonLine([['the OpenAPI document', document]])}`
  },
}

/** Where a form of the reference leads: to the endpoint that it asks, without the fields left blank. */
function askedOf({ query }: View): string | null {
  const endpoint = ENDPOINTS.find(({ id }) => id === query.word('endpoint'))
  if (endpoint === undefined) return null
  const valueOf = (name: string): string => (query.word(name) ?? '').trim()
  const segments = Object.fromEntries(placesIn(endpoint.path).map((name) => [name, valueOf(name)]))
  if (!Object.values(segments).every((value) => /^\w[\w./-]*$/.test(value))) return null
  const pairs = endpoint.parameters
    .filter(({ name }) => valueOf(name) !== '')
    .map(({ name }) => `${name}=${encodeURIComponent(valueOf(name))}`)
  return `${fill(endpoint.path, segments)}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`
}

function sectionOf({ path, ...operation }: Operation & Readonly<{ path: string }>, view: View): Html {
  const { operationId: id, summary, parameters } = operation
  const page = path.slice('/api/v1'.length)
  const request = requestOf(path, operation)
  return html`<section aria-labelledby="${id}" data-chrome>
    <h3 id="${id}">GET ${path}</h3>
    <p>${summary}. ${view.paths.has(page) ? html`<a href="${page}">The page of the same</a>.` : null}</p>
    ${parametersOf(parameters, id)} ${askOf(id, parameters)}
    <dl class="fields">
      ${snippetsOf(baseOf(view.host), request, path, operation).map(
        ({ name, text }) =>
          html`<dt>${name}</dt>
            <dd><code>${text}</code> ${copyButton('Copy', { text })}</dd>`,
      )}
    </dl>
    ${answerOf(operation)}
  </section>`
}

function parametersOf(parameters: readonly ApiParameter[], id: string): Html | null {
  if (parameters.length === 0) return null
  return html`<div class="wide" role="region" aria-label="Parameters of ${id}" tabindex="0">
    <table class="params">
      <thead>
        <tr>
          <th scope="col">Parameter</th>
          <th scope="col">Form</th>
          <th scope="col">Example</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        ${parameters.map(
          (one) =>
            html`<tr>
              <th scope="row"><code>${one.name}</code>${one.in === 'query' ? null : ` (${one.in})`}</th>
              <td>${formOf(one.schema)}</td>
              <td><code>${textOfExample(one)}</code></td>
              <td>${one.description}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

function textOfExample({ example = '' }: ApiParameter): string {
  return typeof example === 'object' ? example.join(',') : String(example)
}

/** The form that asks: what is typed is sent as it is, so that a mistake is answered as the API answers it. */
function askOf(id: string, parameters: readonly ApiParameter[]): Html {
  const fields = parameters.filter((one) => one.in !== 'header')
  return html`<form class="ask" method="get" action="/api" data-ask="${id}">
    <input type="hidden" name="endpoint" value="${id}" />
    ${fields.map((one) => html`<label>${one.name} ${fieldOf(one)}</label>`)}
    <button>Ask</button>
  </form>`
}

function fieldOf({ name, in: place, schema, ...rest }: ApiParameter): Html {
  const example = textOfExample({ name, in: place, schema, ...rest })
  if (schema.enum !== undefined) {
    return html`<select name="${name}">
      ${place === 'path' ? null : html`<option value="">–</option>`}
      ${schema.enum.map((value) => html`<option>${value}</option>`)}
    </select>`
  }
  return place === 'path'
    ? html`<input name="${name}" size="14" required value="${example}" />`
    : html`<input name="${name}" size="14" placeholder="${example}" />`
}

function answerOf(operation: Operation): Html | null {
  const example = exampleOf(operation)
  if (example === undefined) return null
  const whole = typeof example.value === 'string' ? example.value : JSON.stringify(example.value, null, 2)
  const shown = whole.length > EXAMPLE_CHARS_MAX ? `${whole.slice(0, EXAMPLE_CHARS_MAX)}\n…` : whole
  return html`<details>
    <summary>An answer: ${example.type}</summary>
    <p class="quiet">As the sample answered <code>${example.summary}</code></p>
    <pre
      tabindex="0"
      role="region"
      aria-label="An answer of ${operation.operationId}"
    ><code>${shown}</code></pre>
  </details>`
}
