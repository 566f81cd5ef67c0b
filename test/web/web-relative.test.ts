import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/protocol/moment.ts'
import { LAUNCH } from '../stage/api-stage.ts'
import type { PageStage } from '../stage/page-stage.ts'
import { openPageStage } from '../stage/page-stage.ts'

let pages: PageStage
before(async () => {
  pages = await openPageStage()
})
after(() => pages[Symbol.asyncDispose]())

/** The first plan on the stage: the opening of a contest. */
const OPENS = LAUNCH + 5 * DAY_MS

suite('the relative time of a moment', () => {
  const told: readonly (readonly [aheadMs: number, text: string])[] = [
    [DAY_MS + 9 * HOUR_MS, ', in 1 d 9 h'],
    [DAY_MS + 15 * HOUR_MS, ', in 1 d 15 h'],
    [2 * HOUR_MS + 5 * MINUTE_MS, ', in 2 h 5 min'],
    [3 * MINUTE_MS, ', in 3 min'],
    [42_000, ', in 42 s'],
    [-DAY_MS, ', 1 d 0 h ago'],
  ]
  for (const [aheadMs, text] of told) {
    test(`is shown beside the moment: ${text.slice(2)}`, async () => {
      await using sight = await pages.see('/about')
      await sight.page.clock.setFixedTime(OPENS - aheadMs)
      await sight.page.goto(pages.urlOf('/schedule'))
      assert.equal(await sight.page.locator('td [data-relative]').first().textContent(), text)
    })
  }
})
