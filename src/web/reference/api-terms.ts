import { SECOND_MS } from '../../protocol/moment.ts'
import { ALLOWANCE_REQUESTS, ALLOWANCE_WINDOW_MS } from '../../protocol/parameters.ts'
import { PROBLEMS } from '../../protocol/problem.ts'
import { COMMON_PROBLEMS, problemsOf } from '../../serve/describe/endpoint-problems.ts'
import { costOf, cachingOf } from '../../serve/describe/endpoint-terms.ts'
import type { DocumentedEndpoint } from '../frame/api-document.ts'
import { rowOf } from '../frame/api-document.ts'
import { prose } from '../markup/prose.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'

/** Terms of an endpoint: its problems, caching and cost. */
export function endpointTerms(endpoint: DocumentedEndpoint): Html {
  const row = rowOf(endpoint)
  const codes = problemsOf(row)
  return html`<p class="quiet">
    Refused
    ${codes.length === 0 ? null : html`with ${codes.map((code) => html`${PROBLEMS[code].status} <code>${code}</code>, `)}and`}
    as <a href="#problems">any may be</a>. <a href="#kept">Kept</a> ${prose(cachingOf(row))}.
    <a href="#kept">Counts</a> ${costOf(row)}.
  </p>`
}

/** Paragraphs about caching and the rate limit, as Markdown. */
export const CACHING_AND_COSTS: readonly string[] = [
  'What is kept for ever is `public, max-age=31536000, immutable`. What is kept until asked again is ' +
    '`public, max-age=0, must-revalidate`: its `ETag`, sent back as `If-None-Match`, is answered with 304 and no ' +
    'body while it holds. Problems are `no-store`.',
  `An address may ask ${ALLOWANCE_REQUESTS} times in any ${ALLOWANCE_WINDOW_MS / SECOND_MS} seconds, counting ` +
    'what is refused or answered with 304. `RateLimit: "default";r=59;t=1` on an answer says that 59 are left, and ' +
    'that there is one more in a second; `RateLimit-Policy` says which allowance it is. Beyond it, 429 says by ' +
    '`Retry-After` in how many seconds to ask again.',
]

/** Paragraph about problems in general, as Markdown. */
export const PROBLEMS_INTRODUCTION: string =
  'A refusal is `application/problem+json` (RFC 9457), never kept, and repeats no value that was sent. A program ' +
  `goes by \`code\`. These any endpoint may answer: ${COMMON_PROBLEMS.map((code) => `\`${code}\``).join(', ')}.`
