import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { plan } from '../../../test/story/api-story.ts'
import { HOUR_MS } from '../../protocol/moment.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

const pageOf = async (path: string): Promise<string> => (await stage.get(path)).text()

suite('the drawer of a page', () => {
  for (const [path, said] of [
    ['/', 'This page also shows:'],
    ['/summary', 'This page also shows:'],
    ['/verify', 'This page shows:'],
  ] as const) {
    test(`of ${path} has the links to all its JSON`, async () => {
      const [shown = '', drawer = ''] = (await pageOf(path)).split('<details class="drawer"')
      assert.doesNotMatch(shown, /<a data-json|data-answers/)
      assert.match(drawer, new RegExp(`<p>${said} <a data-json href="/api/v1/[^"]+">`))
    })
  }

  test('has the JSON of a heading too', async () => {
    const contests = [
      { type: 'treasury', kind: 'deposit', kots: '100' },
      { type: 'contest', kind: 'opened', contestId: 1 },
      { type: 'pool', kind: 'top_up', contestId: 1, kots: '100' },
      { type: 'contest', kind: 'closed', contestId: 1 },
    ] as const
    await using told = await openApiStage({ story: [plan(1, 'First', HOUR_MS), ...contests] })
    const page = await (await told.get('/payouts?contestId=1')).text()
    assert.match(page, /This page also shows: [^]*>its ledger<\/a>/)
  })
})

suite('the switch of all decimals', () => {
  for (const path of ['/', '/summary', '/flows']) {
    test(`is on ${path}, which cuts amounts`, async () => {
      assert.match(await pageOf(path), /Show all\s+decimals/)
    })
  }

  for (const path of ['/status', '/schedule']) {
    test(`is not on ${path}, where it would change nothing`, async () => {
      const page = await pageOf(path)
      assert.match(page, /As of event/)
      assert.doesNotMatch(page, /Amounts are cut|data-decimals/)
    })
  }
})
