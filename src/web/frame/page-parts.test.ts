import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'

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
