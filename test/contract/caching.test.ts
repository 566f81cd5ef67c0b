import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { allocateAllowance, openAllowance } from '../../src/serve/allowance/allowance.ts'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

suite('the caching of an answer that may change', () => {
  const PLAIN = 'public, max-age=0, must-revalidate'
  const caching = async (from: ApiStage, path: string): Promise<string | null> => {
    const response = await from.get(path)
    await response.arrayBuffer()
    return response.headers.get('cache-control')
  }

  test('is revalidation, of pages too', async () => {
    for (const path of ['/', '/payouts', '/api/v1/summary', '/api/v1/status', '/api/v1/archive', '/llms.txt'])
      assert.equal(await caching(stage, path), PLAIN, path)
  })

  test('lets a CDN keep pages alone, when the operator says so', async () => {
    await using other = await openApiStage({ site: { pageCacheSeconds: 2 } })
    const shared = `${PLAIN}, s-maxage=2, stale-while-revalidate=10`
    for (const path of ['/', '/payouts', '/events/2', '/contests/1/ledger', '/about', '/status', '/verify'])
      assert.equal(await caching(other, path), shared, path)
    const etag = (await other.get('/payouts')).headers.get('etag') ?? ''
    const same = await other.get('/payouts', { 'If-None-Match': etag })
    assert.deepEqual([same.status, same.headers.get('cache-control')], [304, shared])
    const others = ['/payouts.csv', '/payouts.ics', '/flows.svg', '/feed.atom', '/flows.metadata.json']
    for (const path of ['/api/v1/summary', '/api/v1/status', '/llms.txt', '/sitemap.xml', ...others])
      assert.equal((await caching(other, path))?.includes('s-maxage'), false, path)
    for (const path of ['/payouts?x=1', '/nothing', '/events/999'])
      assert.equal(await caching(other, path), 'no-store', path)
  })

  test('of a page that a CDN may keep leaves out the allowance of its caller', async () => {
    const policy = { name: 'pages', requests: 600, windowMs: 60_000 }
    const allowance = openAllowance(allocateAllowance(policy, 'a secret of this test', 100))
    const counter = { policy, decide: (caller: string) => allowance.decide(caller, 1_000_000) }
    const counters = { api: counter, tiles: counter, pages: counter }
    for (const pageCacheSeconds of [null, 2]) {
      await using other = await openApiStage({ counters, site: { pageCacheSeconds } })
      const { headers } = await other.get('/payouts')
      const told = pageCacheSeconds === null
      assert.deepEqual([headers.has('ratelimit'), headers.has('ratelimit-policy')], [told, told])
      assert.ok((await other.get('/payouts?x=1')).headers.has('ratelimit'))
      assert.ok((await other.get('/api/v1/payouts')).headers.has('ratelimit'))
    }
  })
})

suite('If-Match', () => {
  type Asked = Readonly<Record<string, string>>
  const statusOf = async (path: string, headers: Asked, method?: 'HEAD'): Promise<number> => {
    const response = await stage.get(path, headers, method)
    await response.arrayBuffer()
    return response.status
  }

  const PATHS = [
    '/api/v1/events/1',
    '/api/v1/events?limit=2',
    '/api/v1/events',
    '/api/v1/events?format=csv',
    '/api/v1/summary',
    '/api/v1/contests?format=csv',
    '/api/v1/archive',
    '/api/v1/archive/2026-10.jsonl.gz',
    '/api/v1/log/checkpoint',
    '/api/v1/log/proof/2',
    '/api/v1/openapi.json',
    '/datapackage.json',
    '/schedule.ics',
    '/contests.csv',
    '/flows.svg',
    '/flows',
    '/',
  ]
  for (const path of PATHS) {
    test(`decides about ${path}, before If-None-Match and for HEAD too`, async () => {
      for (const coding of ['identity', 'gzip']) {
        const asked = { 'Accept-Encoding': coding }
        // Twice: some answers are ready the second time.
        await (await stage.get(path, asked)).arrayBuffer()
        const first = await stage.get(path, asked)
        await first.arrayBuffer()
        const etag = first.headers.get('etag') ?? ''
        const strong = etag.startsWith('W/') ? etag.slice(2) : etag
        // The comparison is strong, so nothing names a weak ETag.
        const named = etag.startsWith('W/') ? 412 : 200
        for (const method of [undefined, 'HEAD'] as const) {
          for (const [headers, status] of [
            [{ 'If-Match': '"another"' }, 412],
            [{ 'If-Match': '*' }, 200],
            [{ 'If-Match': `"another", ${strong}` }, named],
            [{ 'If-Match': `W/${strong}` }, 412],
            [{ 'If-Match': '"another"', 'If-None-Match': etag }, 412],
            [{ 'If-Match': '*', 'If-None-Match': etag }, 304],
            [{ 'If-Match': '*', 'If-None-Match': '"another"' }, 200],
            // Without a date of the answer, those of a request are ignored.
            [{ 'If-Unmodified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 200],
            [{ 'If-Modified-Since': 'Fri, 31 Dec 9999 23:59:59 GMT' }, 200],
          ] as const) {
            const was = await statusOf(path, { ...asked, ...headers }, method)
            assert.deepEqual([path, method, headers, was], [path, method, headers, status])
          }
        }
        assert.equal(first.headers.get('last-modified'), null)
      }
    })
  }

  test('is refused as a problem of the API, and as a page elsewhere, with the id of the request', async () => {
    for (const [path, type] of [
      ['/api/v1/summary', 'application/problem+json'],
      ['/api/v1/events/1', 'application/problem+json'],
      ['/flows.csv', 'application/problem+json'],
      ['/flows', 'text/html; charset=utf-8'],
    ] as const) {
      const refused = await stage.get(path, { 'If-Match': '"another"' })
      assert.equal(refused.headers.get('content-type'), type)
      assert.equal(refused.headers.get('cache-control'), 'no-store')
      assert.match(refused.headers.get('daybook-request') ?? '', /./)
      const text = await refused.text()
      if (type === 'application/problem+json')
        assert.equal((JSON.parse(text) as { code: string }).code, 'precondition-failed')
    }
  })

  test('changes nothing about what is refused or redirected without it', async () => {
    for (const [path, status] of [
      ['/api/v1/events/999', 404],
      ['/api/v1/events?limit=0', 400],
      ['/nothing', 404],
    ] as const) {
      assert.equal(await statusOf(path, { 'If-Match': '"another"' }), status)
    }
    const response = await fetch(`http://127.0.0.1:${stage.port}/contests/1`, {
      headers: { 'If-Match': '"another"' },
      redirect: 'manual',
    })
    assert.equal(response.status, 308)
  })
})
