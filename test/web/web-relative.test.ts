import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { DAY_MS, formatAt, HOUR_MS, MINUTE_MS, msOf } from '../../src/protocol/moment.ts'
import { LAUNCH } from '../story/api-story.ts'
import type { PageStage } from '../stage/page-stage.ts'
import { openPageStage } from '../stage/page-stage.ts'

let pages: PageStage
before(async () => {
  pages = await openPageStage()
})
after(() => pages[Symbol.asyncDispose]())

/** The first plan on the stage: the opening of a contest. */
const OPENS = LAUNCH + 5 * DAY_MS

/** A moment of each form on a page, and the words for it at this time before the opening. */
const told: readonly (readonly [aheadMs: number, until: string, near: string])[] = [
  [DAY_MS + 9 * HOUR_MS, 'in 1 d 9 h', 'Tue 6 Oct 00:00'],
  [3 * DAY_MS, 'in 3 days', 'Tue 6 Oct 00:00'],
  [2 * HOUR_MS + 5 * MINUTE_MS, 'in 2 h 5 min', 'tomorrow 00:00'],
  [-10 * MINUTE_MS, '10 min ago', 'today 00:00'],
  [-8 * DAY_MS, '8 days ago', '6 Oct'],
]

suite('the words for a moment follow the reader’s present', () => {
  for (const [aheadMs, until, near] of told) {
    test(`${near}, ${until}`, async () => {
      await using sight = await pages.see('/about')
      await sight.page.clock.setFixedTime(OPENS - aheadMs)
      await sight.page.goto(pages.urlOf('/schedule'))
      const wordsOf = (form: string): Promise<string | null> =>
        sight.page
          .locator(`time[data-form=${form}][datetime^="${formatAt(msOf(OPENS))}"]`)
          .first()
          .textContent()
      assert.equal(await wordsOf('until'), until)
      assert.equal(await wordsOf('near'), near)
    })
  }
})
