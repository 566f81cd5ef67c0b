import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { BrowserPage } from '../stage/browser.ts'
import { openPageStage, type PageStage } from '../stage/page-stage.ts'
import { ADDRESSES, firstOfEachPage } from './parity/web-addresses.ts'

/** A4 between the margins of a printer, in pixels. */
const A4 = { width: 718, height: 1_047 }
/** Elements that a reader presses or types into. */
const CONTROLS = 'button, input, select, .tabs, .pager a, .pages, .sub, .switches, [data-subscribe] .button'

let pages: PageStage
let sight: BrowserPage
before(async () => {
  pages = await openPageStage()
  sight = await pages.see('/', { viewport: A4 })
  await sight.page.emulateMedia({ media: 'print' })
})
after(async () => {
  await sight[Symbol.asyncDispose]()
  await pages[Symbol.asyncDispose]()
})

suite('a printed page', () => {
  for (const path of firstOfEachPage(ADDRESSES, 1)) {
    test(`${path} is whole on A4, without controls`, async () => {
      await sight.page.goto(pages.urlOf(path))
      assert.deepEqual(await sight.page.evaluate(cutElements, A4.width), [])
      assert.deepEqual(await sight.page.evaluate(visibleElements, CONTROLS), [])
      assert.ok(await sight.page.locator('h1').isVisible())
      const cited = sight.page.locator('[data-cite]')
      if ((await cited.count()) > 0) assert.ok(await cited.isVisible(), 'its citation is printed')
    })
  }
})

/** Elements that are wider than the paper, or that would scroll on a screen. Runs in the page. */
function cutElements(width: number): readonly string[] {
  return [...document.querySelectorAll('main *, footer *')].flatMap((one) => {
    if (!one.checkVisibility() || one.closest('svg, .hidden, thead') !== null) return []
    const { right, width: wide } = one.getBoundingClientRect()
    const scrolls = ['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(one).overflowX)
    const isCut = wide > 1 && (right > width + 1 || (scrolls && one.scrollWidth > one.clientWidth + 1))
    return isCut ? [`${one.outerHTML.slice(0, 120)} ends at ${Math.round(right)}`] : []
  })
}

/** Elements of a selector that are printed. Runs in the page. */
function visibleElements(selector: string): readonly string[] {
  return [...document.querySelectorAll(selector)].flatMap((one) => {
    const { width, height } = one.getBoundingClientRect()
    const isVisible = one.checkVisibility({ visibilityProperty: true }) && width > 0 && height > 0
    return isVisible ? [one.outerHTML.slice(0, 120)] : []
  })
}

/** Globals of the page, for the functions that run in it. */
type PageElement = Readonly<{
  outerHTML: string
  scrollWidth: number
  clientWidth: number
  closest(selector: string): unknown
  checkVisibility(how?: Readonly<{ visibilityProperty: boolean }>): boolean
  getBoundingClientRect(): Readonly<{ right: number; width: number; height: number }>
}>
declare const document: Readonly<{ querySelectorAll(selector: string): Iterable<PageElement> }>
declare function getComputedStyle(of: unknown): Readonly<{ overflowX: string }>
