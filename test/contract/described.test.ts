import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { assertDescribed, assertStreamPartDescribed, type DescribedAnswer } from '../stage/described.ts'
import { EXAMPLES } from '../../src/serve/describe/openapi.ts'

const COMMON = { 'daybook-log': '0a'.repeat(16), 'cache-control': 'no-store' }

/** An answer made of an example, with the changes of a test. */
function answerOf(
  id: string,
  change: Partial<DescribedAnswer> & Readonly<{ also?: object }> = {},
): DescribedAnswer {
  const { request, type, value } = EXAMPLES.find((example) => example.of === id) ?? assert.fail(id)
  const { also = {}, ...rest } = change
  const text = JSON.stringify({ ...Object(value), ...also })
  const headers = new Headers({ ...COMMON, 'content-type': type })
  return { method: 'GET', target: request, status: 200, headers, text, ...rest }
}

const withHeaders = (...more: readonly (readonly [string, string])[]): Headers =>
  new Headers([
    ...Object.entries(COMMON),
    ['content-type', 'application/json'],
    ...more.map(([...pair]) => pair),
  ])

suite('an answer compared with the OpenAPI document', () => {
  test('passes when it fits the description', () => {
    assertDescribed(answerOf('summary'))
    const named = { ...COMMON, 'content-type': 'application/problem+json', 'daybook-request': 'a1' }
    assertDescribed(answerOf('problem', { status: 400, headers: new Headers(named) }))
    assertDescribed(answerOf('summary', { headers: withHeaders(['daybook-seq', '7'], ['etag', 'W/"1"']) }))
  })

  const faults: readonly (readonly [name: string, answer: DescribedAnswer, reason: RegExp])[] = [
    ['a field that is not described', answerOf('summary', { also: { fee: '1' } }), /additional properties/],
    [
      'one inside',
      answerOf('status', { also: { head: { seq: 1 } } }),
      /head must have required property 'at'/,
    ],
    [
      'a value of another form',
      answerOf('summary', { also: { burned: '1.0' } }),
      /burned must match pattern/,
    ],
    ['a field less', answerOf('summary', { text: '{}' }), /must have required property/],
    [
      'another media type',
      answerOf('summary', { headers: new Headers({ ...COMMON, 'content-type': 'text/html' }) }),
      /text\/html/,
    ],
    [
      'a header that is not described',
      answerOf('summary', { headers: withHeaders(['repr-digest', 'x']) }),
      /repr-digest .* is described/,
    ],
    [
      'a header of another form',
      answerOf('summary', { headers: withHeaders(['daybook-seq', 'seven']) }),
      /Daybook-Seq/,
    ],
    [
      'a header less',
      answerOf('summary', { headers: new Headers({ 'content-type': 'application/json' }) }),
      /has the header Daybook-Log/,
    ],
    ['a success that is not described', answerOf('summary', { status: 202 }), /202/],
    ['an address that is not described', answerOf('summary', { target: '/api/v1/sum' }), /not described/],
    [
      'a problem that is a success',
      answerOf('problem', { status: 200, target: '/api/v1/events' }),
      /problem\+json/,
    ],
  ]
  for (const [name, answer, reason] of faults) {
    test(`fails by ${name}`, () => assert.throws(() => assertDescribed(answer), reason))
  }

  test('is not checked for addresses outside the API', () => {
    assertDescribed(answerOf('summary', { target: '/', status: 204 }))
  })
})

suite('a part of a stream', () => {
  const line = JSON.stringify(EXAMPLES.find((example) => example.of === 'event')?.value)
  const position = '{"seq":1,"head":2,"live":false,"at":"2026-10-01T00:00:00.000Z","atMs":1790812800000}'

  test('passes when it fits the description, in both framings', () => {
    assertStreamPartDescribed({ retry: '3000' })
    assertStreamPartDescribed({ id: '64', data: line })
    assertStreamPartDescribed({ event: 'position', id: '1', data: position })
    assertStreamPartDescribed({ data: line })
    assertStreamPartDescribed({ data: `{"position":${position}}` })
  })

  const faults: readonly Readonly<Record<string, string>>[] = [
    { id: '64', data: '{}' },
    { id: 'x', data: line },
    { id: '64', event: 'note', data: line },
    { id: '1', event: 'position', data: line },
    { data: position },
    { data: line.replace('"seq"', '"fee":1,"seq"') },
    { retry: 'soon' },
  ]
  for (const fault of faults) {
    test(`fails as ${JSON.stringify(fault).slice(0, 60)}`, () => {
      assert.throws(() => assertStreamPartDescribed(fault))
    })
  }
})
