import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { openApiStage } from '../stage/api-stage.ts'
import { LAUNCH, plan } from '../story/api-story.ts'
import { cosignNewest } from '../story/witnesses.ts'
import {
  assertFits,
  assertNoSidewaysScroll,
  assertThemesSound,
  type BrowserPage,
  NARROW,
  WIDE,
} from '../stage/browser.ts'
import { ADDRESSES, firstOfEachPage, REFUSED } from './parity/web-addresses.ts'
import type { Mirror } from '../../src/protocol/endpoints/description-endpoints.ts'
import { formatAt, HOUR_MS } from '../../src/protocol/moment.ts'
import { openPageStage, type PageStage } from '../stage/page-stage.ts'
import { openCampaign } from '../torture/campaign.ts'

const CAMPAIGN = openCampaign('pages')
/** Addresses of each page that the slow checks open. */
const OF_PAGE = CAMPAIGN.size
const REFUSALS = REFUSED.map(([refused]) => refused)

let pages: PageStage
before(async () => {
  pages = await openPageStage({ streams: true })
  await cosignNewest(pages.api)
})
after(() => pages[Symbol.asyncDispose]())

// These tests mostly wait for the network to be idle, so they run in parallel.
suite('a page in a browser', { concurrency: 4 }, () => {
  for (const path of firstOfEachPage(ADDRESSES, OF_PAGE)) {
    test(`${path} runs under its policy, and requests nothing from other hosts`, async () => {
      await using sight = await pages.see(path)
      const live = sight.page.locator('#live[data-live]')
      // A page of the present is complete once it follows the log. Its stream is never idle.
      if ((await live.count()) === 0) await sight.page.waitForLoadState('networkidle')
      else await sight.page.locator('#live[data-state=live]').waitFor()
      assert.deepEqual(sight.wrong, [])
    })
  }
})

suite('a page in a browser without scripts', () => {
  let sight: BrowserPage
  before(async () => {
    sight = await pages.see('/', { javaScriptEnabled: false })
  })
  after(() => sight[Symbol.asyncDispose]())

  for (const path of ADDRESSES) {
    test(`${path} is complete`, async () => {
      await sight.page.goto(pages.urlOf(path))
      assert.equal(await sight.page.locator('h1').count(), 1)
      assert.ok((await sight.page.locator('a[data-json]').count()) > 0)
    })
  }
})

suite('the accessibility check in a browser', () => {
  let sight: BrowserPage
  before(async () => {
    sight = await pages.see('/', { bypassCSP: true })
  })
  after(() => sight[Symbol.asyncDispose]())

  const checked = firstOfEachPage([...ADDRESSES, ...REFUSALS], OF_PAGE)
  for (const path of checked) {
    test(`accepts ${path}, light and dark, wide and narrow, and it fits every screen`, async () => {
      await sight.page.setViewportSize(WIDE)
      await sight.page.goto(pages.urlOf(path))
      for (const viewport of [WIDE, NARROW]) {
        await sight.page.setViewportSize(viewport)
        await assertThemesSound(sight.page)
      }
      await assertFits(sight.page)
    })
  }

  test('has seen every page', (t) => {
    CAMPAIGN.finish(
      t,
      { addresses: checked.length, checks: checked.length * 4 },
      { addresses: REFUSED.length },
    )
  })
})

