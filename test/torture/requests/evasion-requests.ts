import type { Random } from '../../../sim/random.ts'
import { TARGET_CHARS_MAX } from '../../../src/protocol/parameters.ts'
import type { AllowanceScope } from '../../../src/serve/allowance/allowance.ts'

/** A kind of request: what it counts against, and the statuses of its answer when the allowance is not used up. */
export type EvasionKind = Readonly<{
  scope: AllowanceScope | 'none'
  statuses: readonly number[]
  method: string
  target: string
  lines: readonly string[]
  version: string
  /** Whether the connection ends with its answer. */
  closes: boolean
}>

function kind(
  scope: EvasionKind['scope'],
  statuses: readonly number[],
  request: string,
  ...lines: readonly string[]
): EvasionKind {
  const [method = '', target = '', version = 'HTTP/1.1'] = request.split(' ')
  return { scope, statuses, method, target, lines, version, closes: version === 'HTTP/1.0' }
}
const last = (one: EvasionKind): EvasionKind => ({ ...one, closes: true })

const HOST = 'Host: daybook.test'
const API: readonly EvasionKind[] = [
  // Answers that are kept ready, in every form.
  kind('api', [200], 'GET /api/v1/summary', HOST),
  kind('api', [200], 'GET /api/v1/summary', HOST, 'Accept-Encoding: gzip, br;q=0.9'),
  kind('api', [304], 'GET /api/v1/summary', HOST, 'If-None-Match: *'),
  kind('api', [200], 'GET /api/v1/events/1', HOST),
  kind('api', [304], 'GET /api/v1/events/1', HOST, 'If-None-Match: *'),
  kind('api', [200], 'GET /api/v1/events?limit=3', HOST),
  kind('api', [200], 'GET /api/v1/event-types', HOST, 'Accept-Encoding: zstd'),
  kind('api', [200], 'GET /api/v1/status', HOST),
  kind('api', [200], 'GET /api/v1/openapi.json', HOST),
  kind('api', [200], 'GET /api/v1/flows', HOST),
  kind('api', [200], 'GET /api/v1', HOST),
  // Headers that another server might take for another request.
  kind('api', [200], 'GET /api/v1/summary', HOST, 'X-HTTP-Method-Override: OPTIONS'),
  kind('api', [200], 'GET /api/v1/summary', HOST, 'X-Original-URL: /icon.svg', 'X-Rewrite-URL: /icon.svg'),
  kind('api', [200], 'GET /api/v1/summary', HOST, 'Cache-Control: only-if-cached', 'Purpose: prefetch'),
  last(kind('api', [200], 'GET /api/v1/summary', HOST, 'Expect: 100-continue')),
  kind('api', [200], 'GET /api/v1/summary', 'host: another.test', 'Origin: https://other.test'),
  // Requests without the body of an answer.
  kind('api', [200], 'HEAD /api/v1/summary', HOST),
  kind('api', [200], 'HEAD /api/v1/events?format=csv', HOST),
  kind('api', [304], 'HEAD /api/v1/events/1', HOST, 'If-None-Match: *'),
  // Ranges.
  kind('api', [206], 'GET /api/v1/archive/2026-10.jsonl.gz', HOST, 'Range: bytes=0-9'),
  kind('api', [416], 'GET /api/v1/archive/2026-10.jsonl.gz', HOST, 'Range: bytes=99999999-'),
  kind('api', [200], 'GET /api/v1/archive', HOST),
  // Refusals.
  kind('api', [404], 'GET /api/v1/nothing', HOST),
  kind('api', [404], 'GET /api/v1/events/99999', HOST),
  kind('api', [404], 'GET /api/v1/summary/', HOST),
  kind('api', [404], 'GET /api/v2/summary', HOST),
  kind('api', [404], 'GET /api/v1/../v1/summary', HOST),
  kind('api', [404], 'GET /api/v1/%73ummary', HOST),
  kind('api', [404], 'GET /api/v1/log/tilex', HOST),
  kind('api', [400], 'GET /api/v1/events?limit=x', HOST),
  kind('api', [400], 'GET /api/v1/summary?cb=1', HOST),
  kind('api', [400], 'GET /api/v1/stream?after=x', HOST),
  kind('api', [405], 'DELETE /api/v1/summary', HOST),
  kind('api', [405], 'TRACE /api/v1/summary', HOST),
  kind('api', [405], 'PURGE /api/v1/summary', HOST),
  kind('api', [414], `GET /api/v1/summary?${'x'.repeat(TARGET_CHARS_MAX)}`, HOST),
  last(kind('api', [417], 'GET /api/v1/summary', HOST, 'Expect: 200-ok')),
  last(kind('api', [400], 'GET /api/v1/summary', HOST, HOST)),
  last(kind('api', [200], 'GET /api/v1/summary', HOST, 'Connection: close')),
  last(kind('api', [200], 'GET /api/v1/summary', HOST, 'Connection: upgrade', 'Upgrade: h2c')),
  kind('api', [200], 'GET /api/v1/summary HTTP/1.0'),
  // Files of pages are data of the API.
  kind('api', [200], 'GET /flows.csv', HOST),
  kind('api', [200], 'HEAD /flows.csv', HOST),
  kind('api', [200], 'GET /flows.metadata.json', HOST),
  kind('api', [200], 'GET /schedule.ics', HOST),
  kind('api', [400], 'GET /flows.csv?x=1', HOST),
]
const TILES: readonly EvasionKind[] = [
  kind('tiles', [404], 'GET /api/v1/log/tile/0/x999/999', HOST),
  kind('tiles', [404], 'HEAD /api/v1/log/tile/entries/999', HOST),
  kind('tiles', [404], 'GET /api/v1/log/tile/../../summary', HOST),
  kind('tiles', [404], 'GET /api/v1/log/tile/', HOST),
  kind('tiles', [200], 'GET /api/v1/log/tile/0/000.p/5', HOST),
  kind('tiles', [200], 'GET /api/v1/log/tile/entries/000.p/5', HOST),
  kind('tiles', [405], 'DELETE /api/v1/log/tile/0/000', HOST),
]
const PAGES: readonly EvasionKind[] = [
  kind('pages', [200], 'GET /status', HOST),
  kind('pages', [404], 'GET /nothing', HOST),
  kind('pages', [308], 'GET /contests/1', HOST),
  // Spellings that are no path of the API, so that they must not get its answers.
  kind('pages', [404], 'GET //api/v1/summary', HOST),
  kind('pages', [404], 'GET /API/v1/summary', HOST),
  kind('pages', [404], 'GET /%61pi/v1/summary', HOST),
  kind('pages', [404], 'GET /x/../api/v1/summary', HOST),
  kind('pages', [404], 'GET /;/api/v1/summary', HOST),
  last(kind('pages', [400], 'GET http://daybook.test/api/v1/summary', HOST)),
]
const FREE: readonly EvasionKind[] = [
  kind('none', [204], 'OPTIONS /api/v1/summary', HOST),
  kind('none', [204], 'OPTIONS *', HOST),
  kind('none', [204], 'OPTIONS /status', HOST, 'Access-Control-Request-Method: GET'),
  kind('none', [404], 'GET /assets/nothing.js', HOST),
  kind('none', [200], 'GET /robots.txt', HOST),
  kind('none', [200], 'GET /llms.txt', HOST),
  kind('none', [200, 304], 'GET /api/problems/rate-limited', HOST),
]

