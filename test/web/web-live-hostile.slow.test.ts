import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  countsUpTo,
  explains,
  list,
  type LiveStage,
  openLiveStage,
  says,
  shows,
} from '../stage/live-stage.ts'

let stage: LiveStage
let base: string
before(async () => {
  stage = await openLiveStage()
  base = stage.relay.url
})
after(() => stage[Symbol.asyncDispose]())

const STREAM = '**/live'
/** A page of the service that is not live, to prepare from. */
const NOWHERE = '/nothing'

const focusedText = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement.textContent.trim())

suite('an open page', () => {
  for (const [told, header, waits] of [
    ['nothing', undefined, [1, 2, 4, 8, 16, 30, 30]],
    ['a date', 'Wed, 21 Oct 2037 07:28:00 GMT', [1, 2, 4, 8, 16, 30, 30]],
    ['ten seconds', '10', [11, 11, 11, 11, 16, 30, 30]],
    ['a month', '2592000', [3_601, 3_601]],
  ] as const) {
    test(`requests the stream ever more rarely when a refusal has ${told} as its retry time`, async () => {
      await using sight = await stage.browser.see(`${base}${NOWHERE}`)
      const { page } = sight
      let asked = 0
      await page.route(STREAM, (route) => {
        asked += 1
        const headers = header === undefined ? {} : { 'retry-after': header }
        return route.fulfill({ status: 503, headers, body: '' })
      })
      await page.clock.install()
      await page.clock.pauseAt(Date.now() + 1_000)
      // The maximum random wait, so that the shown wait is the actual one.
      await page.addInitScript(() => Object.assign(Math, { random: () => 1 }))
      await page.goto(`${base}/summary`)
      for (const [index, seconds] of waits.entries()) {
        const due = await page.evaluate(
          (ms) => new Date(Date.now() + ms).toISOString().slice(11, 19),
          seconds * 1_000,
        )
        await explains(page, `at ${due} UTC.`)
        assert.equal(asked, index + 1)
        const again = page.waitForRequest(STREAM)
        await page.clock.runFor(seconds * 1_000 - 1)
        assert.equal(asked, index + 1)
        await page.clock.runFor(1)
        await again
      }
    })
  }

  test('does not request itself more often when a refusal has a date', async () => {
    await using sight = await stage.browser.see(`${base}/stream`)
    const { page } = sight
    await says(page, /^Live$/)
    let asked = 0
    await page.route('**/stream', (route) => {
      asked += 1
      const headers = { 'retry-after': 'Wed, 21 Oct 2037 07:28:00 GMT' }
      return route.fulfill({ status: 503, headers, body: '' })
    })
    await stage.publish(1)
    await sleep(4_000)
    assert.ok(asked <= 2, `${asked} requests`)
  })

  test('says that another log is served, and shows nothing of it', async () => {
    await using sight = await stage.browser.see(`${base}${NOWHERE}`)
    const { page } = sight
    const data = JSON.stringify({ seq: 5, head: 5, live: true })
    await page.route(STREAM, (route) =>
      route.fulfill({
        headers: { 'content-type': 'text/event-stream', 'daybook-log': 'f'.repeat(32) },
        body: `event: position\nid: 5\ndata: ${data}\n\n`,
      }),
    )
    await page.goto(`${base}/stream`)
    await page.locator('.notice', { hasText: /^Another log is here: reload the page\.$/ }).waitFor()
  })

  test('is not live if the answer is not a stream', async () => {
    await using sight = await stage.browser.see(`${base}${NOWHERE}`)
    const { page } = sight
    await page.route(STREAM, (route) => route.fulfill({ contentType: 'text/html', body: '<p>Sign in</p>' }))
    await page.goto(`${base}/stream`)
    await says(page, /^Waiting$/)
  })

  test('does not return to an earlier answer', async () => {
    await using sight = await stage.browser.see(`${base}/summary`)
    const { page } = sight
    await says(page, /^Live$/)
    const earlier = await (await fetch(`${base}/summary`)).text()
    await stage.publish(1)
    await countsUpTo(page, stage.published())
    const last = stage.published()
    await page.route('**/summary', (route) => route.fulfill({ contentType: 'text/html', body: earlier }))
    const asked = page.waitForRequest('**/summary', { timeout: 60_000 })
    await stage.publish(1)
    await asked
    await sleep(500)
    await countsUpTo(page, last)
  })

  test('requests the page again when an answer is lost', async () => {
    await using sight = await stage.browser.see(`${base}${NOWHERE}`)
    const { page } = sight
    await page.clock.install()
    await page.goto(`${base}/summary`)
    await says(page, /^Live$/)
    let asked = 0
    await page.route('**/summary', (route) => {
      asked += 1
      return asked === 1 ? undefined : route.continue()
    })
    await stage.publish(1)
    const last = stage.published()
    await page.waitForRequest('**/summary', { timeout: 60_000 })
    await page.clock.fastForward(31_000)
    await countsUpTo(page, last)
    assert.ok(asked > 1)
  })

  test('takes no earlier list for the newest one', async () => {
    await using sight = await stage.browser.see(`${base}/stream`)
    const { page } = sight
    await says(page, /^Live$/)
    const earlier = await (await fetch(`${base}/stream`)).text()
    let asked = 0
    await page.route('**/stream', (route) => {
      asked += 1
      return asked === 1 ? route.fulfill({ contentType: 'text/html', body: earlier }) : route.continue()
    })
    await stage.publish(1)
    await shows(page, stage.published())
    assert.ok(asked > 1)
  })

  test('calls no service busy that it cannot reach', async () => {
    await using sight = await stage.browser.see(`${base}${NOWHERE}`)
    const { page } = sight
    await page.goto(`${base}/summary`)
    await says(page, /^Live$/)
    let asked = 0
    await page.route('**/summary', (route) => {
      asked += 1
      return asked === 1
        ? route.fulfill({ status: 503, headers: { 'retry-after': '1' }, body: '' })
        : route.abort()
    })
    await stage.publish(1)
    await says(page, /^Waiting$/)
    await says(page, /^(Live|Behind)$/)
    assert.equal(await page.locator('.notice').count(), 0)
  })

  test('of a future event counts on with the log', async () => {
    const ahead = stage.published() + 1_000
    await using sight = await stage.browser.see(`${base}/events/${ahead}`)
    const { page } = sight
    await says(page, /^Live$/)
    await stage.publish(1)
    const newest = stage.published().toLocaleString('en')
    await page.locator('#ahead', { hasText: `event is ${newest}.` }).waitFor({ timeout: 60_000 })
  })

  test('has its own stream if the browser has no locks', async () => {
    await using sight = await stage.browser.see(`${base}${NOWHERE}`)
    const { page } = sight
    await page.addInitScript(() => {
      Object.assign(globalThis, { asked: 0 })
      const denied = (): Promise<never> => {
        Object.assign(globalThis, { asked: Number(Reflect.get(globalThis, 'asked')) + 1 })
        return Promise.reject(new DOMException('no', 'SecurityError'))
      }
      Object.defineProperty(navigator.locks, 'request', { value: denied })
    })
    await page.goto(`${base}/stream`)
    await says(page, /^Live$/)
    await stage.publish(1)
    await shows(page, stage.published())
    assert.equal(await page.evaluate('asked'), 1)
  })

  test('keeps its other scripts if a browser cannot follow the stream', async () => {
    await using sight = await stage.browser.see(`${base}${NOWHERE}`)
    const { page } = sight
    await page.addInitScript(() => {
      Reflect.set(globalThis, 'BroadcastChannel', function broken(): never {
        throw new DOMException('no', 'SecurityError')
      })
    })
    // A chart of one bucket has no slider, and the log of this stage is new.
    await page.goto(`${base}/flows?from=2026-05-17`)
    await page.locator('.slider input[type=range]').waitFor()
  })

  test('requests itself when it is visible again, without a message from the stream', async () => {
    await using sight = await stage.browser.see(`${base}${NOWHERE}`)
    const { page } = sight
    await page.route(STREAM, (route) => route.abort())
    await page.goto(`${base}/stream`)
    await says(page, /^Offline$/)
    await stage.publish(1)
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await shows(page, stage.published())
  })

  test('keeps the focus and the selection', async () => {
    await using sight = await stage.browser.see(`${base}/flows`)
    const { page } = sight
    await says(page, /^Live$/)
    await page.locator('details', { hasText: 'Copy curl' }).last().locator('summary').first().click()
    await page.locator('button', { hasText: 'Copy curl' }).first().focus()
    await page.evaluate(() => {
      getSelection().selectAllChildren(document.querySelector('main time'))
    })
    const selected = await page.evaluate(() => getSelection().toString())
    assert.notEqual(selected, '')
    await stage.publish(1)
    await countsUpTo(page, stage.published())
    assert.equal(await focusedText(page), 'Copy curl')
    assert.equal(await page.evaluate(() => getSelection().toString()), selected)
  })

  test('of an empty list shows its first row', async () => {
    await using sight = await stage.browser.see(`${base}/stream?type=burn`)
    const { page } = sight
    await says(page, /^Live$/)
    assert.equal(await page.locator(list).count(), 0)
    await stage.append({ type: 'burn', kind: 'platform_income', kots: '1' })
    await shows(page, stage.published())
  })

  test('of a filtered list counts the events that it does not show', async () => {
    await using sight = await stage.browser.see(`${base}${NOWHERE}`)
    const { page } = sight
    await stage.append({ type: 'burn', kind: 'platform_income', kots: '1' })
    await page.goto(`${base}/stream?type=burn`)
    await says(page, /^Live$/)
    await stage.publish(1)
    await countsUpTo(page, stage.published())
  })
})

/** The page's global object, for scripts that run in the page. */
declare const document: Readonly<{
  activeElement: { textContent: string }
  dispatchEvent(event: Event): void
  querySelector(selector: string): unknown
}>
declare function getSelection(): { selectAllChildren(of: unknown): void; toString(): string }
