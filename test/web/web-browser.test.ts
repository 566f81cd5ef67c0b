import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { openApiStage } from '../stage/api-stage.ts'
import { LAUNCH, plan } from '../story/api-story.ts'
import { cosignNewest } from '../story/witnesses.ts'
import type { BrowserPage } from '../stage/browser.ts'
import { assertFits, assertNoSidewaysScroll, assertThemesSound, NARROW, WIDE } from '../stage/browser.ts'
import { ADDRESSES, firstOfEachPage, REFUSED } from './parity/web-addresses.ts'
import type { Mirror } from '../../src/protocol/mirror-resource.ts'
import { formatAt, HOUR_MS } from '../../src/protocol/moment.ts'
import type { PageStage } from '../stage/page-stage.ts'
import { openPageStage } from '../stage/page-stage.ts'
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

  test('times can be switched to local time, and the elements keep the exact ones', async () => {
    await using sight = await pages.see('/summary?at=2026-10-01T00:05Z', { timezoneId: 'Pacific/Chatham' })
    const time = sight.page.locator('.as-of time')
    assert.equal(await time.innerText(), '1 Oct 2026 00:05:00')
    await sight.page.locator('select[name=time]').selectOption('local')
    assert.equal(await time.innerText(), '1 Oct 2026 13:50:00')
    assert.equal(await time.getAttribute('datetime'), '2026-10-01T00:05:00.000Z')
  })

  test('a distance is the same in local time, also when the clocks change within it', async () => {
    await using sight = await pages.see('/about', { timezoneId: 'Europe/Berlin' })
    const { page } = sight
    await page.clock.setFixedTime('2026-10-25T00:30:00Z')
    await page.goto(pages.urlOf('/'))
    // The page's own moments are of another day: this one stands in their place.
    const time = page.locator('main time[data-form=until], main time[data-form=near]').first()
    await time.evaluate((element) => {
      element.setAttribute('datetime', '2026-10-25T01:00:00Z')
      element.dataset['form'] = 'until'
    })
    for (const zone of ['local', 'utc']) {
      await page.locator('select[name=time]').selectOption(zone)
      assert.equal(await time.innerText(), 'in 30 min', zone)
    }
  })

  test('no page names UTC beside a moment in local time', async () => {
    await using sight = await pages.see('/about', { timezoneId: 'Pacific/Chatham' })
    let converted = 0
    for (const path of ADDRESSES) {
      await sight.page.goto(pages.urlOf(path), { waitUntil: 'domcontentloaded' })
      const found = await sight.page.evaluate(switchToLocalTime)
      assert.deepEqual(found.wrong, [], path)
      converted += found.converted
    }
    assert.ok(converted > ADDRESSES.length)
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
    const zones = sight.page.locator('[data-zone]')
    assert.deepEqual(await zones.allInnerTexts(), ['UTC', 'UTC'])
    await sight.page.locator('select[name=time]').selectOption('local')
    assert.deepEqual(await zones.allInnerTexts(), ['your time', 'your time'])
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
    assert.equal(await sight.page.locator('tbody tr').count(), 24)
    assert.match(sight.page.url(), /from=2026-10-01T00(?::|%3A)00Z/)
  })
})

/**
 * Switches a page to local time. Returns the number of moments whose words it changed, and those of them in a line or
 * below a column head that names UTC for good. Runs in the page.
 */
function switchToLocalTime(): Readonly<{ converted: number; wrong: readonly string[] }> {
  const zone = document.querySelector('select[name=time]')
  const times = [...document.querySelectorAll('time')]
  const wordsIn = (value: string): readonly string[] => {
    if (zone === null) return []
    zone.value = value
    zone.dispatchEvent(new Event('change'))
    return times.map(({ textContent }) => textContent)
  }
  const inUtc = wordsIn('utc')
  const inLocal = wordsIn('local')
  const fixedText = (place: PageElement | null | undefined): string => {
    const copy = place?.cloneNode(true)
    for (const marked of copy?.querySelectorAll('[data-zone]') ?? []) marked.remove()
    return copy?.textContent ?? ''
  }
  const converted = times.filter((_, index) => inUtc[index] !== inLocal[index])
  const wrong = converted.flatMap((time) => {
    const place = time.closest('p, li, dt, dd, td, th, h1, h2, h3, figcaption, summary, div')
    const head = time.closest('table')?.tHead?.rows[0]?.cells[time.closest('td, th')?.cellIndex ?? -1]
    const words = [place, head].map(fixedText).find((text) => text.includes('UTC'))
    return words === undefined ? [] : [`${time.textContent} in ${words.replaceAll(/\s+/g, ' ')}`]
  })
  return { converted: converted.length, wrong }
}

/** Globals of the page, for the functions that run in it. */
type PageElement = {
  value: string
  readonly textContent: string
  readonly cellIndex: number
  readonly tHead: Readonly<{ rows: readonly Readonly<{ cells: readonly PageElement[] }>[] }> | null
  querySelectorAll(selector: string): Iterable<PageElement>
  closest(selector: string): PageElement | null
  cloneNode(deep: boolean): PageElement
  dispatchEvent(event: Event): void
  remove(): void
}
declare const document: Readonly<{
  activeElement: Readonly<{ textContent: string }> | null
  querySelector(selector: string): PageElement | null
  querySelectorAll(selector: string): Iterable<PageElement>
}>
