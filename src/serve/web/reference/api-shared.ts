import { keysOf } from '../../../protocol/brand.ts'
import { ENDPOINTS } from '../../../protocol/endpoints.ts'
import type { ProblemCode } from '../../../protocol/problem.ts'
import { PROBLEMS } from '../../../protocol/problem.ts'
import { ANYWHERE, problemsOf } from '../../endpoint-problems.ts'
import { PROBLEM_BASE } from '../../problem-document.ts'
import type { ApiDocument } from './api-document.ts'
import type { Field } from './api-fields.ts'
import { fieldsOf, sharedIn } from './api-fields.ts'
import { anchorOf, prose, sentence } from './api-prose.ts'
import type { Html } from '../html.ts'
import { html } from '../html.ts'

/** Each field of an answer: its name, what it is, in which unit, and what it means. */
export function fieldsTable(label: string, fields: readonly Field[], token: string): Html {
  return html`<div class="wide" role="region" aria-label="${label}" tabindex="0">
    <table class="params">
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

function rowOf({ name, form, of, nullable, optional, unit, meaning }: Field, token: string): Html {
  const units: Readonly<Record<string, string>> = {
    amount: token,
    price: `USD for 1 ${token}`,
    moment: 'UTC',
  }
  return html`<tr>
    <th scope="row"><code>${name}</code>${of === 'moment' ? html`, <code>…Ms</code>` : null}</th>
    <td>
      ${of === null ? form : html`<a href="#${anchorOf(of)}">${of}</a>`}${nullable ? ' or null' : null}${optional ? ', not always there' : null}
    </td>
    <td>${units[of ?? ''] ?? unit ?? '–'}</td>
    <td>${prose(meaning)}</td>
  </tr>`
}

/** What fields of many answers are, told once. */
export function sharedParts(document: ApiDocument, token: string): Html {
  const { schemas } = document.components
  return html`<section aria-labelledby="shared" data-chrome>
    <h2 id="shared">What answers share</h2>
    <h3 id="${anchorOf('amount')}">amount</h3>
    <p>
      An amount of ${token} as a text with exactly nine decimals, <code>"12.345678901"</code>; only what is
      corrected or overpaid is negative. Never put it through floating point.
    </p>
    <h3 id="${anchorOf('price')}">price</h3>
    <p>What 1 ${token} costs in USD, as a text with exactly twelve decimals.</p>
    <h3 id="${anchorOf('moment')}">moment</h3>
    <p>
      Always a pair: <code>at</code>, a text in UTC with three decimals
      (<code>"2026-10-01T12:00:00.000Z"</code>), and <code>atMs</code>, the same as milliseconds since 1970.
      Where one is null, so is the other.
    </p>
    ${sharedIn(document).map(
      (name) =>
        html`<h3 id="${anchorOf(name)}">${name}</h3>
          ${schemas[name]?.description === undefined ? null : html`<p>${sentence(schemas[name].description)}</p>`}
          ${fieldsTable(`Fields of ${name}`, fieldsOf(name, document), token)}`,
    )}
  </section>`
}

/** Every problem of the public API, and the document that tells it. */
export function problemParts(document: ApiDocument, token: string): Html {
  const codes = new Set<ProblemCode>([...ANYWHERE, ...ENDPOINTS.flatMap(problemsOf)])
  return html`<section aria-labelledby="problems" data-chrome>
    <h2 id="problems">Problems</h2>
    <p>
      A refusal is <code>application/problem+json</code> (RFC 9457), never kept, and repeats nothing of what
      was sent. A program goes by <code>code</code>. These any endpoint may answer:
      ${ANYWHERE.map((code, index) => html`${index === 0 ? '' : ', '}<code>${code}</code>`)}.
    </p>
    <div class="wide" role="region" aria-label="Problems by code" tabindex="0">
      <table>
        <thead>
          <tr>
            <th scope="col">Code</th>
            <th scope="col">Status</th>
            <th scope="col">What is wrong</th>
          </tr>
        </thead>
        <tbody>
          ${keysOf(PROBLEMS)
            .filter((code) => codes.has(code))
            .map(
              (code) =>
                html`<tr>
                  <th scope="row"><a href="${PROBLEM_BASE}/${code}">${code}</a></th>
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