suite('in a browser', () => {
  for (const width of [320, NARROW.width]) {
    test(`a plan is fully visible on a phone, ${width} wide`, async () => {
      await using told = await openApiStage({
        story: [
          plan(1, 'One-Minute Story: Breakfast Abroad', HOUR_MS),
          { type: 'contest', kind: 'opened', contestId: 1 },
          plan(2, 'Weekly Round: Street Cats', 2 * HOUR_MS),
        ],
      })
      const url = `http://127.0.0.1:${told.port}/schedule`
      await using sight = await pages.browser.see(url, { viewport: { width, height: 640 } })
      const plans = sight.page.locator('.book[data-list]')
      await plans.getByText('Street Cats').first().waitFor()
      assert.ok(await plans.first().evaluate((one) => one.scrollWidth <= one.clientWidth))
      await assertNoSidewaysScroll(sight.page)
    })

    test(`a name in the timeline is not cut on a phone, ${width} wide`, async () => {
      await using told = await openApiStage({ story: [plan(1, 'One-Minute Story: Breakfast', HOUR_MS)] })
      const url = `http://127.0.0.1:${told.port}/schedule`
      await using sight = await pages.browser.see(url, { viewport: { width, height: 640 } })
      const name = sight.page.locator('.plot text').filter({ hasText: 'Breakfast' })
      const box = await name.boundingBox()
      assert.ok(box && box.x + box.width <= width)
      // A name may extend beyond the plot, if it is not clipped there.
      assert.equal(await name.locator('xpath=..').getAttribute('overflow'), 'visible')
      await assertNoSidewaysScroll(sight.page)
    })

    test(`the links to a calendar do not overlap on a phone, ${width} wide`, async () => {
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

  test('an amount is short, and all its decimals are shown on request without a script', async () => {
    await using sight = await pages.see('/summary', { javaScriptEnabled: false })
    const amount = sight.page.locator('main data[value="911.749999999"]').first()
    assert.equal(await amount.innerText(), '911')
    await sight.page.locator('[data-decimals]').check()
    assert.equal(await amount.innerText(), '911.749999999')
  })

  test('the theme can be switched, and stays without a flash', async () => {
    await using sight = await pages.see('/flows', { colorScheme: 'light' })
    await sight.page.locator('select[name=theme]').selectOption('dark')
    await sight.page.goto(pages.urlOf('/events/1'))
    assert.equal(await sight.page.locator('html').getAttribute('data-theme'), 'dark')
    assert.equal(await sight.page.locator('select[name=theme]').inputValue(), 'dark')
  })

  test('every time of day on a page names its zone', async () => {
    await using sight = await pages.see('/about', { timezoneId: 'Pacific/Chatham' })
    let named = 0
    for (const path of ADDRESSES) {
      await sight.page.goto(pages.urlOf(path), { waitUntil: 'domcontentloaded' })
      const found = await sight.page.evaluate(timesOfDay)
      assert.deepEqual(found.unnamed, [], path)
      named += found.named
    }
    assert.ok(named > ADDRESSES.length)
  })

  test('every line of a waiting mirror names the zone of its moments', async () => {
    const mirror = (): Mirror => ({
      of: 'https://origin.example',
      state: 'waiting',
      reason: 'unreachable',
      originSeq: 13,
      behindEvents: 0,
      behindMs: 100_000,
      provedAt: formatAt(LAUNCH),
      provedAtMs: LAUNCH,
      contactAt: null,
      contactAtMs: null,
      upstream: [],
      keys: [],
      keysFrom: 'operator',
      heldAt: null,
      heldAtMs: null,
      contradiction: null,
    })
    await using told = await openApiStage({ site: { mirror } })
    await using sight = await pages.browser.see(`http://127.0.0.1:${told.port}/summary`)
    const moments = await sight.page.locator('.strip time, .as-of time').allInnerTexts()
    assert.deepEqual(
      moments.map((text) => text.endsWith(' UTC')),
      [true, true],
    )
  })

  test('the menu of further pages closes by Escape and by a click beside it', async () => {
    await using sight = await pages.browser.see(pages.urlOf('/contests'))
    const { page } = sight
    const open = page.locator('details.more[open]')
    await page.locator('details.more summary').click()
    await open.locator('input').focus()
    await page.keyboard.press('Escape')
    assert.equal(await open.count(), 0)
    assert.equal(await page.locator('details.more summary:focus').count(), 1)
    await page.locator('details.more summary').click()
    assert.equal(await open.count(), 1)
    await page.mouse.click(10, 400)
    assert.equal(await open.count(), 0)
  })

  test('the first Tab focuses the link past the navigation', async () => {
    await using sight = await pages.see('/flows')
    await sight.page.keyboard.press('Tab')
    assert.equal(await sight.page.evaluate(() => document.activeElement?.textContent), 'Skip to the content')
  })

  test('the form of a range works without a script', async () => {
    await using sight = await pages.see('/flows', { javaScriptEnabled: false })
    await sight.page.locator('details:has(input[name=from]) summary').click()
    await sight.page.locator('input[name=from]').fill('2026-10-01T00:00')
    await sight.page.locator('input[name=to]').fill('2026-10-02T00:00')
    await sight.page.locator('form:has(input[name=from]) select').selectOption('hour')
    await sight.page.locator('form:has(input[name=from]) button').click()
    assert.equal(await sight.page.locator('.buckets tbody tr').count(), 24)
    assert.match(sight.page.url(), /from=2026-10-01T00(?::|%3A)00Z/)
  })
})

/**
 * Times of day on a page: the number of those whose element, sentence or column head says UTC, and the others. Runs in
 * the page.
 */
function timesOfDay(): Readonly<{ named: number; unnamed: readonly string[] }> {
  const times = [...document.querySelectorAll('main time')].filter(
    ({ textContent }) => /\d\d:\d\d/.test(textContent) && !textContent.endsWith('Z'),
  )
  const unnamed = times.filter((time) => {
    const place = time.closest('p, li, dt, dd, h1, h2, h3, figcaption, summary')
    const head = time.closest('table')?.tHead?.rows[0]?.cells[time.closest('td, th')?.cellIndex ?? -1]
    return ![time, place, head].some((part) => part?.textContent.includes('UTC') === true)
  })
  return {
    named: times.length - unnamed.length,
    unnamed: unnamed.map((time) => `${time.textContent} in ${time.parentElement?.textContent}`),
  }
}

/** Globals of the page, for the functions that run in it. */
type PageElement = {
  readonly textContent: string
  readonly cellIndex: number
  readonly tHead: Readonly<{ rows: readonly Readonly<{ cells: readonly PageElement[] }>[] }> | null
  readonly parentElement: PageElement | null
  closest(selector: string): PageElement | null
}
declare const document: Readonly<{
  activeElement: Readonly<{ textContent: string }> | null
  querySelectorAll(selector: string): Iterable<PageElement>
}>
