import {
  ALLOWANCE_REQUESTS,
  ALLOWANCE_WINDOW_MS,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
} from '../../protocol/parameters.ts'
import { type Endpoint, ENDPOINTS } from '../../protocol/endpoints/endpoints.ts'
import { FRICTIONLESS_PATH, ENDPOINT_PATHS } from '../../protocol/paths.ts'
import { NOTICE, SUBJECT } from './information.ts'
import { PROBLEM_BASE } from '../http/problem-document.ts'
import type { AnswerRoute } from '../http/route.ts'

const TYPE = 'text/plain; charset=utf-8'

/** Route of `/llms.txt`, a guide to the API for language models. */
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

/** The text in the format of llmstxt.org: title, summary, notes, then lists of links. */
function llmsText(): string {
  const { openapi, asyncapi, eventTypes, events, stream, archive, status } = ENDPOINT_PATHS
  return `# Daybook

> ${SUBJECT}. Read-only, without a key, open to every site. ${NOTICE}

Before you send a request:

- All paths are relative to the host of this text. GET and HEAD only. Answers are JSON unless noted.
- Amounts are strings with nine decimals, prices with twelve. Never convert them to floating point. A moment is a pair,
  \`at\` (ISO 8601, UTC, three decimals) and \`atMs\` (milliseconds since 1970). Ranges are half-open.
- An event has exactly eight keys: seq, type, kind, at, atMs, contestId, kots, tx. It never changes. A later event of type
  correction cancels a mistake. Seqs are contiguous from 1.
- Request figures instead of adding up events: summary, flows, funds, contests and patterns are computed already, also
  as of a past moment. The sum of type=payout is wrong: it has refunds and loyalty payments, and no corrections. If you
  must add events, request type=payout,correction with details=1. A correction has a negative amount, and counts in the
  figure of the event that \`corrects\` in its details names. paidInPrizes leaves out the kinds refund and loyalty.
- To page, follow \`page.next\` (or \`next\`) until it is null. Only \`page.hasMore: false\` means the end: with
  \`nonzero\` an earlier page may be short or empty. A page of events has ${PAGE_LIMIT_DEFAULT} by default and ${PAGE_LIMIT_MAX} at most.
- \`type\`, \`kind\` and \`contestId\` take lists, and indexes find their events: ${events}?contestId=ID&limit=${PAGE_LIMIT_MAX}
  has up to ${PAGE_LIMIT_MAX} events of one contest; follow \`page.next\` for the rest.
- Prices, titles and what a correction corrects are details of events: add details=1 to ${events} or ${stream}.
- To find a payment by its transaction, request ${events}?tx=ID. The answer has every event that names it.
- To follow the log, do not poll: open ${stream}?after=SEQ with \`Accept: application/x-ndjson\`
  for JSON lines, or as Server-Sent Events. After a break, resume after the last seq received, of an event or a position.
- For the whole history, read the month files of ${archive}, then the stream after their last event.
- ${ALLOWANCE_REQUESTS} requests in any ${ALLOWANCE_WINDOW_MS / 1000} seconds per caller address, unless the
  operator says otherwise (RateLimit-Policy); then 429 with a true Retry-After. Events of a stream are free. Answers that
  never change are marked immutable: cache them.
- An unknown parameter, a value out of bounds, or a second value for a parameter that takes one, gets 400 and a problem
  (RFC 9457) that names the parameter and the allowed values. Lists take commas or repeated parameters. ${PROBLEM_BASE}/{code} explains each problem and its cure.
- The header Daybook-Mirror names the service that a mirror follows. A mirror has the same events and answers.
- The header Daybook-Simulated and ${status} tell whether the platform is simulated.

## Descriptions

- [Reference](/api.md): every endpoint with its parameters, a curl request, the fields of its answer and its problems, in
  Markdown
- [OpenAPI 3.1](${openapi}): every endpoint, parameter and answer, with examples
- [AsyncAPI 3.0](${asyncapi}): the stream
- [Event types](${eventTypes}): each type and kind with its meaning and a JSON Schema
- [Data Package](${FRICTIONLESS_PATH}): every file and column, with types, units and digests

## Endpoints

${ENDPOINTS.map(lineOf).join('\n')}

## Optional

- [Latest events](${events}?order=desc&limit=20): the newest 20
- [Payments as CSV](${events}?type=payout&format=csv): every payout with its transaction, in one file
`
}

/** Line of an endpoint. A path with variable parts is no link. */
function lineOf({ path, meaning, parameters }: Endpoint): string {
  const place = path.includes('{') ? `\`${path}\`` : `[${path}](${path})`
  const names = parameters.map(({ name }) => name).join(', ')
  return `- ${place}: ${meaning}${names === '' ? '' : `. Parameters: ${names}`}`
}
