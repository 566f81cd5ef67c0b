import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openApiStage } from '../../../test/stage/api-stage.ts'
import { type Counter, extraCost, scopeOfNothing } from './counters.ts'

suite('the allowance of a request without a route', () => {
  for (const [path, underApi, scope] of [
    ['/nothing', false, 'pages'],
    ['/api/v1/log/tile/0/none', false, 'pages'],
    ['/api/v1/nothing', true, 'api'],
    ['/api/v2/log/tile/0/000', true, 'api'],
    ['/api/v1/log/tile/none', true, 'tiles'],
  ] as const) {
    test(`is that of ${scope} at ${path}${underApi ? '' : ', outside of the API'}`, () =>
      assert.equal(scopeOfNothing(path, underApi), scope))
  }
})

test('a page costs one unit more for each thousand rows', () => {
  const costs = [undefined, 0, 999, 1_000, 1_999, 2_000].map(extraCost)
  assert.deepEqual(costs, [0, 0, 0, 1, 1, 2])
})

suite('the allowance of a page', () => {
  for (const [scope, paths] of [
    ['pages', ['/', '/flows', '/events/1', '/contests/1/ledger']],
    ['pages', ['/flows.svg', '/events/1.png', '/contests/1.svg']],
    ['api', ['/flows.csv', '/events.csv', '/events/1.csv', '/contests/1/ledger.csv']],
    ['api', ['/flows.json', '/events/1.json', '/contests/1.json', '/contests/1/ledger.json']],
    ['api', ['/flows.metadata.json', '/events/1.metadata.json', '/contests/1/ledger.metadata.json']],
    ['api', ['/schedule.ics', '/payouts.ics']],
  ] as const) {
    test(`is that of ${scope}: ${paths.join(', ')}`, async () => {
      const asked: string[] = []
      const counterOf = (name: string): Counter => ({
        policy: { name, requests: 60, windowMs: 60_000 },
        decide() {
          asked.push(name)
          return { allowed: true, remaining: 1, resetSeconds: 1, retryAfterSeconds: 1 }
        },
      })
      const counters = { api: counterOf('api'), pages: counterOf('pages'), tiles: counterOf('tiles') }
      await using stage = await openApiStage({ counters })
      const found = paths.map(async (path) => {
        const { status } = await fetch(`http://127.0.0.1:${stage.port}${path}`, { redirect: 'manual' })
        return status === 200 || (status === 308 && path.endsWith('.json'))
      })
      assert.ok(!(await Promise.all(found)).includes(false))
      assert.deepEqual(new Set(asked), new Set([scope]))
    })
  }
})
