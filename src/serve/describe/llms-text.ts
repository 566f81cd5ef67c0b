import {
  ALLOWANCE_REQUESTS,
  ALLOWANCE_WINDOW_MS,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
} from '../../protocol/parameters.ts'
import type { Endpoint } from '../../protocol/endpoints/endpoint.ts'
import { ENDPOINTS } from '../../protocol/endpoints/endpoints.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import { NOTICE, SUBJECT } from './information.ts'
import { PROBLEM_BASE } from '../http/problem-document.ts'
import type { AnswerRoute } from '../http/route.ts'

const TYPE = 'text/plain; charset=utf-8'

/** `/llms.txt`: what a language model needs to use the service well. */
export function llmsRoute(): AnswerRoute {
  const body = llmsText()
  return {
    path: '/llms.txt',
    parameters: [],
    allowance: 'none',
    brief: true,
    handle: () => ({ is: 'body', keep: 'revalidate', etag: 'of-content', type: TYPE, body }),
  }
}

/** The text in the form of llmstxt.org: a title, a summary, what to know, then lists of links. */
function llmsText(): string {
  const { openapi, asyncapi, eventTypes, events, stream, archive, status } = ENDPOINT_PATHS
  return `# Daybook

> ${SUBJECT}. Read-only, without a key, open to every site. ${NOTICE}

What to know before asking:

- Every address is relative to where this text was found. GET and HEAD only. Answers are JSON unless said otherwise.
- Amounts are strings with nine decimals, prices with twelve: never put them through floating point. A moment is a pair,
  \`at\` (ISO 8601, UTC, three decimals) and \`atMs\` (milliseconds since 1970). Ranges are half-open.
- An event has exactly eight keys: seq, type, kind, at, atMs, contestId, kots, tx. It never changes; a mistake is put right
  by a further event of type correction. Seqs are contiguous from 1.
- Ask for figures rather than adding events up: summary, flows, funds, contests and patterns are computed already, also
  as of a past moment.
- To page, follow \`page.next\` (or \`next\`) until it is null. Only \`page.hasMore: false\` means the end: a page may be short or
  empty before it. A page of events has ${PAGE_LIMIT_DEFAULT} by default and ${PAGE_LIMIT_MAX} at most.
- A payment is found by its transaction: ${events}?tx=ID, whose one answer has every event that names it.
- To follow, do not poll: open ${stream}?after=SEQ with \`Accept: application/x-ndjson\`
  for JSON lines, or as Server-Sent Events. After a break, go on with the last seq taken in, those of positions included.
- For all of history take the months' files of ${archive}, then the stream after the last of them.
- ${ALLOWANCE_REQUESTS} requests in any ${ALLOWANCE_WINDOW_MS / 1000} seconds per caller address; then 429 with a true
  Retry-After. Events of a stream cost nothing. Answers that never change say so: keep them.
- An unknown parameter, a repeated one and a value out of bounds are refused with 400 and a problem (RFC 9457) that names
  the parameter and what is allowed. Problems are explained below ${PROBLEM_BASE}/.
- A platform that is simulated says so in the header Daybook-Simulated and in ${status}.

## Descriptions

- [Reference](/api.md): every endpoint with its parameters, a request by curl, each field of its answer and what it refuses, as
  Markdown
- [OpenAPI 3.1](${openapi}): every endpoint, parameter and answer, with examples
- [AsyncAPI 3.0](${asyncapi}): the stream
- [Types of events](${eventTypes}): what each type and kind says, with a JSON Schema

## Endpoints

${ENDPOINTS.map(lineOf).join('\n')}

## Optional

- [The last events](${events}?order=desc&limit=20): what happened last
- [Payments as CSV](${events}?type=payout&format=csv): each with its transaction, a page of them; the header Link leads to the next
`
}

/** An address with variable parts is no link: nothing stands there. */
function lineOf({ path, meaning, parameters }: Endpoint): string {
  const place = path.includes('{') ? `\`${path}\`` : `[${path}](${path})`
  const names = parameters.map(({ name }) => name).join(', ')
  return `- ${place}: ${meaning}${names === '' ? '' : `. Parameters: ${names}`}`
}
