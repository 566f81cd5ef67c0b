import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

const ask = (path: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${stage.port}${path}`, { redirect: 'manual' })

suite('an API path without a page of its own', () => {
  for (const [path, to, status] of [
    ['/events/1/details', '/events/1', 200],
    ['/events/1/corrections', '/events/1', 200],
    ['/event-types', '/api#eventTypes', 200],
    ['/event-types/payout', '/api#eventType', 200],
    ['/archive/2026-10.jsonl.gz', '/archive', 200],
    ['/archive/SHA256SUMS', '/archive', 200],
    ['/log/proof/3', '/verify?seq=3', 200],
    ['/log/checkpoint', '/verify', 200],
    ['/log/tile/0/000', '/verify', 200],
    ['/openapi.json', '/api/v1/openapi.json', 200],
    ['/asyncapi.json', '/api/v1/asyncapi.json', 200],
    ['/events/first/details', '/events/first', 404],
  ] as const) {
    test(`${path} redirects to ${to}`, async () => {
      const response = await ask(path)
      assert.equal(response.status, 308)
      assert.equal(response.headers.get('location'), to)
      const led = await stage.get(to)
      assert.equal(led.status, status)
      const [, anchor] = to.split('#')
      if (anchor !== undefined) assert.ok((await led.text()).includes(` id="${anchor}"`))
    })
  }
})

suite("a contest's own address", () => {
  const led: readonly (readonly [path: string, to: string])[] = [
    ['/contests/1', '/contests/1/ledger'],
    ['/contests/1.json', '/api/v1/contests/1'],
    ['/contests/1.png', '/contests/1/ledger.png'],
    // A contest that does not exist yet.
    ['/contests/99', '/contests/99/ledger'],
  ]
  for (const [path, to] of led) {
    test(`${path} redirects to ${to} permanently`, async () => {
      const response = await ask(path)
      assert.equal(response.status, 308)
      assert.equal(response.headers.get('location'), to)
    })
  }

  for (const path of ['/contests/x', '/contests/007', '/contests/...', '/contests/1.', '/contests/1.html']) {
    test(`${path} names no contest: the error page is that of the ledger`, async () => {
      const response = await ask(path)
      assert.equal(response.status, 404)
      assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
      const heading = /<h1>[^<]*<\/h1>/
      const ledger = await (await ask('/contests/x/ledger')).text()
      assert.equal(heading.exec(await response.text())?.[0], heading.exec(ledger)?.[0])
    })
  }

  for (const path of [
    '/contests/1.csv',
    '/contests/1.svg',
    '/contests/1.metadata.json',
    '/contests/.json',
    '/contests/x.json',
    '/contests/x.svg',
  ]) {
    test(`${path} names no contest: the answer is a problem document`, async () => {
      const response = await ask(path)
      assert.equal(response.status, 404)
      assert.equal(response.headers.get('content-type'), 'application/problem+json')
    })
  }
})
