import { ENDPOINTS } from '../../protocol/endpoints/endpoints.ts'
import { FRICTIONLESS_PATH } from '../../protocol/paths.ts'
import type { Parameter, ParameterForm } from '../../protocol/parameters.ts'
import { PAYOUT_MEANINGS, TERMS } from '../../serve/describe/information.ts'
import { fillPath } from '../frame/answers.ts'
import { type AnsweredExample, type ExampleAnswer, openExampleAnswers } from './api-answers.ts'
import {
  anchorOf,
  askDocument,
  type ApiDocument,
  type ApiParameter,
  CACHING_AND_COSTS,
  type DocumentedEndpoint,
  type DocumentTable,
  endpointsOf,
  endpointTerms,
  exampleIn,
  mediaOf,
  parameterTable,
  PROBLEMS_INTRODUCTION,
  problemTable,
} from './api-document.ts'
import { hasPage } from '../feeds/redirects.ts'
import { jsonLinks } from '../frame/linked-answers.ts'
import { type Html, html } from '../markup/html.ts'
import type { Page, View } from '../frame/page.ts'
import { prose, sentence } from '../markup/prose.ts'
import { snippetsOf } from './api-snippets.ts'
import { copyButton } from '../frame/view-bar.ts'
import { MARKDOWN_PATH } from './api-markdown.ts'
import { ERRORS_PATH } from '../../serve/http/problem-document.ts'
import { fieldsOf, fieldTable, formsOf, mediaDescriptions, sharedIn } from './api-fields.ts'

const VALUE_CHARS_MAX = 200

const ids = ENDPOINTS.map(({ id }) => id)
const placesIn = (path: string): readonly string[] =>
  [...path.matchAll(/\{(\w+)(?:\.\.\.)?\}/g)].map(([, name = '']) => name)
const NAMES = new Set(
  ENDPOINTS.flatMap(({ path, parameters }) => [...placesIn(path), ...parameters.map(({ name }) => name)]),
)

/** Parameters of the forms: the endpoint, and its parameters as typed. */
const FORM_PARAMETERS: readonly Parameter[] = [
  formParameter('endpoint', { is: 'one-of', values: ids }),
  ...[...NAMES].map((name) => formParameter(name, { is: 'text', charsMax: VALUE_CHARS_MAX, guarded: true })),
]

function formParameter(name: string, form: ParameterForm): Parameter {
  return { name, form, absent: 'not asked', meaning: 'Asked of the endpoint', example: '' }
}

/** Page `/api`: all endpoints, each with a form. */
export const apiPage: Page<null> = {
  endpoint: null,
  path: '/api',
  parameters: FORM_PARAMETERS,
  island: 'api',
  title: () => 'API',
  permalink: () => '/api',
  head: () => html`<link rel="alternate" type="text/markdown" href="${MARKDOWN_PATH}" />`,
  redirect: async (view) => redirectTarget(view),
  async render(_, view) {
    const openapi = await askDocument(view)
    const document = openapi.answer
    const { token } = view.site
    const shownOf = await openExampleAnswers(view)
    const sections = await Promise.all(
      endpointsOf(document).map(async (one) => sectionOf(one, await shownOf(one), document, view)),
    )
    return html`<p class="lead" data-at="${openapi.address}#/info/version">
        Version ${document.info.version}. Everything on these pages, and more, for programs.
      </p>
      <p data-chrome>Base address: <code>${view.site.url}/api/v1</code></p>
      ${IN_SHORT} ${contentsOf(document)} ${sections} ${sharedParts(document, token)} ${CACHING_PART}
      ${problemParts(document, token)} ${jsonLinks([['the OpenAPI document', openapi]])}`
  },
}

const IN_SHORT = html`<section aria-label="In short" data-chrome>
  <p class="banner" role="note">${prose(PAYOUT_MEANINGS)}</p>
  <p>${TERMS}</p>
  <p>
    For tools: <a href="/api/v1/openapi.json">OpenAPI 3.1</a>,
    <a href="/api/v1/asyncapi.json">AsyncAPI 3.0</a>, <a href="/llms.txt">llms.txt</a>,
    <a href="${MARKDOWN_PATH}" type="text/markdown">this page as Markdown</a>,
    <a href="${FRICTIONLESS_PATH}">every file and column as a Data Package</a>,
    <a href="/api/v1/event-types">every type of event with its JSON Schema</a>.
  </p>
</section>`