/** Share of the API in the requests that `drawKind` draws. */
export const API_SHARE = 0.7

/** Draws a kind of request, mostly of the API. */
export function drawKind(random: Random): EvasionKind {
  const kinds = random.weighted([
    [API, API_SHARE],
    [TILES, 0.1],
    [PAGES, 0.1],
    [FREE, 0.1],
  ] as const)
  return kinds[random.below(kinds.length)] ?? kind('api', [404], 'GET /api/v1/nothing', HOST)
}

/** Asks for nothing, and learns from the refusal what the API allowance has left. */
export const PROBE: EvasionKind = kind('api', [404], 'GET /api/v1/nothing', HOST)

/** Draws a request that opens a stream. */
export function drawStream(random: Random): EvasionKind {
  const target = random.pick([
    '/api/v1/stream',
    '/api/v1/stream?after=0',
    '/api/v1/stream?type=trade&details=1',
    '/live',
  ])
  const scope = target === '/live' ? 'pages' : 'api'
  const accept = random.pick(['text/event-stream', 'application/x-ndjson', '*/*'])
  const cursor = random.chance(0.3) ? ['Last-Event-ID: 3'] : []
  return kind(scope, [200], `GET ${target}`, HOST, `Accept: ${accept}`, ...cursor)
}

/** Bytes of a request with further header lines. */
export function bytesOf({ method, target, version, lines }: EvasionKind, more: readonly string[]): string {
  return [`${method} ${target} ${version}`, ...lines, ...more, '', ''].join('\r\n')
}
