import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { isTargetTooLong, partsOf, readPlainRequest } from './request-form.ts'

suite('the parts of a target', () => {
  for (const [target, name] of [
    ['/a', '/a'],
    ['/a?', '/a'],
    ['/a?&', '/a'],
    ['/a?&&&', '/a'],
    ['/a?x=1', '/a?x=1'],
    ['/a?&x=1', '/a?x=1'],
    ['/a?x=1&', '/a?x=1'],
    ['/a?x=1&&y=2', '/a?x=1&y=2'],
    ['/a?=&x', '/a?=&x'],
    ['/a??x&', '/a??x'],
  ] as const) {
    test(`of ${target} name the answer ${name}`, () => {
      const parts = partsOf(target)
      assert.equal(parts.target, name)
      assert.equal(parts.rawQuery === '' ? parts.path : `${parts.path}?${parts.rawQuery}`, name)
    })
  }

  test('have the pairs that the parser of WHATWG finds, and no others', () => {
    const text = fc.array(fc.constantFrom('&', '&', '=', 'a', 'b', '?', '+')).map((chars) => chars.join(''))
    fc.assert(
      fc.property(text, (query) => {
        const { rawQuery } = partsOf(`/a?${query}`)
        const pairs = rawQuery === '' ? [] : rawQuery.split('&')
        assert.ok(pairs.every((pair) => pair !== ''))
        assert.deepEqual(
          pairs.map((pair) => [...new URLSearchParams(`&${pair}`)][0]),
          [...new URL(`http://a.example/a?${query}`).searchParams],
        )
      }),
    )
  })
})

function request(headers: readonly string[], parts: Readonly<Record<string, unknown>> = {}): IncomingMessage {
  return { method: 'GET', httpVersionMinor: 1, rawHeaders: headers, ...parts } as unknown as IncomingMessage
}

suite('a plain request', () => {
  test('is read in one pass, in any letter case', () => {
    const headers = ['HOST', 'a', 'Accept-encoding', 'gzip', 'accept', '*/*', 'if-none-MATCH', '"x"']
    assert.deepEqual(readPlainRequest(request(headers)), {
      ifNoneMatch: '"x"',
      accept: '*/*',
      acceptEncoding: 'gzip',
    })
  })

  const host = ['Host', 'a']
  const others: readonly (readonly [string, IncomingMessage])[] = [
    ['has no Host', request([])],
    ['has two Hosts', request([...host, 'host', 'b'])],
    ['is HEAD', request(host, { method: 'HEAD' })],
    ['uses HTTP/1.0', request(host, { httpVersionMinor: 0 })],
    ['announces a body', request([...host, 'Content-Length', '0'])],
    ['is chunked', request([...host, 'Transfer-Encoding', 'chunked'])],
    ['expects 100-continue', request([...host, 'Expect', '100-continue'])],
    ['wants another protocol', request([...host, 'Upgrade', 'websocket'])],
    ['has two If-None-Match headers', request([...host, 'If-None-Match', '"a"', 'If-None-Match', '"b"'])],
    ['has a further condition', request([...host, 'If-Match', '*'])],
    ['has two Accept headers', request([...host, 'Accept', '*/*', 'Accept', 'text/csv'])],
    [
      'has two Accept-Encoding headers',
      request([...host, 'Accept-Encoding', 'gzip', 'Accept-Encoding', 'br']),
    ],
    ['has 100 headers', request([...host, ...Array.from({ length: 198 }, () => 'x')])],
  ]
  for (const [name, one] of others) {
    test(`is not one that ${name}`, () => assert.equal(readPlainRequest(one), undefined))
  }
})

const LONG = 'x'.repeat(9_000)
const FORMER = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

suite('a request too long for the parser', () => {
  const cases: readonly (readonly [name: string, taken: string, rest: string, isTarget: boolean])[] = [
    ['has a long target', `GET /${LONG}`, ' HTTP/1.1\r\n', true],
    ['has a long target in two packets', LONG, ' HTTP/1.1\r\n', true],
    ['has a long target that continues', LONG, '', true],
    ['has a long target after an earlier request', `${FORMER}GET /${LONG}`, ' HTTP/1.1\r\n', true],
    ['has a long target and one header too many', `GET /${LONG} HTTP/1.1\r\nHost: a`, '\r\n', true],
    ['has a long header', `GET / HTTP/1.1\r\nX: ${LONG}`, '\r\n', false],
    ['has a long header in two packets', LONG, '\r\n\r\n', false],
    ['has many headers in two packets', `xx\r\nX-A: ${LONG}`, '', false],
    ['has a long header of words that continues', `${LONG} ${LONG}`, '', false],
    ['has a long header after an earlier request', `${FORMER}GET / HTTP/1.1\r\nX: ${LONG}`, '\r\n', false],
  ]
  for (const [name, taken, rest, isTarget] of cases) {
    test(`${name}: ${isTarget ? 414 : 431}`, () => {
      assert.equal(isTargetTooLong(Buffer.from(taken + rest), taken.length, false), isTarget)
    })
  }

  test('has a long header in more than two packets, of which an earlier one had the target: 431', () => {
    assert.equal(isTargetTooLong(Buffer.from(LONG), LONG.length, true), false)
  })
})
