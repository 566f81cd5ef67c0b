import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { assertFits, type BrowserPage, NARROW } from '../stage/browser.ts'
import { openPageStage, type PageStage } from '../stage/page-stage.ts'
import { openApiStage } from '../stage/api-stage.ts'
import { plan } from '../story/api-story.ts'
import { DAY_MS } from '../../src/protocol/moment.ts'
import { cosignNewest } from '../story/witnesses.ts'
import { ADDRESSES, REFUSED } from './parity/web-addresses.ts'

/** Least height of a target, and of a main action, in pixels. */
const TARGET = 24
const MAIN = 44
/** Navigation and other main actions. */
const MAIN_ACTIONS =
  '.pages > a, .pages summary, .sub a, .tabs a, .pager a, .button, main .find :is(input, button)'
/** Everything that a finger may want to hit. */
const TARGETS = 'a[href], button, summary, select, label:has(input), input:not(label *)'

let pages: PageStage
let sight: BrowserPage
before(async () => {
  pages = await openPageStage()
  await cosignNewest(pages.api)
  sight = await pages.see('/', { viewport: NARROW })
})
after(async () => {
  await sight[Symbol.asyncDispose]()
  await pages[Symbol.asyncDispose]()
})

suite('on a phone', () => {
  test('no page is wider than its screen, whatever it shows', async () => {
    const contests = [
      plan(1, 'December Grand Cup 2026', DAY_MS),
      plan(2, 'X'.repeat(200), 2 * DAY_MS),
      plan(9_007_199_254_740_991, 'Weekly Round: Portraits of people at work in the rain', DAY_MS),
      { type: 'contest', kind: 'opened', contestId: 9_007_199_254_740_991 },
      { type: 'play', kind: 'entry', contestId: 9_007_199_254_740_991, kots: '987654.123456789' },
      { type: 'pool', kind: 'sponsor', contestId: 9_007_199_254_740_991, kots: '123456789012.123456789' },
    ] as const
    await using told = await openApiStage({ story: contests })
    const urlOf = (path: string): string => `http://127.0.0.1:${told.port}${path}`
    // Moments to come have two clocks.
    await using other = await pages.browser.see(urlOf('/'), { timezoneId: 'Asia/Tokyo' })
    await other.page.clock.setFixedTime(Date.UTC(2026, 9, 1))
    for (const path of [
      '/contests/1/ledger',
      '/contests/9007199254740991/ledger',
      '/flows?bucket=minute',
      '/contests',
      '/contests?sort=pool',
      '/contests?status=running',
      '/find?q=1',
      '/api',
      '/schedule',
    ]) {
      await other.page.goto(urlOf(path))
      await assertFits(other.page)
    }
    // Beside two clocks a title has half of the line, so that none of its words breaks.
    await other.page.goto(urlOf('/'))
    for (const width of [390, 1_280]) {
      await other.page.setViewportSize({ width, height: 640 })
      const line = other.page.locator('aside[aria-label="Closing next"] .next li').first()
      const [own, all] = [await line.locator('a').boundingBox(), await line.boundingBox()]
      assert.ok(own !== null && all !== null && own.width > 0.4 * all.width, `${own?.width} of ${all?.width}`)
    }
  })

  for (const path of [...ADDRESSES, ...REFUSED.map(([refused]) => refused)]) {
    test(`${path} has targets that a finger hits, and scrolls downwards only`, async () => {
      await sight.page.goto(pages.urlOf(path))
      const small = await sight.page.evaluate(smallTargets, {
        targets: TARGETS,
        main: MAIN_ACTIONS,
        TARGET,
        MAIN,
      })
      assert.deepEqual(small, [])
      assert.deepEqual(await sight.page.evaluate(sidewaysRegions), [])
    })
  }

  test('words of a segmented control stand in the middle of their boxes', async () => {
    for (const path of ['/contests', '/flows', '/events']) {
      await sight.page.goto(pages.urlOf(path))
      const away = await sight.page.locator('.tabs a:visible').evaluateAll((links) =>
        links.map((link) => {
          const range = document.createRange()
          range.selectNodeContents(link)
          const [words, box] = [range.getBoundingClientRect(), link.getBoundingClientRect()]
          return Math.abs(words.top + words.bottom - box.top - box.bottom) / 2
        }),
      )
      assert.ok(away.length > 1 && Math.max(...away) <= 1, `${path}: ${away.join(' ')}`)
    }
  })

  test('navigation that goes on beyond the edge fades out there', async () => {
    await sight.page.goto(pages.urlOf('/flows'))
    await sight.page.setViewportSize({ width: 320, height: 640 })
    const shown = await sight.page.locator('nav.sub').evaluate((nav) => ({
      goesOn: nav.scrollWidth > nav.clientWidth,
      mask: getComputedStyle(nav).maskImage,
    }))
    await sight.page.setViewportSize(NARROW)
    assert.ok(shown.goesOn)
    assert.match(shown.mask, /^linear-gradient\(90deg, rgba\(0, 0, 0, 0\),.*rgba\(0, 0, 0, 0\)\)$/)
  })
})