/** Table of contents: endpoints by group, then the shared parts. */
function contentsOf(document: ApiDocument): Html {
  const endpoints = endpointsOf(document)
  return html`<nav aria-label="Contents" data-chrome>
    <dl class="terms">
      ${document.tags.map(
        ({ name, description }) =>
          html`<dt>${name}</dt>
            <dd>
              <span class="quiet">${description}.</span>
              <ul class="index">
                ${endpoints
                  .filter(({ tags }) => tags.includes(name))
                  .map(
                    ({ operationId, path }) =>
                      html`<li><a href="#${operationId}">${path.slice('/api/v1'.length)}</a></li>`,
                  )}
              </ul>
            </dd>`,
      )}
      <dt>For all endpoints</dt>
      <dd>
        <ul class="index">
          <li><a href="#shared">What answers share</a></li>
          <li><a href="#kept">Caching and rate limit</a></li>
          <li><a href="#problems">Problems</a></li>
        </ul>
      </dd>
    </dl>
  </nav>`
}

/** Redirect target of a form: the endpoint with the filled-in parameters; null renders the page. */
function redirectTarget({ query }: View): string | null {
  const endpoint = ENDPOINTS.find(({ id }) => id === query.word('endpoint'))
  if (endpoint === undefined) return null
  const valueOf = (name: string): string => (query.word(name) ?? '').trim()
  const segments = Object.fromEntries(placesIn(endpoint.path).map((name) => [name, valueOf(name)]))
  if (!Object.values(segments).every((value) => /^\w[\w./-]*$/.test(value))) return null
  const pairs = endpoint.parameters
    .filter(({ name }) => valueOf(name) !== '')
    .map(({ name }) => `${name}=${encoded(valueOf(name))}`)
  return `${fillPath(endpoint.path, segments)}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`
}

/** Encodes a value for a URL that may be inside single quotes. */
function encoded(value: string): string {
  return encodeURIComponent(value).replaceAll("'", '%27')
}

/** Length at which an example answer is cut. */
const SHOWN_CHARS_MAX = 1_200

/** Section of an endpoint: parameters, form, request, answer and terms. */
function sectionOf(
  endpoint: DocumentedEndpoint,
  shown: AnsweredExample,
  document: ApiDocument,
  view: View,
): Html {
  const { operationId: id, path, summary } = endpoint
  const template = path.slice('/api/v1'.length)
  const page = hasPage(id) ? template : null
  return html`<section aria-labelledby="${id}" data-chrome>
    <h2 id="${id}">GET ${path}</h2>
    <p>${summary}. ${page === null || page.includes('{') ? null : html`<a href="${page}">As a page</a>.`}</p>
    ${endpoint.parameters.length === 0 ? null : tableOf(`Parameters of ${id}`, 'params', parameterTable(endpoint))}
    ${requestForm(endpoint, shown.segments, page)} ${requestPart(endpoint, shown, view)}
    ${shown.answer === null ? null : answerPart(id, shown.answer)}
    ${fieldsPart(endpoint, document, view.site.token)} ${endpointTerms(endpoint)}
  </section>`
}

function requestPart(endpoint: DocumentedEndpoint, shown: AnsweredExample, view: View): Html {
  return html`<details>
    <summary>The request: curl, TypeScript, Python, command line</summary>
    ${snippetsOf(view.site.url, endpoint, shown).map(
      ({ language, text }) =>
        html`<p>${language} ${copyButton('Copy', { text })}</p>
          <pre
            tabindex="0"
            role="region"
            aria-label="${endpoint.operationId} in ${language}"
          ><code>${text}</code></pre>`,
    )}
  </details>`
}

