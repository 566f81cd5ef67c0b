import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { ALLOWANCE_REQUESTS } from '../../src/protocol/parameters.ts'
import { fetchDescribed } from '../stage/described.ts'
import { startImportedNode } from '../sample/imported-node.ts'
import { problemOf } from '../stage/public-tree.ts'
import type { Service } from '../stage/service.ts'
import { publishTo } from '../stage/node-process.ts'

suite('the allowance of one address', () => {
  let service: Service | undefined
  before(async () => {
    service = await startImportedNode({ settings: { rateLimit: ALLOWANCE_REQUESTS } })
    const price = { ref: 'price-1', type: 'price', kind: 'usd', details: { price: '0.01' } }
    assert.equal((await publishTo(service, [price])).status, 200)
  })
  after(async () => service?.[Symbol.asyncDispose]())
  const get = (path: string, method = 'GET'): Promise<Response> =>
    fetchDescribed(`${service?.url}${path}`, { method })

  test('of the tiles is 600 separate requests, and a missing tile counts too', async () => {
    for (let asked = 0; asked < 600; asked++) {
      const response = await get(asked % 2 === 0 ? '/api/v1/log/tile/0/000.p/1' : '/api/v1/log/tile/0/999')
      assert.equal(response.status, asked % 2 === 0 ? 200 : 404)
      await response.arrayBuffer()
    }
    const refused = await get('/api/v1/log/tile/0/000.p/1')
    assert.equal(refused.status, 429)
    assert.equal(await problemOf(refused), 'rate-limited')
  })

  test('is sixty requests in any minute, of any status; a refusal says when to retry', async () => {
    const targets = ['/api/v1/status', '/api/v1/nothing-here', '/api/v1/events?limit=0', '/api/v1/events/1']
    for (let asked = 0; asked < 60; asked += 1) {
      const answer = await get(targets[asked % targets.length] ?? '')
      assert.notEqual(answer.status, 429, `request ${asked + 1}`)
      if (asked % targets.length === 0) {
        assert.equal(answer.headers.get('ratelimit-policy'), '"default";q=60;w=60')
        assert.match(
          answer.headers.get('ratelimit') ?? '',
          new RegExp(`^"default";r=${59 - asked};t=\\d+$`, 'u'),
        )
      }
      // An immutable answer does not state the allowance, because caches repeat the answer to others.
      if (asked % targets.length === 3) assert.equal(answer.headers.get('ratelimit'), null)
      await answer.arrayBuffer()
    }
    const refused = await get('/api/v1/status')
    assert.equal(refused.status, 429)
    assert.equal(await problemOf(refused), 'rate-limited')
    assert.equal(refused.headers.get('cache-control'), 'no-store')
    assert.equal(refused.headers.get('access-control-allow-origin'), '*')
    const seconds = Number(refused.headers.get('retry-after'))
    assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60, `Retry-After ${seconds}`)
  })

  test('does not count preflights, pages or /llms.txt', async () => {
    assert.equal((await get('/api/v1/status', 'OPTIONS')).status, 204)
    assert.notEqual((await get('/')).status, 429)
    const text = await get('/llms.txt')
    assert.equal(text.status, 200)
    assert.equal(text.headers.get('ratelimit'), null)
    await text.text()
  })
})
