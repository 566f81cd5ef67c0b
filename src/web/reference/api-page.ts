import { ENDPOINTS } from '../../protocol/endpoints/endpoints.ts'
import { FRICTIONLESS_PATH } from '../../protocol/paths.ts'
import type { ParameterForm, Parameter } from '../../protocol/parameters.ts'
import { TERMS } from '../../serve/describe/information.ts'
import { fillPath } from '../frame/answers.ts'
import { openExampleAnswers } from './api-answers.ts'
import { type ApiDocument, endpointsOf } from '../frame/api-document.ts'
import { MARKDOWN_PATH } from './api-markdown-route.ts'
import { sectionOf } from './api-section.ts'
import { CACHING_PART, problemParts, sharedParts } from './api-shared.ts'
import { askEndpoint, jsonLinks } from '../frame/linked-answers.ts'
import { type Html, html } from '../markup/html.ts'
import type { Page, View } from '../frame/page.ts'

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
  asksMore: true,
  island: 'api',
  title: () => 'API',
  permalink: () => '/api',
  head: () => html`<link rel="alternate" type="text/markdown" href="${MARKDOWN_PATH}" />`,
  redirect: async (view) => redirectTarget(view),
  async render(_, view) {
    const openapi = await askEndpoint(view, 'openapi')
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

/** Encodes a value for a URL that may be between single quotes. */
function encoded(value: string): string {
  return encodeURIComponent(value).replaceAll("'", '%27')
}
