import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { DAY_MS, HOUR_MS, msOf } from '../../src/protocol/moment.ts'
import { LAUNCH } from '../story/api-story.ts'
import { openPageStage, type PageStage } from '../stage/page-stage.ts'

let pages: PageStage
before(async () => {
  pages = await openPageStage()
  // A trade each minute for three hours, so that there are hours to go back to.
  pages.api.trade(180)
  pages.api.setNow(msOf(LAUNCH + 2 * DAY_MS))
})
after(() => pages[Symbol.asyncDispose]())

const moment = (hours: number): string => String(LAUNCH + hours * HOUR_MS)

suite('the slider of the summary', () => {
  test('moves by keys, shows its moment, requests nothing until Enter, and then opens that moment', async () => {
    await using sight = await pages.see('/summary')
    const slider = sight.page.locator('form[data-slider] input')
    await slider.focus()
    assert.equal(await slider.inputValue(), moment(3))
    assert.equal(await slider.getAttribute('aria-valuetext'), 'now')
    const asked: string[] = []
    sight.page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await sight.page.keyboard.press('ArrowLeft')
    await sight.page.keyboard.press('ArrowLeft')
    assert.equal(await slider.getAttribute('aria-valuetext'), '1 October 2026, 01:00 UTC')
    assert.equal(
      await sight.page.locator('form[data-slider] output').innerText(),
      '1 October 2026, 01:00 UTC',
    )
    assert.deepEqual(
      asked.filter((path) => path === '/summary'),
      [],
    )
    await sight.page.keyboard.press('Enter')
    await sight.page.waitForURL('**/summary?at=2026-10-01T01:00Z')
    assert.match(await sight.page.locator('main').innerText(), /its figures do not change\./)
  })

  test('opens the moment at which it is released', async () => {
    await using sight = await pages.see('/summary')
    const slider = sight.page.locator('form[data-slider] input')
    await slider.scrollIntoViewIfNeeded()
    const box = await slider.boundingBox()
    assert.ok(box !== null)
    await sight.page.mouse.move(box.x + box.width - 8, box.y + box.height / 2)
    await sight.page.mouse.down()
    await sight.page.mouse.move(box.x + 2, box.y + box.height / 2, { steps: 5 })
    await sight.page.mouse.up()
    await sight.page.waitForURL('**/summary?at=2026-10-01T01:00Z')
  })

  test('reaches the present from a past view', async () => {
    await using sight = await pages.see(`/summary?at=${moment(1)}`)
    const slider = sight.page.locator('form[data-slider] input')
    assert.equal(await slider.inputValue(), moment(1))
    assert.ok(Number(await slider.getAttribute('max')) > Number(moment(3)))
  })

  test('is hidden without a script, unlike the field of date and time', async () => {
    await using sight = await pages.see('/summary', { javaScriptEnabled: false })
    assert.equal(await sight.page.locator('form[data-slider]').isVisible(), false)
    await sight.page.locator('input[type=datetime-local]').fill('2026-10-01T01:30')
    await sight.page.locator('.travel form:not([hidden]) button').click()
    assert.match(sight.page.url(), /\/summary\?at=2026-10-01T01(?::|%3A)30Z$/)
    assert.match(await sight.page.locator('h1').innerText(), /^Every figure at 1 October 2026, 01:30 UTC$/)
  })
})
