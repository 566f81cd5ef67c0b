import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { DAY_MS, formatAt, HOUR_MS, MINUTE_MS, msOf } from '../../src/protocol/moment.ts'
import { LAUNCH } from '../story/api-story.ts'
import type { BrowserPage } from '../stage/browser.ts'
import { openPageStage, type PageStage } from '../stage/page-stage.ts'

let pages: PageStage
before(async () => {
  pages = await openPageStage()
})
after(() => pages[Symbol.asyncDispose]())

/** The first plan on the stage: the opening of a contest. */
const OPENS = LAUNCH + 5 * DAY_MS

/** Words on the schedule for the opening, for readers in these zones, at this time before it. */
const told: readonly (readonly [zone: string, aheadMs: number, until: string, near: string])[] = [
  ['UTC', DAY_MS + 9 * HOUR_MS, 'in 1 d 9 h', 'Tue 6 Oct 00:00 UTC'],
  ['Asia/Tokyo', 15 * HOUR_MS, 'in 15 h', 'tomorrow 09:00, 00:00 UTC'],
  ['America/New_York', 3 * DAY_MS, 'in 3 days', 'Mon 5 Oct 20:00, 6 Oct 00:00 UTC'],
  ['Asia/Kolkata', 2 * HOUR_MS + 5 * MINUTE_MS, 'in 2 h 5 min', 'today 05:30, 00:00 UTC'],
  ['Asia/Tokyo', -10 * MINUTE_MS, '10 min ago', '6 Oct 00:00 UTC'],
  ['Asia/Tokyo', -8 * DAY_MS, '8 days ago', '6 Oct'],
]

const AT = formatAt(msOf(OPENS))

/** Text of the opening on the page, in one form. */
const wordsOf = (page: BrowserPage['page'], form: string): Promise<string> =>
  page.locator(`time[data-form=${form}][datetime="${AT}"]`).first().innerText()

suite('a moment that is to come', () => {
  for (const [zone, aheadMs, until, near] of told) {
    test(`is “${near}”, ${until}, for a reader in ${zone}`, async () => {
      await using sight = await pages.see('/about', { timezoneId: zone })
      await sight.page.clock.setFixedTime(OPENS - aheadMs)
      await sight.page.goto(pages.urlOf('/schedule'))
      assert.equal(await wordsOf(sight.page, 'until'), until)
      assert.equal(await wordsOf(sight.page, 'near'), near)
    })
  }

  test('becomes one of the past, in UTC, on a page that stays open', async () => {
    await using sight = await pages.see('/about', { timezoneId: 'Asia/Tokyo' })
    const { page } = sight
    await page.clock.install({ time: OPENS - MINUTE_MS })
    await page.goto(pages.urlOf('/schedule'))
    assert.equal(await wordsOf(page, 'near'), 'today 09:00, 00:00 UTC')
    await page.clock.runFor(4 * MINUTE_MS)
    assert.equal(await wordsOf(page, 'near'), '6 Oct 00:00 UTC')
    assert.match(await wordsOf(page, 'until'), /^[23] min ago$/)
  })

  test('is in UTC alone without scripts', async () => {
    await using sight = await pages.see('/schedule', { timezoneId: 'Asia/Tokyo', javaScriptEnabled: false })
    assert.equal(await wordsOf(sight.page, 'near'), '6 Oct 00:00 UTC')
  })
})

suite('a moment that has passed, a day and a past view', () => {
  test('are in UTC for a reader in another zone', async () => {
    await using sight = await pages.see('/summary?at=2026-10-01T00:05Z', { timezoneId: 'Pacific/Chatham' })
    assert.equal(await sight.page.locator('.as-of time').innerText(), '1 Oct 2026 00:05:00 UTC')
    await sight.page.goto(pages.urlOf('/schedule'))
    const day = sight.page.locator('.day').first()
    assert.equal((await day.innerText()).replaceAll(/\s+/g, ' '), 'Tue 6 Oct UTC')
  })
})