function answerPart(id: string, { type, text, of, request }: ExampleAnswer): Html {
  const isCut = text.length > SHOWN_CHARS_MAX
  return html`<details>
    <summary>An answer: ${type}</summary>
    <p class="quiet">
      ${
        of === 'service'
          ? html`What this service answers now to <a data-json href="${request}"><code>${request}</code></a>`
          : html`A sample answer to <code>${request}</code>`
      }${isCut ? html`, the first ${SHOWN_CHARS_MAX} of ${text.length} characters` : null}:
    </p>
    <pre
      tabindex="0"
      role="region"
      aria-label="An answer of ${id}"
    ><code>${isCut ? `${text.slice(0, SHOWN_CHARS_MAX)}\n… cut here` : text}</code></pre>
  </details>`
}

/** Fields of the answer in each media type. */
function fieldsPart(endpoint: DocumentedEndpoint, document: ApiDocument, token: string): Html {
  const name = `Fields of ${endpoint.operationId}`
  return html`<details>
    <summary>Fields of the answer</summary>
    ${mediaDescriptions(endpoint, document).map(
      ({ says, fields }) =>
        html`<p>${prose(says)}</p>
          ${fields.length === 0 ? null : tableOf(name, 'params', fieldTable(fields, token))}`,
    )}
  </details>`
}

/** A table of the document. */
function tableOf(label: string, kind: string, { head, rows }: DocumentTable): Html {
  return html`<div class="wide" role="region" aria-label="${label}" tabindex="0">
    <table class="${kind} cards">
      <thead>
        <tr>
          ${head.map((name) => html`<th scope="col">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([first = '', ...cells]) =>
            html`<tr>
              <th scope="row">${prose(first)}</th>
              ${cells.map((cell, index) => html`<td ${labelOf(head[index + 1])}>${prose(cell)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

/** Columns whose cells say nothing without their head, which a row as a card does not show. */
const LABELLED: ReadonlySet<string> = new Set(['Default', 'Bounds', 'Example', 'Unit'])

function labelOf(column: string = ''): Html | null {
  return LABELLED.has(column) ? html`data-label="${column}:"` : null
}

type Segments = Readonly<Record<string, string>>

/** Form that sends a request. It sends the input unchanged, so that the API answers mistakes. */
function requestForm(endpoint: DocumentedEndpoint, segments: Segments, page: string | null): Html {
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
        <button type="button">Stop</button>
      </p>
      <pre tabindex="0" role="region" aria-label="What ${id} answered"><code></code></pre>
    </div>`
}

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
    : html`<input name="${name}" size="${example.length > 14 ? 20 : 14}" placeholder="${example}" />`
}

/** Section about the shared parts of answers. */
function sharedParts(document: ApiDocument, token: string): Html {
  const { schemas } = document.components
  return html`<section aria-labelledby="shared" data-chrome>
    <h2 id="shared">What answers share</h2>
    ${formsOf(token).map(
      ([name, description]) =>
        html`<h3 id="${anchorOf(name)}">${name}</h3>
          <p>${prose(description)}</p>`,
    )}
    ${sharedIn(document).map(
      (name) =>
        html`<h3 id="${anchorOf(name)}">${name}</h3>
          ${schemas[name]?.description === undefined ? null : html`<p>${sentence(schemas[name].description)}</p>`}
          ${tableOf(`Fields of ${name}`, 'params', fieldTable(fieldsOf(name, document), token))}`,
    )}
  </section>`
}

/** Section about caching and the rate limit. */
const CACHING_PART: Html = html`<section aria-labelledby="kept" data-chrome>
  <h2 id="kept">Caching and rate limit</h2>
  ${CACHING_AND_COSTS.map((paragraph) => html`<p>${prose(paragraph)}</p>`)}
</section>`

/** Section about the problems of the API. */
function problemParts(document: ApiDocument, token: string): Html {
  return html`<section aria-labelledby="problems" data-chrome>
    <h2 id="problems">Problems</h2>
    <p>${prose(PROBLEMS_INTRODUCTION)}</p>
    ${tableOf(
      'Problems by code',
      '',
      problemTable((code) => `[${code}](${ERRORS_PATH}#${code})`),
    )}
    <h3>The document</h3>
    ${tableOf('Fields of a problem', 'params', fieldTable(fieldsOf('Problem', document), token))}
  </section>`
}