suite('a table of many figures on a phone', () => {
  for (const path of ['/funds', '/loyalty/runs', '/patterns']) {
    test(`of ${path} has the name of each figure on the left and the figure on the right`, async () => {
      await sight.page.goto(pages.urlOf(path))
      const cell = sight.page.locator('.pairs td.r[data-label]:visible').first()
      await cell.waitFor()
      const [own, row] = [await cell.boundingBox(), await cell.locator('xpath=..').boundingBox()]
      assert.equal(own?.width, row?.width)
      assert.equal(await cell.evaluate((one) => getComputedStyle(one).justifyContent), 'space-between')
    })
  }
})

suite('code on a phone', () => {
  for (const path of ['/archive', '/verify']) {
    test(`of ${path} keeps its lines, is focused by the keyboard, and has a button that copies it`, async () => {
      await sight.page.goto(pages.urlOf(path))
      const blocks = sight.page.locator('.code')
      assert.ok((await blocks.count()) > 0)
      for (const block of await blocks.all()) {
        assert.equal(await block.locator('code').evaluate((one) => getComputedStyle(one).whiteSpace), 'pre')
        await block.locator('pre[tabindex="0"]').focus()
        const copied = await block.getByRole('button', { name: 'Copy' }).getAttribute('data-copy')
        assert.equal(copied, await block.locator('code').textContent())
      }
    })
  }
})

type Least = Readonly<{ targets: string; main: string; TARGET: number; MAIN: number }>

/** Visible targets that are too low, other than links in running text. Runs in the page. */
function smallTargets({ targets, main, TARGET: least, MAIN: mainLeast }: Least): readonly string[] {
  const isInText = (one: PageElement): boolean => {
    const block = one.closest('p, li, dd, dt, td, th, small, figcaption, h1, h2, h3, cite')
    const outside = block?.textContent.replace(one.textContent, '').trim() ?? ''
    return getComputedStyle(one).display === 'inline' && outside !== ''
  }
  return [...document.querySelectorAll(targets)].flatMap((one) => {
    const { width, height } = one.getBoundingClientRect()
    if (!one.checkVisibility() || width <= 1 || one.matches('.skip')) return []
    const isMain = one.matches(main)
    if (!isMain && isInText(one)) return []
    const wanted = isMain ? mainLeast : least
    return Math.round(height) >= wanted && Math.round(width) >= least
      ? []
      : [`${one.outerHTML.slice(0, 90)}: ${Math.round(width)} by ${Math.round(height)}`]
  })
}

/** Regions that are wider than the screen, other than code and navigation. Runs in the page. */
function sidewaysRegions(): readonly string[] {
  return [...document.querySelectorAll('main *')]
    .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1)
    .filter((one) => ['auto', 'scroll'].includes(getComputedStyle(one).overflowX))
    .filter((one) => !one.matches('pre, .tabs, input, select, textarea'))
    .map((one) => `${one.outerHTML.slice(0, 120)}: ${one.scrollWidth} in ${one.clientWidth}`)
}

/** Globals of the page, for the functions that run in it. */
type PageElement = Readonly<{
  textContent: string
  outerHTML: string
  scrollWidth: number
  clientWidth: number
  matches(selector: string): boolean
  closest(selector: string): PageElement | null
  checkVisibility(): boolean
  getBoundingClientRect(): Readonly<{ width: number; height: number }>
}>
declare const document: Readonly<{
  querySelectorAll(selector: string): Iterable<PageElement>
  createRange(): Readonly<{
    selectNodeContents(of: unknown): void
    getBoundingClientRect(): Readonly<{ top: number; bottom: number }>
  }>
}>
declare function getComputedStyle(of: unknown): Readonly<{
  display: string
  overflowX: string
  maskImage: string
  justifyContent: string
  whiteSpace: string
}>
