import { SECOND_MS } from '../../protocol/moment.ts'
import { ALLOWANCE_REQUESTS, ALLOWANCE_WINDOW_MS } from '../../protocol/parameters.ts'
import { PROBLEMS } from '../../protocol/problem.ts'
import { COMMON_PROBLEMS, problemsOf } from '../../serve/describe/endpoint-problems.ts'
import { costOf, cachingOf } from '../../serve/describe/endpoint-terms.ts'
import { type DocumentedEndpoint, rowOf } from '../frame/api-document.ts'
import { prose } from '../markup/prose.ts'
import { type Html, html } from '../markup/html.ts'

/** Terms of an endpoint: its problems, caching and cost. */
export function endpointTerms(endpoint: DocumentedEndpoint): Html {
  const row = rowOf(endpoint)
  const codes = problemsOf(row)
  return html`<p class="quiet">
    Errors:
    ${codes.length === 0 ? null : html`${codes.map((code) => html`${PROBLEMS[code].status} <code>${code}</code>, `)}and`}
    <a href="#problems">those of every endpoint</a>. <a href="#kept">Caching</a>: ${prose(cachingOf(row))}.
    <a href="#kept">Rate limit</a>: ${costOf(row)}.
  </p>`
}

/** Paragraphs about caching and the rate limit, as Markdown. */
export const CACHING_AND_COSTS: readonly string[] = [
  'Answers that never change are `public, max-age=31536000, immutable`. Others are ' +
    '`public, max-age=0, must-revalidate`: send their `ETag` back as `If-None-Match`, and you get 304 without a ' +
    'body while nothing has changed. Errors and streams are `no-store`.',
  `Each address has ${ALLOWANCE_REQUESTS} requests in any ${ALLOWANCE_WINDOW_MS / SECOND_MS} seconds, unless the ` +
    'operator says otherwise: `RateLimit-Policy` has the allowance of this service. Refused requests and 304 count ' +
    'too. `RateLimit: "default";r=59;t=1` on an answer says that 59 are left, and that one more comes in a second. ' +
    'When none is left, the answer is 429, and `Retry-After` says how many seconds to wait.',
]

/** Paragraph about problems in general, as Markdown. */
export const PROBLEMS_INTRODUCTION: string =
  'An error is `application/problem+json` (RFC 9457), is never cached, and repeats no value that was sent. ' +
  `Programs use its \`code\`. Every endpoint may answer: ${COMMON_PROBLEMS.map((code) => `\`${code}\``).join(', ')}.`
