import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openApiStage } from '../stage/api-stage.ts'
import { openBrowser } from '../stage/browser.ts'

suite('a printed page', () => {
  test('has its figures and its citation, but no controls', async () => {
    await using stage = await openApiStage()
    await using browser = await openBrowser()
    for (const path of ['/flows', '/schedule', '/events']) {
      await using sight = await browser.see(`http://127.0.0.1:${stage.port}${path}`)
      await sight.page.emulateMedia({ media: 'print' })
      assert.ok(await sight.page.locator('[data-cite]').isVisible(), path)
      for (const pressed of await sight.page.locator('button, input, select, .tabs a, .pager a').all()) {
        assert.equal(await pressed.isVisible(), false, path)
      }
      assert.ok(await sight.page.locator('h1').isVisible())
    }
  })
})
