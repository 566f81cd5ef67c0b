import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { allocateAllowance, openAllowance } from '../../src/serve/allowance/allowance.ts'
import type { ApiStage } from '../stage/api-stage.ts'
import { openApiStage } from '../stage/api-stage.ts'

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
