import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../src/protocol/moment.ts'
import type { ApiStage } from './api-stage.ts'
import { LAUNCH, openApiStage } from './api-stage.ts'
import type { Browser } from './browser.ts'
import { openBrowser } from './browser.ts'

let stage: ApiStage
let browser: Browser
before(async () => {
  stage = await openApiStage()
  browser = await openBrowser()
})
after(async () => {
  await browser[Symbol.asyncDispose]()
  await stage[Symbol.asyncDispose]()
})

/** The first of what is planned on the stage, a contest that opens. */
const OPENS = LAUNCH + 5 * DAY_MS

suite('how far a moment is', () => {
  const told: readonly (readonly [aheadMs: number, text: string])[] = [
    [DAY_MS + 9 * HOUR_MS, ', in 1 d 9 h'],
    [DAY_MS + 15 * HOUR_MS, ', in 1 d 15 h'],
    [2 * HOUR_MS + 5 * MINUTE_MS, ', in 2 h 5 min'],
    [3 * MINUTE_MS, ', in 3 min'],
    [42_000, ', in 42 s'],
    [-DAY_MS, ', 1 d 0 h ago'],
  ]
  for (const [aheadMs, text] of told) {
    test(`is said beside it: ${text.slice(2)}`, async () => {
      await using sight = await browser.see(`http://127.0.0.1:${stage.port}/about`)
      await sight.page.clock.setFixedTime(OPENS - aheadMs)
      await sight.page.goto(`http://127.0.0.1:${stage.port}/schedule`)
      assert.equal(await sight.page.locator('td [data-relative]').first().textContent(), text)
    })
  }
})
