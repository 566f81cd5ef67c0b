import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { openApiStage, plan } from '../stage/api-stage.ts'
import type { BrowserPage } from '../stage/browser.ts'
import { assertNoSidewaysScroll, assertNoViolations, NARROW, WIDE } from '../stage/browser.ts'
import { ADDRESSES, REFUSED } from './web-addresses.ts'
import { HOUR_MS } from '../../src/protocol/moment.ts'
import type { PageStage } from '../stage/page-stage.ts'
import { openPageStage } from '../stage/page-stage.ts'

let pages: PageStage
before(async () => {
  pages = await openPageStage({ streams: true })
})
after(() => pages[Symbol.asyncDispose]())

// Most of the time of these is the silence that ends them: they wait for it side by side.
suite('in a browser, as it comes,', { concurrency: 4 }, () => {
  for (const path of ADDRESSES) {
    test(`${path} runs under its policy, and asks nobody else`, async () => {
      await using sight = await pages.see(path)
      const live = sight.page.locator('#live[data-live]')
      // A page of the present is whole when it follows the log: from then on its stream is never idle.
      if ((await live.count()) === 0) await sight.page.waitForLoadState('networkidle')
      else await sight.page.locator('#live[data-state=live]').waitFor()
      assert.deepEqual(sight.wrong, [])
    })
  }
})

suite('in a browser without scripts', () => {
  let sight: BrowserPage
  before(async () => {
    sight = await pages.see('/', { javaScriptEnabled: false })
  })
  after(() => sight[Symbol.asyncDispose]())

  for (const path of ADDRESSES) {
    test(`${path} is whole`, async () => {
      await sight.page.goto(pages.urlOf(path))
      assert.equal(await sight.page.locator('h1').count(), 1)
      assert.ok((await sight.page.locator('a[data-json]').count()) > 0)
    })
  }
})

suite('in a browser, to everyone,', () => {
  let sight: BrowserPage
  before(async () => {
    sight = await pages.see('/', { bypassCSP: true })
  })
  after(() => sight[Symbol.asyncDispose]())

  for (const path of [...ADDRESSES, ...REFUSED.map(([refused]) => refused)]) {
    test(`${path} is open, light and dark, wide and narrow`, async () => {
      await sight.page.setViewportSize(WIDE)
      await sight.page.goto(pages.urlOf(path))
      for (const viewport of [WIDE, NARROW]) {
        await sight.page.setViewportSize(viewport)
        for (const colorScheme of ['light', 'dark'] as const) {
          await sight.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          // All that does not depend on colours has been looked at in the light.
          await assertNoViolations(sight.page, colorScheme === 'light' ? 'all' : 'colours')
        }
      }
      await sight.page.setViewportSize({ width: 320, height: 640 })
      await assertNoSidewaysScroll(sight.page)
    })
  }
})

suite('in a browser', () => {
  for (const width of [320, NARROW.width]) {
    test(`a plan stands whole on a phone, ${width} wide: what is to happen is not out of sight`, async () => {
      await using told = await openApiStage({
        story: [
          plan(1, 'One-Minute Story: Breakfast Abroad', HOUR_MS),
          { type: 'contest', kind: 'opened', contestId: 1 },
          plan(2, 'Weekly Round: Street Cats', 2 * HOUR_MS),
        ],
      })
      const url = `http://127.0.0.1:${told.port}/schedule`
      await using sight = await pages.browser.see(url, { viewport: { width, height: 640 } })
      const region = sight.page.locator('[role=region]:has([data-list])')
      await region.getByText('opens', { exact: true }).first().waitFor()
      assert.ok(await region.evaluate((one) => one.scrollWidth <= one.clientWidth))
    })

    test(`a name in the timeline is whole on a phone, ${width} wide`, async () => {
      await using told = await openApiStage({ story: [plan(1, 'One-Minute Story: Breakfast Away', HOUR_MS)] })
      const url = `http://127.0.0.1:${told.port}/schedule`
      await using sight = await pages.browser.see(url, { viewport: { width, height: 640 } })
      const names = sight.page.locator('.plot svg:has(> text)')
      const box = await names.getByText('Breakfast Away').boundingBox()
      assert.ok(box && box.x + box.width <= width)
      // Beyond the plot there is still room for it, unless what is there is cut off.
      assert.equal(await names.getAttribute('overflow'), 'visible')
      await assertNoSidewaysScroll(sight.page)
    })

    test(`the ways to a calendar stand apart on a phone, ${width} wide`, async () => {
      await using sight = await pages.see('/schedule', { viewport: { width, height: 640 } })
      const boxes = await Promise.all(
        (await sight.page.locator('[data-subscribe] .button').all()).map((one) => one.boundingBox()),
      )
      const [first, second] = boxes
      assert.ok(first && second)
      const apart = second.y - (first.y + first.height)
      assert.ok(apart >= 8 || second.y === first.y, `${apart} between the two`)
    })
  }

  test('an amount is copied as the JSON has it', async () => {
    await using sight = await pages.see('/events/1')
    const amount = sight.page.locator('data.n').first()
    assert.equal(await amount.innerText(), '1000.000000000')
  })

  test('the theme is switched, and stays switched without a flash', async () => {
    await using sight = await pages.see('/flows', { colorScheme: 'light' })
    await sight.page.locator('select[name=theme]').selectOption('dark')
    await sight.page.goto(pages.urlOf('/events/1'))
    assert.equal(await sight.page.locator('html').getAttribute('data-theme'), 'dark')
    assert.equal(await sight.page.locator('select[name=theme]').inputValue(), 'dark')
  })

  test('times are switched to those of the reader, and the exact ones stay', async () => {
    await using sight = await pages.see('/events/1', { timezoneId: 'Pacific/Chatham' })
    const time = sight.page.locator('main time').first()
    assert.equal(await time.innerText(), '2026-10-01 00:00:00 UTC')
    await sight.page.locator('select[name=time]').selectOption('local')
    assert.match(await time.innerText(), /^2026-10-01 13:45:00/)
    assert.equal(await time.getAttribute('datetime'), '2026-10-01T00:00:00.000Z')
  })

  test('the first key leads past the navigation', async () => {
    await using sight = await pages.see('/flows')
    await sight.page.keyboard.press('Tab')
    assert.equal(await sight.page.evaluate(() => document.activeElement?.textContent), 'Skip to the content')
  })

  test('a range is asked for by the form alone', async () => {
    await using sight = await pages.see('/flows', { javaScriptEnabled: false })
    await sight.page.locator('input[name=from]').fill('2026-10-01T00:00')
    await sight.page.locator('input[name=to]').fill('2026-10-02T00:00')
    await sight.page.locator('select[name=bucket]').selectOption('hour')
    await sight.page.locator('form.ask button').click()
    assert.equal(await sight.page.locator('tbody tr').count(), 24)
    assert.match(sight.page.url(), /from=2026-10-01T00(?::|%3A)00Z/)
  })
})

/** As the scripts run within the page see it. */
declare const document: Readonly<{ activeElement: Readonly<{ textContent: string }> | null }>
