import assert from 'node:assert/strict'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { type Caching, ENDPOINTS } from '../../../src/protocol/endpoints/endpoints.ts'
import { TARGET_CHARS_MAX } from '../../../src/protocol/parameters.ts'
import { type ProblemCode, PROBLEMS } from '../../../src/protocol/problem.ts'
import { CACHE_CONTROL } from '../../../src/serve/http/headers.ts'
import { csvRows } from '../../contract/csv-rows.ts'
import { assertDescribed } from '../../stage/described.ts'
import { MARK } from './hostile-values.ts'
import type { GeneratedRequest } from './request-generator.ts'

/** An answer as it arrived. The body may be compressed. */
export type ReceivedAnswer = Readonly<{ status: number; headers: Headers; body: Buffer }>

/** Documented statuses of the operations, by path template. */
type DocumentedStatuses = Readonly<Record<string, Readonly<{ get: Readonly<{ responses: object }> }>>>

const CACHING: ReadonlyMap<string, Caching> = new Map(
  ENDPOINTS.map(({ path, caching }) => [path.replace('...}', '}'), caching]),
)
const { immutable, revalidate } = CACHE_CONTROL
/** Values of Cache-Control of a success. */
const CACHED: Readonly<Record<Caching, readonly string[]>> = {
  immutable: [immutable],
  revalidate: [revalidate],
  build: [revalidate],
  'by-range': [immutable, revalidate],
  never: ['no-store, no-transform'],
}
/** Headers that would tell about the software, or make a caller known again. */
const FORBIDDEN_HEADERS = ['server', 'x-powered-by', 'via', 'set-cookie', 'access-control-allow-credentials']
/** Bytes of a request's head that the service always takes. */
const HEAD_BYTES = 7_500
/** Statuses of pages, and of paths that no operation has. */
const PAGE_STATUSES = new Set([200, 303, 304, 308, 400, 404])
const STATUSES_WITHOUT_BODY = new Set([204, 304])

/** Asserts that an answer is what the documents promise for its request, and repeats nothing of it. */
export function assertAnswer(
  request: GeneratedRequest,
  { status, headers, body }: ReceivedAnswer,
  paths: DocumentedStatuses,
): void {
  const { method, target, operation } = request
  assert.ok(status < 500, `status ${status}`)
  assert.ok(isDocumented(request, status, paths), `status ${status} is documented`)
  assert.equal(headers.get('access-control-allow-origin'), '*')
  for (const name of FORBIDDEN_HEADERS) assert.equal(headers.get(name), null, `no header ${name}`)
  const plain = plainBody(headers, body)
  assertNoEcho(request, headers, plain)
  if (method === 'OPTIONS') return
  if (method === 'HEAD' || STATUSES_WITHOUT_BODY.has(status)) assert.equal(body.length, 0, 'no body')
  const caching = headers.get('cache-control') ?? ''
  if (status >= 400) assert.equal(caching, 'no-store')
  else if (operation !== '')
    assert.ok(CACHED[CACHING.get(operation) ?? 'never'].includes(caching), `Cache-Control: ${caching}`)
  // A request that never left the parser gets an answer without a body, and without the headers of the log.
  if ((status === 414 || status === 431) && !headers.has('daybook-log')) return
  const type = headers.get('content-type')?.split(';', 1)[0] ?? ''
  const text = plain.toString()
  assertDescribed({ method, target, status, headers, ...(method === 'HEAD' ? {} : { text }) })
  if (method === 'GET' && type === 'text/csv') assertTable(text)
  if (status < 400) return
  // A path outside the API may get the page of the refusal.
  if (type !== 'text/html' || target.startsWith('/api/')) assert.equal(type, 'application/problem+json')
  else return
  if (method === 'GET') assertProblem(JSON.parse(text) as ProblemDocument, status)
}

/** Whether a status is documented for a request: by its operation, or for a method or path that is no operation's. */
function isDocumented(
  { method, target, headers, operation }: GeneratedRequest,
  status: number,
  paths: DocumentedStatuses,
): boolean {
  // The parser counts the target among the bytes of the headers, and refuses before it knows the method.
  const headBytes = target.length + JSON.stringify(headers).length
  if (status === 431) return headBytes > HEAD_BYTES
  if (status === 414) return target.length > TARGET_CHARS_MAX
  if (method === 'OPTIONS') return status === 204
  if (method !== 'GET' && method !== 'HEAD') return status === 405
  if (target.length > TARGET_CHARS_MAX) return false
  const responses = paths[operation]?.get.responses
  // A path beside an operation's may be another operation's, or a page's.
  if (responses === undefined) return PAGE_STATUSES.has(status)
  return Object.hasOwn(responses, status)
}

type ProblemDocument = Readonly<{
  code: ProblemCode
  status: number
  errors?: readonly Readonly<{ parameter: string; message: string }>[]
}>

/** Asserts that a problem has the status of its code, and that each fault is a sentence about its parameter. */
function assertProblem({ code, status, errors = [] }: ProblemDocument, answered: number): void {
  assert.equal(status, answered)
  assert.equal(PROBLEMS[code].status, answered)
  for (const { parameter, message } of errors) {
    const subject = parameter === 'a parameter' ? 'A parameter ' : `\`${parameter}\` `
    assert.ok(message.startsWith(subject), message)
    assert.match(message, /[.?]$/)
  }
}

function plainBody(headers: Headers, body: Buffer): Buffer {
  if (body.length === 0) return body
  switch (headers.get('content-encoding')) {
    case 'gzip':
      return gunzipSync(body)
    case 'br':
      return brotliDecompressSync(body)
    case 'zstd':
      return zstdDecompressSync(body)
    case null:
      return body
    default:
      return assert.fail('a coding that was not asked for')
  }
}

function assertNoEcho({ target, secrets }: GeneratedRequest, headers: Headers, plain: Buffer): void {
  const head = JSON.stringify([...headers]).toLowerCase()
  const text = plain.toString('latin1').toLowerCase()
  // A page may link the API's answer to the same query, unless it has an address.
  const own = target.startsWith('/api/') ? [MARK.toLowerCase()] : []
  for (const secret of [...own, ...secrets])
    assert.ok(!head.includes(secret) && !text.includes(secret), 'nothing that was sent is repeated')
}

/** Asserts that a CSV has rows of one width, whose cells no spreadsheet takes for a formula. */
function assertTable(text: string): void {
  const rows = csvRows(text)
  const width = rows[0]?.length ?? 0
  for (const row of rows) {
    assert.equal(row.length, width, 'each row has every column')
    for (const cell of row) assert.doesNotMatch(cell, /^(?:[=+@\t\r]|-(?!\d))/, 'no cell begins a formula')
  }
}
