import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openApiStage } from '../stage/api-stage.ts'
import { assertNoSidewaysScroll, assertNoViolations, NARROW, openBrowser, WIDE } from '../stage/browser.ts'

suite('an embedded frame in a browser', () => {
  test('shows its source and one heading, and requests no missing file', async () => {
    await using stage = await openApiStage()
    await using browser = await openBrowser()
    const viewport = { width: 640, height: 640 }
    for (const theme of ['light', 'dark', 'auto']) {
      const url = `http://127.0.0.1:${stage.port}/embed/flows?theme=${theme}`
      await using sight = await browser.see(url, { viewport, bypassCSP: true })
      await sight.page.waitForLoadState('networkidle')
      const source = await sight.page.locator('.source').boundingBox()
      assert.ok(source !== null && source.y + source.height <= viewport.height, JSON.stringify(source))
      assert.equal(await sight.page.locator('h1, h2').count(), 1)
      assert.deepEqual(sight.wrong, [])
      await assertNoViolations(sight.page)
    }
  })

  test('shows the narrow chart of the page on a phone, whose words keep their size', async () => {
    await using stage = await openApiStage()
    await using browser = await openBrowser()
    const url = `http://127.0.0.1:${stage.port}/embed/flows?theme=dark`
    await using sight = await browser.see(url, { viewport: NARROW, bypassCSP: true })
    assert.equal(await sight.page.locator('img').isVisible(), false)
    assert.equal(await sight.page.locator('svg.plot').isVisible(), true)
    const label = sight.page.locator('svg.plot text:visible').first()
    assert.equal(await label.evaluate((one) => getComputedStyle(one).fontSize), '13px')
    await assertNoSidewaysScroll(sight.page)
    await assertNoViolations(sight.page)
    await sight.page.setViewportSize(WIDE)
    assert.equal(await sight.page.locator('img').isVisible(), true)
    assert.equal(await sight.page.locator('svg.plot').isVisible(), false)
  })
})

declare function getComputedStyle(of: unknown): Readonly<{ fontSize: string }>
