import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { ApiStage } from '../../../test/stage/api-stage.ts'
import { openApiStage } from '../../../test/stage/api-stage.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

const CHARS_MAX = 10_000
const repeated = (pair: string, times: number): string => Array.from({ length: times }, () => pair).join('&')

suite('an error page', () => {
  const long: readonly (readonly [what: string, query: string, status?: number])[] = [
    ['longer than a query may be', repeated('x=1', 1_800), 414],
    ['with a long value', `from=${'%3C'.repeat(1_300)}`],
    ['with one name many times', repeated('bucket=day', 300)],
    ['with one unknown name many times', repeated('x', 2_000)],
    ['with many unknown names', Array.from({ length: 600 }, (_, index) => `x${index}`).join('&')],
  ]
  for (const [what, query, status = 400] of long) {
    test(`is small for a query ${what}`, async () => {
      const response = await stage.get(`/flows?${query}`)
      const page = await response.text()
      assert.equal(response.status, status)
      assert.ok(page.length <= CHARS_MAX, `${page.length} characters`)
      assert.doesNotMatch(page, /JSON of this error|rel="alternate"/)
      assert.match(page, /<a href="\/flows">The same page without parameters<\/a>/)
    })
  }

  test('links its JSON if the query is short', async () => {
    const page = await (await stage.get('/flows?bucket=year')).text()
    assert.match(page, /<a href="\/api\/v1\/flows\?bucket=year">JSON of this error<\/a>/)
  })

  test('lists eight faults, and states how many more there are', async () => {
    const page = await (await stage.get(`/flows?${'abcdefghijkl'.split('').join('&')}`)).text()
    assert.equal([...page.matchAll(/<code>[a-l]<\/code> is not known here/g)].length, 8)
    assert.match(page, /<li>4 more\.<\/li>/)
  })
})
