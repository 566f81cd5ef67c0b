import { PROBLEMS } from '../../protocol/problem.ts'
import { PUBLIC_PROBLEMS } from '../../serve/describe/endpoint-problems.ts'
import { ERRORS_PATH } from '../../serve/http/problem-document.ts'
import type { ApiDocument } from '../frame/api-document.ts'
import { type Field, fieldsOf, formsOf, sharedIn, typeOfField, unitOf } from './api-fields.ts'
import { anchorOf, prose, sentence } from '../markup/prose.ts'
import { CACHING_AND_COSTS, PROBLEMS_INTRODUCTION } from './api-terms.ts'
import { type Html, html } from '../markup/html.ts'

/** Table of fields: name, type, unit and meaning. */
export function fieldsTable(label: string, fields: readonly Field[], token: string): Html {
  return html`<div class="wide" role="region" aria-label="${label}" tabindex="0">
    <table class="params cards">
      <thead>
        <tr>
          ${['Field', 'Type', 'Unit', 'Meaning'].map((name) => html`<th scope="col">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${fields.map((one) => rowOf(one, token))}
      </tbody>
    </table>
  </div>`
}

function rowOf(field: Field, token: string): Html {
  const { name, of, meaning } = field
  const [form, rest] = typeOfField(field)
  return html`<tr>
    <th scope="row"><code>${name}</code>${of === 'moment' ? html`, <code>…Ms</code>` : null}</th>
    <td>${of === null ? form : html`<a href="#${anchorOf(of)}">${form}</a>`}${rest}</td>
    <td>${unitOf(field, token)}</td>
    <td>${prose(meaning)}</td>
  </tr>`
}

/** Section about the shared parts of answers. */
export function sharedParts(document: ApiDocument, token: string): Html {
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
          ${fieldsTable(`Fields of ${name}`, fieldsOf(name, document), token)}`,
    )}
  </section>`
}

/** Section about caching and the rate limit. */
export const CACHING_PART: Html = html`<section aria-labelledby="kept" data-chrome>
  <h2 id="kept">Caching and rate limit</h2>
  ${CACHING_AND_COSTS.map((paragraph) => html`<p>${prose(paragraph)}</p>`)}
</section>`

/** Section about the problems of the API. */
export function problemParts(document: ApiDocument, token: string): Html {
  return html`<section aria-labelledby="problems" data-chrome>
    <h2 id="problems">Problems</h2>
    <p>${prose(PROBLEMS_INTRODUCTION)}</p>
    <div class="wide" role="region" aria-label="Problems by code" tabindex="0">
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">Code</th>
            <th scope="col">Status</th>
            <th scope="col">What is wrong</th>
          </tr>
        </thead>
        <tbody>
          ${PUBLIC_PROBLEMS.map(
            (code) =>
              html`<tr>
                <th scope="row"><a href="${ERRORS_PATH}#${code}">${code}</a></th>
                <td>${PROBLEMS[code].status}</td>
                <td>${PROBLEMS[code].title}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <h3>The document</h3>
    ${fieldsTable('Fields of a problem', fieldsOf('Problem', document), token)}
  </section>`
}
