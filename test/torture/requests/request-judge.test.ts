import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { MARK } from './hostile-values.ts'
import type { GeneratedRequest } from './request-generator.ts'
import { assertAnswer, type ReceivedAnswer } from './request-judge.ts'
import { EXAMPLES } from '../../../src/serve/describe/openapi.ts'

const PATHS = { '/api/v1/summary': { get: { responses: { 200: {}, 304: {}, 400: {} } } } }
const ASKED: GeneratedRequest = {
  operation: '/api/v1/summary',
  method: 'GET',
  target: `/api/v1/summary?at=${MARK}`,
  headers: {},
  secrets: ['tokenkegqfez'],
}
const SUMMARY = EXAMPLES.find(({ of }) => of === 'summary')?.value
const COMMON = {
  'access-control-allow-origin': '*',
  'daybook-log': '0a'.repeat(16),
  'content-type': 'application/json',
  'cache-control': 'public, max-age=0, must-revalidate',
}

/** An answer to `ASKED` with the changes of a test. */
function answer(
  body: unknown = SUMMARY,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
): ReceivedAnswer {
  const bytes = body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(JSON.stringify(body))
  return { status, headers: new Headers({ ...COMMON, ...headers }), body: bytes }
}

const problem = (more: object = {}): object => ({
  type: '/api/problems/invalid-parameter',
  title: 'A parameter is not valid',
  status: 400,
  detail: '`at` is wrong.',
  code: 'invalid-parameter',
  ...more,
})
const refused = (
  body: object,
  headers: Readonly<Record<string, string>> = {},
  status = 400,
): ReceivedAnswer => {
  const own = {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'daybook-request': 'a1',
  }
  return answer(body, { ...own, ...headers }, status)
}

suite('the judge of generated requests', () => {
  test('lets pass what the documents promise', () => {
    assertAnswer(ASKED, answer(), PATHS)
    assertAnswer(ASKED, refused(problem()), PATHS)
    assertAnswer(ASKED, answer(gzipSync(JSON.stringify(SUMMARY)), { 'content-encoding': 'gzip' }), PATHS)
  })

  const faults: readonly (readonly [name: string, found: ReceivedAnswer, reason: RegExp])[] = [
    [
      'a failure of the service',
      refused(problem({ status: 500, code: 'internal-error' }), {}, 500),
      /status 500/,
    ],
    [
      'a status that the operation does not have',
      refused(problem({ status: 404 }), {}, 404),
      /404 is documented/,
    ],
    ['what was sent, in a body', refused(problem({ detail: `not ${MARK.toUpperCase()}` })), /is repeated/],
    [
      'what was sent, in a compressed body',
      answer(gzipSync(`"${MARK}"`), { 'content-encoding': 'gzip' }),
      /is repeated/,
    ],
    ['what was sent, in a header', refused(problem(), { link: `<${MARK}>` }), /is repeated/],
    ['a part of an address', refused(problem({ detail: 'xTokenkegQfeZx' })), /is repeated/],
    ['an error that may be cached', refused(problem(), { 'cache-control': 'max-age=60' }), /max-age=60/],
    [
      'a success that may be kept too long',
      answer(SUMMARY, { 'cache-control': 'max-age=60' }),
      /Cache-Control/,
    ],
    ['a body that does not fit its schema', answer({}), /must have required property/],
    ['a problem with the status of another', refused(problem({ code: 'not-found' })), /404/],
    ['a name of its software', answer(SUMMARY, { server: 'x' }), /no header server/],
    [
      'a body that a spreadsheet would run',
      answer(Buffer.from('a,b\r\n1,=1\r\n'), { 'content-type': 'text/csv' }),
      /text\/csv|formula/,
    ],
    ['no permission for other sites', answer(SUMMARY, { 'access-control-allow-origin': 'x' }), /x/],
  ]
  for (const [name, found, reason] of faults)
    test(`finds ${name}`, () => assert.throws(() => assertAnswer(ASKED, found, PATHS), reason))

  test('finds a body of HEAD', () => {
    assert.throws(() => assertAnswer({ ...ASKED, method: 'HEAD' }, answer(), PATHS), /no body/)
  })
})
