import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { extraCost, scopeOfNothing } from './counters.ts'

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
