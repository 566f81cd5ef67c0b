import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  countsUpTo,
  explains,
  list,
  type LiveStage,
  openLiveStage,
  says,
  seqsOf,
  shows,
} from '../stage/live-stage.ts'
import { openPageStage } from '../stage/page-stage.ts'

const ROWS_MAX = 100
const TABS = 4
/** Ten seconds between two announcements, with a tolerance for the delivery of each. */
const SAY_MS_MIN = 9_900
const KEPT_UP = [
  '/',
  '/contests',
  '/payouts',
  '/contests/1/ledger',
  '/flows',
  '/funds',
  '/schedule',
  '/patterns',
]

let stage: LiveStage
let browser: LiveStage['browser']
let relay: LiveStage['relay']
let service: LiveStage['service']
before(async () => {
  stage = await openLiveStage()
  ;({ browser, relay, service } = stage)
})
after(() => stage[Symbol.asyncDispose]())

const publish = (count: number): Promise<void> => stage.publish(count)
const change = (): Promise<void> => stage.change()
const newest = (count: number, last = stage.published()): readonly number[] =>
  Array.from({ length: count }, (_, index) => last - index)

suite('an open page', () => {
  test('shows a new event without a reload, and after a restart too', async () => {
    await using sight = await browser.see(`${relay.url}/stream`)
    const { page } = sight
    await page.evaluate(() => Object.assign(globalThis, { same: true }))
    await says(page, /^Live$/)
    await publish(1)
    await shows(page, stage.published())
    await service.restart()
    await publish(3)
    await shows(page, stage.published())
    await says(page, /^Live$/)
    assert.deepEqual(await seqsOf(page), newest(ROWS_MAX))
    assert.equal(await page.evaluate('same'), true)
  })

  test('has the figures of the service, as of the event that it names', async () => {
    await using sight = await browser.see(`${relay.url}/summary`)
    const { page } = sight
    await says(page, /^Live$/)
    await publish(2)
    await countsUpTo(page, stage.published())
    const said = await page.locator('.as-of a.seq').getAttribute('href')
    assert.equal(said, `/events/${stage.published()}`)
    assert.deepEqual(sight.wrong, [])
  })

  test('shares one stream with the other tabs, whichever is closed', async () => {
    await using sight = await browser.see(`${relay.url}/stream`)
    const context = sight.page.context()
    await says(sight.page, /^Live$/)
    let streams = 1
    context.on('request', (request) => (streams += request.url().endsWith('/live') ? 1 : 0))
    const others: Page[] = []
    for (let number = 1; number < TABS; number++) {
      const other = await context.newPage()
      await other.goto(`${relay.url}/stream`)
      others.push(other)
    }
    await publish(1)
    for (const other of others) await shows(other, stage.published())
    assert.equal(streams, 1)
    await sight.page.close()
    await publish(1)
    for (const other of others) await shows(other, stage.published())
    assert.equal(streams, 2)
  })

  test('shows an event that is published while the page is requested', async () => {
    await using sight = await browser.see(`${relay.url}/about-nothing`)
    const { page } = sight
    const seq = stage.published() + 1
    await page.route('**/stream', async (route) => {
      if (route.request().resourceType() !== 'fetch' || stage.published() === seq) return route.continue()
      const response = await route.fetch()
      await publish(1)
      await explains(page, `The newest event is ${seq}.`)
      return route.fulfill({ response })
    })
    await page.goto(`${relay.url}/stream`)
    await shows(page, seq)
  })

  test('keeps the scroll position and the focus while 500 events arrive', async () => {
    await using sight = await browser.see(`${relay.url}/stream`)
    const { page } = sight
    await says(page, /^Live$/)
    await page.locator('input[name=news]').check()
    await page.evaluate(() => {
      Object.assign(globalThis, { said: [] })
      const line = document.querySelector('#say')
      new MutationObserver(() => said.push(performance.now())).observe(line, { childList: true })
    })
    await page.evaluate(() => scrollTo(0, 1_200))
    const link = page.locator(`${list} a.seq`).nth(40)
    await link.focus()
    const place = await page.evaluate(placeOfFocus)
    for (let batch = 0; batch < 20; batch++) await publish(25)
    await page.locator('button.more').waitFor()
    await says(page, /^Live$/)
    assert.deepEqual(await page.evaluate(placeOfFocus), place)

    await page.locator('button.more').click()
    await shows(page, stage.published())
    const seqs = await seqsOf(page)
    assert.deepEqual(seqs, newest(ROWS_MAX))
    await publish(10)
    await shows(page, stage.published())
    const times = await page.evaluate<readonly number[]>('said')
    assert.ok(
      times.length >= 1 &&
        times.every((at, index) => index === 0 || at - (times[index - 1] ?? 0) >= SAY_MS_MIN),
    )
  })

  test('does not change while it is paused, by the button and by its key', async () => {
    await using sight = await browser.see(`${relay.url}/stream`)
    const { page } = sight
    await says(page, /^Live$/)
    await page.getByRole('button', { name: 'Pause' }).click()
    await says(page, /^Paused$/)
    const seqs = await seqsOf(page)
    await publish(5)
    // Once a second page shows the events, the first had the time to.
    await using other = await browser.see(`${relay.url}/stream`)
    await shows(other.page, stage.published())
    assert.deepEqual(await seqsOf(page), seqs)
    await page.locator('h1').click()
    await page.keyboard.press('p')
    await shows(page, stage.published())
    await says(page, /^Live$/)
  })

  test('closes its stream in the back/forward cache, and resumes when it is shown again', async () => {
    await using sight = await browser.see(`${relay.url}/stream`)
    const { page } = sight
    await says(page, /^Live$/)
    const ended = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/live'))
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true })))
    await ended
    await publish(2)
    const opened = page.waitForRequest((request) => request.url().endsWith('/live'))
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
    await opened
    await shows(page, stage.published())
  })

  for (const status of [429, 503]) {
    test(`says that it waits when the stream is refused with ${status}, and recovers`, async () => {
      await using sight = await browser.see(`${relay.url}/about-nothing`)
      const { page } = sight
      await page.route('**/live', (route) =>
        route.fulfill({ status, headers: { 'retry-after': '2' }, body: '{}' }),
      )
      await page.goto(`${relay.url}/summary`)
      await says(page, /^Waiting$/)
      const words = status === 429 ? /This page updates again at/ : /The next try is at/
      await explains(page, new RegExp(`${words.source} \\d\\d:\\d\\d:\\d\\d UTC\\.`))
      await page.unrouteAll()
      await says(page, /^Live$/)
    })
  }

  test('says that the log is empty, and no longer that it is offline', async () => {
    await using empty = await openPageStage({ story: [], streams: true })
    await using sight = await empty.see('/')
    const { page } = sight
    await says(page, /^Live$/)
    await explains(page, /^The log has no event yet\.$/)
  })

  test('says that it is offline, and catches up', async () => {
    await using sight = await browser.see(`${relay.url}/stream`)
    const { page } = sight
    await says(page, /^Live$/)
    await page.context().setOffline(true)
    relay.cut()
    await explains(page, /The next try is at|this page updates every minute/)
    await says(page, /^Offline$/)
    await publish(4)
    await page.context().setOffline(false)
    await shows(page, stage.published())
    await says(page, /^Live$/)
  })

  test('says that it is not live if the stream is refused permanently', async () => {
    await using sight = await browser.see(`${relay.url}/about-nothing`)
    const { page } = sight
    await page.route('**/live', (route) => route.fulfill({ status: 404, body: '{}' }))
    await page.goto(`${relay.url}/summary`)
    await explains(page, /^Reload the page for newer events\./)
    await says(page, /^Not live$/)
  })

  for (const path of KEPT_UP) {
    test(`${path} is the same after live updates as after a reload`, async () => {
      await using sight = await browser.see(`${relay.url}${path}`, { timezoneId: 'Asia/Kolkata' })
      const { page } = sight
      await says(page, /^Live$/)
      await change()
      await countsUpTo(page, stage.published())
      const more = page.locator('button.more')
      if (await more.isVisible()) await more.click()
      const kept = await page.locator('main').innerText()
      await page.reload()
      await says(page, /^Live$/)
      assert.equal(kept, await page.locator('main').innerText())
    })
  }

  test('of a past moment is not live', async () => {
    await using sight = await browser.see(`${relay.url}/summary?at=2026-05-19`)
    let streams = 0
    sight.page.on('request', () => (streams += 1))
    await says(sight.page, /^Past view$/)
    await sight.page.waitForLoadState('networkidle')
    assert.equal(streams, 0)
  })

  test('about a future event becomes the page of the event', async () => {
    await using sight = await browser.see(`${relay.url}/events/${stage.published() + 1}`)
    await publish(1)
    await sight.page.locator('.receipt b', { hasText: `No. ${stage.published()}` }).waitFor()
  })
})

/** Position of the focused element in the window, and the scroll position. */
function placeOfFocus(): readonly unknown[] {
  const { activeElement } = document
  return [activeElement.textContent, activeElement.getBoundingClientRect().top, scrollY]
}

/** The page's global object, for scripts that run in the page. */
declare const document: Readonly<{
  activeElement: { textContent: string; getBoundingClientRect(): { top: number } }
  querySelector(selector: string): unknown
}>
declare const scrollY: number
declare function dispatchEvent(event: unknown): void
declare const PageTransitionEvent: new (type: string, how: unknown) => object
declare const said: number[]
declare function scrollTo(x: number, y: number): void
declare class MutationObserver {
  constructor(heard: () => void)
  observe(what: unknown, how: unknown): void
}
