import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../test/stage/api-stage.ts'
import { getRequest, sendRaw } from '../../test/stage/raw-request.ts'
import { PROBLEMS } from '../protocol/problem.ts'
import type { Route } from './http/route.ts'

const ADDRESSES = [
  '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
  '0x52908400098527886E0F7030069857D2E4169EE7',
  'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
]

const failing: Route = {
  path: '/failing',
  parameters: [],
  allowance: 'none',
  handle() {
    throw new Error('this route fails')
  },
}

const waiting: Route = {
  path: '/waiting',
  parameters: [],
  allowance: 'none',
  streaming: true,
  handle: ({ response }) => {
    response.writeHead(200)
    response.write('first')
    return { is: 'streamed' }
  },
}

/** Promises that `/gated` waits for, one for each request. */
const gates: Promise<void>[] = []

const gated: Route = {
  path: '/gated',
  parameters: [],
  allowance: 'none',
  brief: true,
  async handle() {
    await gates.shift()
    return { is: 'body', keep: 'no-store', etag: null, type: 'text/plain', body: 'the gate is open' }
  },
}

suite('the public listener', () => {
  let stage: ApiStage
  before(async () => {
    stage = await openApiStage({ routes: [failing, gated, waiting] })
  })
  after(() => stage[Symbol.asyncDispose]())

  const line = (target: string, headers: readonly string[] = []) =>
    [`GET ${target} HTTP/1.1`, ...headers, '', ''].join('\r\n')
  const host = 'Host: daybook.test'

  const hostile: readonly (readonly [name: string, bytes: string, status: number])[] = [
    ['a request without a Host', line('/api/v1/events'), 400],
    ['a request with two Hosts', line('/api/v1/events', [host, 'Host: evil.test']), 400],
    ['no version', `GET /api/v1/summary\r\n${host}\r\nConnection: keep-alive\r\n\r\n`, 400],
    ['the version 0.9', `GET /api/v1/summary HTTP/0.9\r\n${host}\r\n\r\n`, 400],
    ['the version 2.0', `GET /api/v1/summary HTTP/2.0\r\n${host}\r\n\r\n`, 400],
    ['a proxy target', line('http://evil.test/api/v1/summary', [host]), 400],
    ['a target with another host', getRequest('//evil.test/api/v1/summary'), 404],
    ['backslashes for slashes', getRequest('/api\\v1\\summary'), 404],
    ['a double slash', getRequest('/api/v1//events'), 404],
    ['a trailing slash', getRequest('/api/v1/events/'), 404],
    ['capitals', getRequest('/API/v1/events'), 404],
    ['a semicolon', getRequest('/api/v1/events;x=1'), 404],
    ['an encoded letter', getRequest('/api/v1/event%73'), 404],
    ['a style sheet under an answer', getRequest('/api/v1/summary/x.css'), 404],
    ['an encoded slash', getRequest('/api/v1/summary%2fx.js'), 404],
    ['path traversal', getRequest('/api/v1/archive/../../etc/passwd'), 404],
    ['a tab in the target', getRequest('/api/v1/\tsummary'), 400],
    ['a NUL in the target', getRequest('/api/v1/\0summary'), 400],
    ['a space in the target', getRequest('/api/v1/ summary'), 400],
    ['raw bytes in the target', getRequest('/api/v1/summar\xff'), 400],
    ...['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PURGE', 'QUERY'].map(
      (method) => [`the method ${method}`, getRequest('/api/v1/events', [], method), 405] as const,
    ),
    ['an unknown method', getRequest('/api/v1/events', [], 'FETCH'), 400],
    ['a tunnel', 'CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n', 405],
    ['a body', getRequest('/api/v1/summary', ['Content-Length: 2']) + '{}', 400],
    ['a chunked body', getRequest('/api/v1/summary', ['Transfer-Encoding: chunked']) + '0\r\n\r\n', 400],
    [
      'a body that is announced',
      getRequest('/api/v1/summary', ['Content-Length: 9', 'Expect: 100-continue']),
      400,
    ],
    [
      'two lengths of a body',
      getRequest('/api/v1/summary', ['Content-Length: 3', 'Transfer-Encoding: chunked']),
      400,
    ],
    ['an unknown transfer coding', getRequest('/api/v1/summary', ['Transfer-Encoding: xchunked']), 400],
    ['two transfer codings', getRequest('/api/v1/summary', ['Transfer-Encoding: chunked, identity']), 400],
    ['an expectation', getRequest('/api/v1/summary', ['Expect: a-miracle']), 417],
    ['bare line feeds', `GET /api/v1/summary HTTP/1.1\n${host}\n\n`, 400],
    ['a space before a colon', getRequest('/api/v1/summary', ['X-A : x']), 400],
    ['a folded header', getRequest('/api/v1/summary', ['X-A: x', ' y']), 400],
    ['a carriage return in a header', getRequest('/api/v1/summary', ['X-A: x\ry']), 400],
    ['headers that are too long', getRequest('/api/v1/summary', [`X-A: ${'x'.repeat(9000)}`]), 431],
    ['a header of many packets', getRequest('/api/v1/summary', [`X-A: ${'x'.repeat(70_000)}`]), 431],
    ['a target that is too long', getRequest(`/api/v1/summary?${'x'.repeat(4_081)}`), 414],
    ['a target that is too long for the parser', getRequest(`/api/v1/summary?${'x'.repeat(9000)}`), 414],
    ['a target that is too long without a route', getRequest(`/nothing/${'x'.repeat(4_100)}`), 414],
    ['the longest allowed target', getRequest(`/${'x'.repeat(4_095)}`), 404],
    [
      'more headers than are kept',
      getRequest(
        '/api/v1/summary',
        Array.from({ length: 120 }, (_, index) => `X-${index}: x`),
      ),
      431,
    ],
    [
      'a wish to upgrade',
      getRequest('/api/v1/summary', ['Upgrade: websocket', 'Connection: Upgrade, close']),
      200,
    ],
    ['names of object properties', getRequest('/api/v1/summary', ['__proto__: x', 'constructor: y']), 200],
    ['an HTML page', getRequest('/api/v1/summary', ['Accept: text/html']), 200],
    ['no acceptable type', getRequest('/api/v1/summary', ['Accept: */*;q=0']), 200],
    ['an older client without a Host', 'GET /api/v1/summary HTTP/1.0\r\n\r\n', 200],
    ['an empty body', getRequest('/api/v1/summary', ['Content-Length: 0']), 200],
  ]
  for (const [name, bytes, status] of hostile) {
    test(`answers ${name} with ${status}, open to every site, and closes`, async () => {
      const { text } = await sendRaw(stage.port, bytes)
      assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `), text.slice(0, 200))
      assert.match(text, /\r\nAccess-Control-Allow-Origin: \*\r\n/)
      assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1, 'one answer')
      if (status >= 400) assert.match(text, /\r\nCache-Control: no-store\r\n|Content-Length: 0\r\n/)
      assert.equal(Reflect.get({}, 'x'), undefined)
    })
  }

  test('lists the allowed methods when it refuses another', async () => {
    const { text } = await sendRaw(stage.port, getRequest('/api/v1/events', [], 'POST'))
    assert.match(text, /\r\nAllow: GET, HEAD, OPTIONS\r\n/)
  })

  test('answers a preflight of any address with the allowed methods, for a day', async () => {
    const headers = ['Origin: https://a.test', 'Access-Control-Request-Method: GET']
    for (const target of ['/api/v1/events', '/api/v1/nothing', '/', '*']) {
      const { text } = await sendRaw(stage.port, getRequest(target, headers, 'OPTIONS'))
      assert.match(text, /^HTTP\/1\.1 204 /)
      assert.match(text, /\r\nAccess-Control-Allow-Methods: GET, HEAD, OPTIONS\r\n/)
      assert.match(text, /\r\nAccess-Control-Allow-Headers: \*\r\n/)
      assert.match(text, /\r\nAccess-Control-Max-Age: 86400\r\n/)
      assert.match(text, /\r\nAccess-Control-Allow-Origin: \*\r\n/)
    }
  })

  test('sends the headers that browsers need with every answer, and none about its software', async () => {
    for (const path of ['/api/v1/summary', '/api/v1/events/1', '/api/v1/nothing']) {
      const { headers } = await stage.get(path)
      assert.equal(headers.get('cross-origin-resource-policy'), 'cross-origin')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'/)
      assert.match(headers.get('access-control-expose-headers') ?? '', /ETag.*Daybook-Log/)
      for (const name of ['server', 'x-powered-by', 'set-cookie', 'access-control-allow-credentials']) {
        assert.equal(headers.has(name), false, name)
      }
    }
  })

  test('repeats nothing that it is sent', async () => {
    for (const address of ADDRESSES) {
      for (const request of [
        getRequest(`/api/v1/events/${address}`),
        getRequest(`/${address}`),
        getRequest(`/api/v1/events?after=${address}`),
        getRequest(`/api/v1/events?${address}=1`),
        getRequest('/api/v1/summary', [`Origin: https://${address}.test`, `Last-Event-ID: ${address}`]),
        getRequest('/api/v1/summary', [`If-None-Match: "${address}"`, `Accept-Encoding: ${address}`]),
        getRequest('/api/v1/summary', [`X-Forwarded-For: ${address}`], 'OPTIONS'),
        getRequest('/api/v1/summary', [], address.slice(0, 8)),
      ]) {
        const { text } = await sendRaw(stage.port, request)
        assert.ok(!text.includes(address.slice(0, 12)), text)
      }
    }
  })

  test('reports its own failures and tells the caller only that there was one', async () => {
    const response = await stage.get('/failing')
    assert.equal(response.status, PROBLEMS['internal-error'].status)
    assert.ok(!(await response.text()).includes('this route fails'))
    assert.deepEqual(
      stage.reported.map((error) => error instanceof Error && error.message),
      ['this route fails'],
    )
  })

  test('writes no second answer into an answer in progress', async () => {
    const begun = line('/waiting', [host])
    const { text } = await sendRaw(stage.port, begun, { text: 'garbage\r\n\r\n', everyMs: 50, waitMs: 3_000 })
    assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1)
    assert.match(text, /^HTTP\/1\.1 200 [^]*first/)
  })

  test('gives one answer and runs nothing else, whatever follows an expectation', async () => {
    const expecting = line('/api/v1/summary', [host, 'Expect: a-miracle'])
    for (const behind of ['garbage\r\n\r\n', line('/failing', [host])]) {
      const { text } = await sendRaw(stage.port, expecting + behind)
      assert.match(text, /^HTTP\/1\.1 417 [^]*\r\nCache-Control: no-store\r\n/)
      assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1)
    }
    assert.equal(stage.reported.length, 1, 'only the failure of another test')
  })

  test('closes after a request that wants another protocol, because Node drops bytes behind it', async () => {
    const wish = line('/api/v1/events/1', [host, 'Upgrade: websocket', 'Connection: Upgrade'])
    const { text } = await sendRaw(stage.port, wish + line('/api/v1/events/2', [host]).repeat(200))
    assert.match(text, /^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/)
    assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1)
  })

  test('counts a connection with broken syntax once, however much follows', async () => {
    const counted = async (): Promise<number> =>
      Number(/client_errors_total\{reason="syntax"\} (\d+)/.exec(await stage.metrics.metrics())?.[1] ?? 0)
    const first = await counted()
    await sendRaw(stage.port, `garbage ${'x'.repeat(60_000)}\r\n\r\n`)
    assert.equal(await counted(), first + 1)
  })

  test('answers the requests before broken syntax, then closes', async () => {
    const { text } = await sendRaw(stage.port, `${line('/api/v1/summary', [host])}garbage\r\n\r\n`)
    assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1)
    assert.match(text, /^HTTP\/1\.1 200 [^]*"asOf"/)
  })

  for (const [name, tail] of [
    ['broken syntax', 'garbage\r\n\r\n'],
    ['a tunnel', 'CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n'],
  ] as const) {
    test(`gives every answer requested before ${name} on the same connection, then closes`, async () => {
      const gate = Promise.withResolvers<void>()
      gates.push(gate.promise)
      const answered = sendRaw(
        stage.port,
        `${line('/gated', [host])}${line('/api/v1/events/1', [host])}${tail}`,
      )
      // Other requests are answered meanwhile, so the server has read what follows the first one.
      for (let asked = 0; asked < 3; asked += 1) await stage.get('/api/v1/summary')
      gate.resolve()
      const { text } = await answered
      assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200'])
      assert.match(text, /the gate is open[^]*\{"seq":1,/)
    })
  }

  test('answers pipelined requests in their order', async () => {
    const { text } = await sendRaw(
      stage.port,
      line('/api/v1/events/1', [host]) + line('/api/v1/event-types', [host]) + getRequest('/api/v1/events/2'),
    )
    const [first, second, third] = ['{"seq":1,', '{"asOf":', '{"seq":2,'].map((body) => text.indexOf(body))
    assert.ok(first !== undefined && second !== undefined && third !== undefined)
    assert.ok(0 < first && first < second && second < third)
  })

  test('counts answers by the template of their route', async () => {
    const metrics = await stage.metrics.metrics()
    assert.match(
      metrics,
      /daybook_http_requests_total\{route="\/api\/v1\/events\/\{seq\}",method="GET",code="200"\} \d/,
    )
    assert.match(metrics, /daybook_http_client_errors_total\{reason="headers"\} \d/)
    assert.doesNotMatch(metrics, /evil/)
  })
})
