import type { ExampleAnswer, AnsweredExample } from './api-answers.ts'
import type { ApiDocument, DocumentedEndpoint } from '../frame/api-document.ts'
import { requestForm, parametersTable } from './api-form.ts'
import { mediaDescriptions } from './api-media.ts'
import { anchorOf, sentence } from '../markup/prose.ts'
import { fieldsTable } from './api-shared.ts'
import { snippetsOf } from './api-snippets.ts'
import { endpointTerms } from './api-terms.ts'
import { type Html, html } from '../markup/html.ts'
import type { View } from '../frame/page.ts'
import { copyButton } from '../frame/view-bar.ts'

/** Length at which an example answer is cut. */
const SHOWN_CHARS_MAX = 1_200

/** Section of an endpoint: parameters, form, request, answer and terms. */
export function sectionOf(
  endpoint: DocumentedEndpoint,
  shown: AnsweredExample,
  document: ApiDocument,
  view: View,
): Html {
  const { operationId: id, path, summary } = endpoint
  const template = path.slice('/api/v1'.length)
  const page = view.paths.has(template) ? template : null
  return html`<section aria-labelledby="${id}" data-chrome>
    <h2 id="${id}">GET ${path}</h2>
    <p>${summary}. ${page === null || page.includes('{') ? null : html`<a href="${page}">As a page</a>.`}</p>
    ${parametersTable(endpoint)} ${requestForm(endpoint, shown.segments, page)}
    ${requestPart(endpoint, shown, view)} ${shown.answer === null ? null : answerPart(id, shown.answer)}
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
  const link = (name: string): Html => html`<a href="#${anchorOf(name)}">${name}</a>`
  return html`<details>
    <summary>Fields of the answer</summary>
    ${mediaDescriptions(endpoint, document).map(
      ({ type, meaning, is, parts, fields }) =>
        html`<p>
            <code>${type}</code>${meaning === undefined ? '.' : html`: ${sentence(meaning)}`}
            ${is === null ? null : html`Its fields are those of ${link(is)}.`}
            ${parts.length === 0 ? null : html`Its parts: ${parts.map((one) => html`${link(one)} `)}`}
          </p>
          ${fields.length === 0 ? null : fieldsTable(`Fields of ${endpoint.operationId}`, fields, token)}`,
    )}
  </details>`
}
