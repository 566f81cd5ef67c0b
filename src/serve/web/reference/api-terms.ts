import { SECOND_MS } from '../../../protocol/moment.ts'
import { ALLOWANCE_REQUESTS, ALLOWANCE_WINDOW_MS } from '../../../protocol/parameters.ts'
import { PROBLEMS } from '../../../protocol/problem.ts'
import { problemsOf } from '../../endpoint-problems.ts'
import { costOf, keptOf } from '../../endpoint-terms.ts'
import type { Endpoint } from './api-document.ts'
import { rowOf } from './api-document.ts'
import { prose } from './api-prose.ts'
import type { Html } from '../html.ts'
import { html } from '../html.ts'

/** What an endpoint refuses, how its answer may be kept and what it costs of the allowance. */
export function termsOf(endpoint: Endpoint): Html {
  const row = rowOf(endpoint)
  const codes = problemsOf(row)
  return html`<p class="quiet">
    Refused
    ${codes.length === 0 ? null : html`with ${codes.map((code) => html`${PROBLEMS[code].status} <code>${code}</code>, `)}and`}
    as <a href="#problems">any may be</a>. <a href="#kept">Kept</a> ${prose(keptOf(row))}.
    <a href="#kept">Counts</a> ${costOf(row)}.
  </p>`
}

/** How answers are kept and requests counted, told once. */
export const KEPT_AND_COUNTED: Html = html`<section aria-labelledby="kept" data-chrome>
  <h2 id="kept">What is kept, and what counts</h2>
  <p>
    What is kept for ever is <code>public, max-age=31536000, immutable</code>. What is kept until asked again
    is <code>public, max-age=0, must-revalidate</code>: its <code>ETag</code>, sent back as
    <code>If-None-Match</code>, is answered with 304 and no body while it holds. Problems are
    <code>no-store</code>.
  </p>
  <p>
    An address may ask ${ALLOWANCE_REQUESTS} times in any ${ALLOWANCE_WINDOW_MS / SECOND_MS} seconds, counting
    what is refused or answered with 304. <code>RateLimit: "default";r=59;t=1</code> on an answer says that 59
    are left, and that there is one more in a second; <code>RateLimit-Policy</code> says which allowance it
    is. Beyond it, 429 says by <code>Retry-After</code> in how many seconds to ask again.
  </p>
</section>`
