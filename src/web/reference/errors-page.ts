import { keysOf } from '../../protocol/brand.ts'
import { type ProblemCode, PROBLEMS, PUBLISHING_PROBLEMS, READING_PROBLEMS } from '../../protocol/problem.ts'
import { PROBLEM_CURES } from '../../serve/describe/problem-cures.ts'
import { ERRORS_PATH } from '../../serve/http/problem-document.ts'
import type { Page } from '../frame/page.ts'
import { type Html, html } from '../markup/html.ts'
import { prose } from '../markup/prose.ts'

/**
 * Page `/errors`: every problem with its cause and its cure. A browser that opens a problem's `type` is redirected
 * here.
 */
export const errorsPage: Page<null> = {
  endpoint: null,
  path: ERRORS_PATH,
  isStatic: true,
  title: () => 'Errors',
  permalink: () => ERRORS_PATH,
  render: () =>
    html`<p class="lead">Every error of the API and of publishing: its cause, and what to do.</p>
      <p data-chrome>
        An error is a JSON document (RFC 9457). Only a request that is not well-formed HTTP gets a bare status
        without a body: 400, 408, 414, 417 or 431. Programs use its <code>code</code>, which never changes,
        and people read its <code>detail</code>. <a href="/api#problems">The reference has its fields</a>, and
        <a data-json href="/api/v1/openapi.json">the OpenAPI document</a> lists the codes of each endpoint.
      </p>
      <nav aria-label="Contents" data-chrome>
        <dl class="terms">
          ${GROUPS.map(
            ({ id, name, codes }) =>
              html`<dt><a href="#${id}">${name}</a></dt>
                <dd>
                  <ul class="index">
                    ${codes.map((code) => html`<li><a href="#${code}">${code}</a></li>`)}
                  </ul>
                </dd>`,
          )}
        </dl>
      </nav>
      ${GROUPS.map(groupOf)}`,
}

type Group = Readonly<{ id: string; name: string; codes: readonly ProblemCode[] }>

const GROUPS: readonly Group[] = [
  { id: 'reading', name: 'Reading', codes: keysOf(READING_PROBLEMS) },
  { id: 'publishing', name: 'Publishing', codes: keysOf(PUBLISHING_PROBLEMS) },
]

function groupOf({ id, name, codes }: Group): Html {
  return html`<section data-chrome aria-labelledby="${id}">
    <h2 id="${id}">${name}</h2>
    <dl class="terms">
      ${codes.map(
        (code) =>
          html`<dt id="${code}"><code>${code}</code> (${PROBLEMS[code].status})</dt>
            <dd>
              ${prose(PROBLEM_CURES[code].meaning)} <b>What to do:</b> ${prose(PROBLEM_CURES[code].cure)}
            </dd>`,
      )}
    </dl>
  </section>`
}
